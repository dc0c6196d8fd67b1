import type { AlertRule } from '../../model/settings/alert.ts'
import { confirmedBeginning } from './confirm.ts'
import type { OpenAlert, RuleVerdict, SiteList, WatchedSerp } from './facts.ts'
import { queryName } from './ranks.ts'

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
export interface SiteVerdict extends RuleVerdict {
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
    const beginning = confirmedBeginning(lists, says, rule.confirm)
    if (beginning === null) continue
    const earlier = lists.slice(0, lists.indexOf(beginning.before))
    if (earlier.some((list) => isIn(list, site) === true)) continue
    const text = `${site} is new in the top ${top} for ${queryName(query)}: rank ${rank}`
    verdicts.push({ site, state: 'open', before: null, now: rank, text })
  }
  return verdicts
}
