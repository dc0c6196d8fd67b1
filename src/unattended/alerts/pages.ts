import type { AlertRule } from '../../model/settings/alert.ts'
import { pageAddress } from '../../model/url.ts'
import { confirmedBeginning } from './confirm.ts'
import type { AnsweredObservation, OpenAlert, RuleVerdict, WatchedPair } from './facts.ts'
import { queryName } from './ranks.ts'

/*
 * Which page of a target ranks. A and B are pages, - is an absence, which changes nothing.
 *
 *   before  now         url-changed
 *   A       A           -
 *   A       B           begins
 *   A       -           ?
 *   (A) B   B           goes on: B is the page that it began with
 *   (A) B   A           over
 *   A B     A           -: it ranked lately
 *   (A) B   C           over, and begins anew from B to C
 */

/** Two pages that take turns are told once: a page that ranked in one of so many observations before is no other page. */
const lateLooks = 3

/** Texts of addresses by their numbers. */
export type LinkText = (id: number) => string

/** What `url-changed` says of a target of a query; null where nothing begins and nothing is over. */
export function judgePage(
  rule: AlertRule,
  { looks, query, target }: WatchedPair,
  open: OpenAlert | null,
  linkText: LinkText,
): RuleVerdict | null {
  const page = ({ rank, link }: AnsweredObservation): number | null =>
    rank === null || rank > (rule.top ?? rank) ? null : link
  const ranking = looks.filter((look) => page(look) !== null)
  const now = looks.at(-1)
  if (now === undefined || ranking.at(-1) !== now) return null
  const address = linkText(now.link as number)
  const ranksNow = (page: OpenAlert['now']): boolean =>
    typeof page === 'string' && pageAddress(page) === pageAddress(address)
  if (open !== null) {
    if (ranksNow(open.now)) return null
    const back = ranksNow(open.before) ? 'again' : 'now'
    const text = `${target.label} ranks for ${queryName(query)} with ${address} ${back}, not with ${open.now}`
    return { state: 'over', before: open.before, now: address, text, link: now.link, rank: now.rank }
  }
  // Links that an older version stored have different numbers for one page.
  const isSame = ({ link }: AnsweredObservation): boolean =>
    link === now.link || ranksNow(linkText(link as number))
  const says = (earlier: AnsweredObservation, look: AnsweredObservation): boolean =>
    !isSame(earlier) && isSame(look)
  const beginning = confirmedBeginning(ranking, says, rule.confirm)
  if (beginning === null) return null
  const lately = ranking.slice(0, ranking.indexOf(beginning.before)).slice(-lateLooks)
  if (lately.some(isSame)) return null
  const before = linkText(beginning.before.link as number)
  const text = `${target.label} ranks for ${queryName(query)} with another page: ${address}, before ${before}`
  return { state: 'open', before, now: address, text, link: now.link, rank: now.rank }
}
