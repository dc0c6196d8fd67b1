import type { Target } from '../../model/job.ts'
import { isInMarket, marketDistance } from '../../model/query.ts'
import { dayMs, latestKnown } from '../../model/time.ts'
import { pageAddress } from '../../model/url.ts'
import { matcherOf } from '../../rank/match.ts'
import type { ImportedPage, ImportedSearch } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { firstResults, type KeywordSerp } from '../../store/sqlite/rankings/keywords.ts'

/** A keyword of the jobs that are looked at, once however many of them ask it. */
export interface MarketKeyword extends KeywordSerp {
  readonly jobs: readonly string[]
  /** Whose result page shows its links where that was imported: the format of its file; else null. */
  readonly source: string | null
}

/** The runs whose keywords are those of these jobs. */
export async function newestRuns(store: Pick<Store, 'latestRun'>, jobs: readonly string[]) {
  const runs = await Promise.all(jobs.map((job) => store.latestRun(job)))
  return runs.flatMap((run) => run ?? [])
}

export interface KeywordRequest {
  readonly now: number
  /** Whether an operation answers with web results. */
  readonly isWeb: (operation: string) => boolean
}

/** The keywords of these runs, with answers that can have come by now. Where none has web results, what was imported shows them. */
export function keywordsOf(
  store: Store,
  runs: readonly { readonly id: number; readonly job: string }[],
  { now, isWeb }: KeywordRequest,
): readonly MarketKeyword[] {
  const latest = latestKnown(now)
  const found = new Map<number, MarketKeyword>()
  for (const { id, job } of runs)
    for (const keyword of store.keywordSerps(id, latest)) {
      const known = found.get(keyword.queryId)
      found.set(
        keyword.queryId,
        known === undefined ? { ...keyword, jobs: [job], source: null } : joined(known, keyword, job),
      )
    }
  return filledFromImports(store, [...found.values()], isWeb)
}

function joined(known: MarketKeyword, other: KeywordSerp, job: string): MarketKeyword {
  return {
    ...known,
    jobs: [...known.jobs, job],
    volume: known.volume ?? other.volume,
    tags: [...new Set([...known.tags, ...other.tags])],
    targets: [...known.targets, ...other.targets],
  }
}

/** The keywords of which whole result pages were imported for these jobs, or for any (null), each with its newest page and what that says of targets. */
export function importedKeywords(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks'>,
  jobs: readonly string[] | null,
  targets: readonly Target[],
): readonly MarketKeyword[] {
  const numbers = pageNumbers(new Map())
  const matchers = targets.map((target) => ({ target, matches: matcherOf(target) }))
  const found = new Map<number, MarketKeyword>()
  for (const job of jobs ?? [null])
    for (const search of store.importedSearches({ job, text: null })) {
      const { ids, text, gl, hl, location, device, engine, volume, tags } = search
      const queryId = ids[0] as number
      const known = found.get(queryId)
      const page = store.newestImportedPage(search)
      const own = job === null ? [] : [job]
      if (known !== undefined) found.set(queryId, { ...known, jobs: [...known.jobs, ...own] })
      if (known !== undefined || page === null) continue
      const links = store.importedLinks(page)
      const params = Object.entries({ gl, hl, location, device, engine }).filter(
        ([, value]) => value !== null,
      )
      found.set(queryId, {
        queryId,
        text,
        volume,
        tags,
        jobs: own,
        runId: 0,
        operation: 'imported',
        params: JSON.stringify(Object.fromEntries(params)),
        ...shownBy(page, links, numbers),
        targets: matchers.map(({ target: { label, own }, matches }) => {
          const place = links.findIndex(matches)
          return {
            label,
            own: own ? 1 : 0,
            ...(place < 0
              ? ({ state: 'absent', rank: null, url: null } as const)
              : ({ state: 'ranked', rank: place + 1, url: links[place] ?? null } as const)),
          }
        }),
      })
    }
  return [...found.values()]
}

/**
 * The same keywords, those without measured web results with the newest result page that was imported for them: of several that of the
 * market which is told most exactly. What is known of their targets stays what was measured.
 *
 * @param isWeb whether an operation answers with web results
 */
function filledFromImports(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks' | 'linksOfPages'>,
  keywords: readonly MarketKeyword[],
  isWeb: (operation: string) => boolean,
): readonly MarketKeyword[] {
  const pages = new Map<number, ImportedPage>()
  for (const { queryId, jobs, text, params, operation, links } of keywords) {
    if (links.length > 0 || !isWeb(operation)) continue
    const asked = JSON.parse(params)
    const fitting = jobs
      .flatMap((job) => store.importedSearches({ job, text }))
      .filter((one) => isInMarket(one, asked))
    const page = nearestImportedPage(store, fitting)
    if (page !== null) pages.set(queryId, page)
  }
  if (pages.size === 0) return keywords
  const linksOf = new Map([...pages].map(([queryId, page]) => [queryId, store.importedLinks(page)]))
  const wanted = new Set([...linksOf.values()].flatMap((links) => links.map(pageAddress)))
  const measured = new Map<string, number>()
  for (const [number, link] of store.linksOfPages(new Set(keywords.flatMap(({ links }) => links)))) {
    const address = pageAddress(link)
    if (wanted.has(address)) measured.set(address, number)
  }
  const numbers = pageNumbers(measured)
  return keywords.map((keyword) => {
    const page = pages.get(keyword.queryId)
    return page === undefined
      ? keyword
      : { ...keyword, ...shownBy(page, linksOf.get(keyword.queryId) ?? [], numbers) }
  })
}

/** The newest page of what is nearest: not on mobile first, and where its country is said. */
export function nearestImportedPage(
  store: Pick<Store, 'newestImportedPage'>,
  searches: readonly ImportedSearch[],
): ImportedPage | null {
  const [nearest] = searches
    .flatMap((search) => {
      const page = store.newestImportedPage(search)
      return page === null ? [] : [{ page, distance: marketDistance(search) }]
    })
    .toSorted((a, b) => a.distance - b.distance || b.page.day - a.page.day)
  return nearest?.page ?? null
}

/** What a keyword shows by an imported page. */
function shownBy(
  { day, source }: ImportedPage,
  links: readonly string[],
  numberOf: (link: string) => number,
) {
  const shown = new Set<number>()
  for (const link of links) if (shown.size < firstResults) shown.add(numberOf(link))
  return { source, fetchedAt: day * dayMs, links: [...shown] }
}

/** Numbers for the pages of links: those that are known, else below zero. */
function pageNumbers(known: ReadonlyMap<string, number>): (link: string) => number {
  const others = new Map<string, number>()
  return (link) => {
    const address = pageAddress(link)
    const number = known.get(address) ?? others.get(address) ?? -1 - others.size
    if (number < 0) others.set(address, number)
    return number
  }
}
