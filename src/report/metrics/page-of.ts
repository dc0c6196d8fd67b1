import { parseLink } from '../../model/url.ts'

/**
 * For each link the place of the first one that names the same page: parsed as browsers do and without the fragment they
 * are equal. So pages are compared by number, and each link is parsed once.
 */
export function pagesOf(links: readonly string[]): readonly number[] {
  const found = known.get(links)
  if (found !== undefined) return found
  const first = new Map<string, number>()
  const pages = links.map((link, index) => {
    const page = samePage(link)
    const same = first.get(page)
    if (same === undefined) first.set(page, index)
    return same ?? index
  })
  known.set(links, pages)
  return pages
}

/** A report asks again and again of the same list, which does not change. */
const known = new WeakMap<readonly string[], readonly number[]>()

/** What two links of the same page have in common. */
export function samePage(link: string): string {
  return parseLink(link)?.canonical ?? link
}
