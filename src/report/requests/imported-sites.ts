import { nearestImportedPage } from '../../arrive/clusters/clusters.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { isInMarket } from '../../model/query.ts'
import { groupedBy, textInLowerCase } from '../../model/text.ts'
import { parseLink } from '../../model/url.ts'
import { matcherOf } from '../../rank/match.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { RankHistory } from '../history/rank-history.ts'

/** Results that count, and sites that are named. */
const [firstResults, mostSites] = [10, 3]

/** Sites of others that stand most often among the first results that were imported of the keywords, by the newest page of each. */
export function importedSites(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks'>,
  { job, keywords, targets }: Pick<RankHistory, 'job' | 'keywords' | 'targets'>,
) {
  const searches = groupedBy(store.importedSearches(job), ({ text }) => textInLowerCase(text))
  const own = targets.filter((target) => target.own).map(matcherOf)
  const counts = new Map<string, number>()
  let asked = 0
  for (const { query, params, kind } of keywords) {
    const fitting = (searches.get(textInLowerCase(query)) ?? []).filter((one) => isInMarket(one, params))
    const page = kind === 'organic' ? nearestImportedPage(store, fitting) : null
    if (page === null) continue
    asked += 1
    const others = store
      .importedLinks(page)
      .slice(0, firstResults)
      .filter((link) => !own.some((isOwn) => isOwn(link)))
      .flatMap((link) => parseLink(link)?.host || [])
    for (const site of new Set(others.map((host) => siteOf(host) ?? host)))
      counts.set(site, (counts.get(site) ?? 0) + 1)
  }
  const sites = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, mostSites)
  return { asked, sites: sites.map(([site, keywords]) => ({ site, keywords })) }
}
