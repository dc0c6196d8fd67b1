import { readFile } from 'node:fs/promises'
import type { PageAssets } from '../report/page/html.ts'

/**
 * Script and style of the report as a page, which the build puts beside the program.
 *
 * @param folder the one of the program, unless another is named
 */
export async function pageAssets(folder = new URL('.', import.meta.url)): Promise<PageAssets> {
  const [script, style] = await Promise.all(
    ['report-page.js', 'report-page.css'].map((name) => readFile(new URL(name, folder), 'utf8')),
  )
  return { script: script ?? '', style: style ?? '' }
}
