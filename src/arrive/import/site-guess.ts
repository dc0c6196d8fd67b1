import { UsageError } from '../../model/errors.ts'
import { parseLink } from '../../model/url.ts'
import type { ImportOptions } from './format.ts'
import type { ForeignFile } from './source.ts'
import { siteOf } from './values.ts'

/**
 * The site of a file that does not name it: the one that was typed, else the one in the name of the file, else the host of the page that
 * ranks, else that of the row before.
 */
export function siteGuess({ path }: ForeignFile, { target }: ImportOptions, ofName: string | null = null) {
  const named = target ?? ofName
  let last = named === null ? null : siteOf(named)
  return (link: string | null): string => {
    if (named === null && link !== null) last = hostIn(link) ?? last
    if (last !== null) return last
    throw new UsageError(`${path} does not say whose ranks it has. Name the site with --target acme.com`)
  }
}

function hostIn(link: string): string | null {
  const parsed = parseLink(/^https?:/i.test(link) ? link : `https://${link}`)
  return parsed === null ? null : siteOf(parsed.host)
}
