import type { PageData } from '../../page-data.ts'

/** What the page shows; here it lies in the page itself. */
export async function pageData(): Promise<PageData> {
  return JSON.parse(document.getElementById('page-data')?.textContent ?? '') as PageData
}
