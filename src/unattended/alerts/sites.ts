import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import { pageAddress } from '../../model/url.ts'
import {
  type AnsweredObservation,
  confirmedStart,
  type OpenAlert,
  type RuleVerdict,
  type SiteList,
  type WatchedPair,
  type WatchedSerp,
} from './facts.ts'
import { queryName, withoutShallow } from './ranks.ts'

/*
 * Sites among the first N results of a query, own ones left out. S is in the list, - it is not, ? the list has a gap in its first
 * N results and S is not in it.
 *
 *   before     now  new-competitor
 *   - (all)    S    begins
 *   S          S    -
 *   S -        S    -: it was there lately
 *   ?          S    -: it may have been there
 *   (open)     -    over
 *   (open)     ?    changes nothing
 *   no list    S    -: a new query
 */

/** A verdict on one site. */
interface SiteVerdict extends RuleVerdict {
  readonly site: string
}

/** What `new-competitor` says of the sites of a query. */
export function judgeSites(
  rule: AlertRule,
  { query, lists }: WatchedSerp,
  open: ReadonlyMap<string, OpenAlert>,
): readonly SiteVerdict[] {
  const now = lists.at(-1)
  const top = rule.top ?? 0
  if (now === undefined) return []
  const rankIn = ({ ranks }: SiteList, site: string): number | null => {
    const rank = ranks.get(site)
    return rank === undefined || rank > top ? null : rank
  }
  const isIn = (list: SiteList, site: string): boolean | null =>
    rankIn(list, site) !== null ? true : list.depth >= top ? false : null
  const verdicts: SiteVerdict[] = []
  for (const [site, { before }] of open)
    if (isIn(now, site) === false) {
      const text = `${site} is no longer in the top ${top} for ${queryName(query)}`
      verdicts.push({ site, state: 'over', before, now: null, text })
    }
  for (const [site, rank] of now.ranks) {
    if (open.has(site) || rank > top) continue
    const says = (before: SiteList, after: SiteList): boolean | null => {
      const [was, is] = [isIn(before, site), isIn(after, site)]
      return was === null || is === null ? null : !was && is
    }
    const beginning = confirmedStart(lists, says, rule.confirm)
    if (beginning === null) continue
    const earlier = lists.slice(0, lists.indexOf(beginning.before))
    if (earlier.some((list) => isIn(list, site) === true)) continue
    const text = `${site} is new in the top ${top} for ${queryName(query)}: rank ${rank}`
    verdicts.push({ site, state: 'open', before: null, now: rank, text })
  }
  return verdicts
}

/*
 * An AI answer cites pages: a target is cited, or it is not.
 *
 *   before     now        citation-lost  citation-won
 *   cited      cited      -              -
 *   cited      not cited  x              -
 *   not cited  cited      -              x
 *   not cited  not cited  -              -
 */

export type CitationKind = Extract<AlertKind, 'citation-lost' | 'citation-won'>

const isCited = ({ rank }: AnsweredObservation): boolean => rank !== null

/** What a citation rule says of a target of a query; null where nothing begins and nothing is over. */
export function judgeCitation(
  kind: CitationKind,
  rule: AlertRule,
  { observations, query, target }: WatchedPair,
  open: OpenAlert | null,
): RuleVerdict | null {
  const deep = withoutShallow(observations)
  const now = observations.at(-1)
  if (now === undefined || deep.at(-1) !== now) return null
  const wanted = kind === 'citation-won'
  const is = isCited(now)
  const sentence = (again: '' | ' again'): string =>
    is
      ? `${target.label} is cited${again} in the AI answer to ${queryName(query)}`
      : `${target.label} is no longer cited in the AI answer to ${queryName(query)}`
  if (open !== null)
    return is === wanted
      ? null
      : { state: 'over', before: open.before, now: now.rank, text: sentence(' again') }
  const says = (before: AnsweredObservation, after: AnsweredObservation): boolean =>
    isCited(before) !== wanted && isCited(after) === wanted
  const beginning = confirmedStart(deep, says, rule.confirm)
  return beginning === null
    ? null
    : { state: 'open', before: beginning.before.rank, now: now.rank, text: sentence('') }
}

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

/** Two pages that take turns are told once: a page that ranked in one of these last observations is no other page. */
const lateLooks = 3

/** Texts of addresses by their numbers. */
export type LinkText = (id: number) => string

/** What `url-changed` says of a target of a query; null where nothing begins and nothing is over. */
export function judgePage(
  rule: AlertRule,
  { observations, query, target }: WatchedPair,
  open: OpenAlert | null,
  linkText: LinkText,
): RuleVerdict | null {
  const page = ({ rank, link }: AnsweredObservation): number | null =>
    rank === null || rank > (rule.top ?? rank) ? null : link
  const ranking = observations.filter((observation) => page(observation) !== null)
  const now = observations.at(-1)
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
  const says = (earlier: AnsweredObservation, observation: AnsweredObservation): boolean =>
    !isSame(earlier) && isSame(observation)
  const beginning = confirmedStart(ranking, says, rule.confirm)
  if (beginning === null) return null
  const lately = ranking.slice(0, ranking.indexOf(beginning.before)).slice(-lateLooks)
  if (lately.some(isSame)) return null
  const before = linkText(beginning.before.link as number)
  const text = `${target.label} ranks for ${queryName(query)} with another page: ${address}, before ${before}`
  return { state: 'open', before, now: address, text, link: now.link, rank: now.rank }
}
