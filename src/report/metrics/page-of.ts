import { parseLink } from '../../model/url.ts'

/**
 * For each link the place of the first one that names the same page: parsed as browsers do and without the fragment they
 * are equal. So pages are compared by number, and each link is parsed once.
 */
export function pagesOf(links: readonly string[]): readonly number[] {
  const first = new Map<string, number>()
  return links.map((link, index) => {
    const page = samePage(link)
    const known = first.get(page)
    if (known === undefined) first.set(page, index)
    return known ?? index
  })
}

/** What two links of the same page have in common. */
export function samePage(link: string): string {
  return parseLink(link)?.canonical ?? link
}
