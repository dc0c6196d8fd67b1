import type { PageRecord, QueryRecord, TargetRecord } from '../../store/sqlite/rankings/serps.ts'

/** A page of a query; `passed` if the paging policy passed over it. */
export interface PageStatus extends Omit<PageRecord, 'state'> {
  readonly state: PageRecord['state'] | 'passed'
}

/** All pages of a record in order. Pages that it does not have were passed over. */
export function pageStatuses({ pages }: Pick<QueryRecord, 'pages'>): readonly PageStatus[] {
  const byNumber = new Map(pages.map((page) => [page.page, page]))
  return Array.from(
    { length: pages.at(-1)?.page ?? 0 },
    (_, index) =>
      byNumber.get(index + 1) ?? {
        page: index + 1,
        state: 'passed',
        cause: null,
        fetchedAt: null,
        results: [],
      },
  )
}

/** A sentence that says why a target has its state. */
export function explainState(record: QueryRecord, target: Pick<TargetRecord, 'state' | 'page'>): string {
  const pages = pageStatuses(record)
  if (pages.some(({ state }) => state === 'pruned'))
    return 'The results were pruned: what was observed is all that is left.'
  if (target.state === 'unknown') return whyUnknown(record, pages)
  const why = target.state === 'ranked' ? whyRanked(record, pages, target.page) : whyAbsent(record, pages)
  const doubtful = answeredOtherwise(pages.filter(({ page }) => page <= (target.page ?? page)))
  return doubtful === null ? why : `${why} In doubt, for ${doubtful}.`
}

/** Names the pages whose answers repeat another query than the one sent; null for none. */
function answeredOtherwise(pages: readonly PageStatus[]): string | null {
  const mismatchedPages = pages.filter(({ mismatched }) => mismatched)
  return mismatchedPages.length === 0
    ? null
    : `${pageNumbers(mismatchedPages)} answered a different query than requested`
}

function whyRanked({ pageSize }: QueryRecord, pages: readonly PageStatus[], page: number | null): string {
  if (page === null) return 'It is on one of the checked pages.'
  const before = gaps(pages.filter((one) => one.page < page))
  if (before.length === 0)
    return `It is on page ${page}${page === 1 ? '' : ', and every page before it was checked'}.`
  const size = pageSize === null ? 'ten results, as none is documented' : `${pageSize} results`
  return `It is on page ${page}. Estimated, for ${listed(before)}: such a page counts as ${size}.`
}

function whyAbsent({ end }: QueryRecord, pages: readonly PageStatus[]): string {
  const looked = pageNumbers(pages.filter(({ state }) => state === 'done'))
  const passed = gaps(pages.filter(({ state }) => state === 'passed'))
  if (passed.length > 0) return `It is not on ${looked}. Estimated, for ${listed(passed)}.`
  return `It is not on ${looked}.${end === null ? '' : ` No page follows, for ${end.because}.`}`
}

/** What became of the planned pages that were not checked; pages after the end of the paging do not count. */
export function missingPages({ end }: Pick<QueryRecord, 'end'>, pages: readonly PageStatus[]): string[] {
  return gaps(pages.filter(({ state, cause }) => state !== 'skipped' || cause !== end?.because))
}

function whyUnknown({ end }: QueryRecord, pages: readonly PageStatus[]): string {
  const seen = pages.some(({ state }) => state === 'done')
  const missing = missingPages({ end }, pages)
  if (end?.kind === 'broke') missing.push(`the pages could not be told apart any more: ${end.because}`)
  const otherwise = answeredOtherwise(pages)
  if (otherwise !== null) missing.push(otherwise)
  const because = missing.length === 0 ? 'nothing was fetched' : listed(missing)
  return `${seen ? 'It is on no page that was fetched, but ' : 'Not known: '}${because}.`
}

const unchecked: readonly (readonly [PageStatus['state'], string, string])[] = [
  ['failed', 'failed', 'failed'],
  ['open', 'was not fetched', 'were not fetched'],
  ['skipped', 'was not asked for', 'were not asked for'],
  ['passed', 'was passed over', 'were passed over'],
  ['pruned', 'was pruned', 'were pruned'],
]

/** What became of the pages that were not checked: one text for all pages with the same state and cause. */
function gaps(pages: readonly PageStatus[]): string[] {
  return unchecked.flatMap(([state, one, several]) => {
    const ofState = pages.filter((page) => page.state === state)
    const causes = new Set(ofState.map(({ cause }) => cause))
    return [...causes].map((cause) => {
      const same = ofState.filter((page) => page.cause === cause)
      const verb = same.length === 1 ? one : several
      return `${pageNumbers(same)} ${verb}${cause === null || cause === '' ? '' : ` (${cause})`}`
    })
  })
}

/** `page 3`, `pages 1 to 3`, `pages 1, 4 to 6`. */
export function pageNumbers(pages: readonly Pick<PageStatus, 'page'>[]): string {
  const ranges: [number, number][] = []
  for (const { page } of pages) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === page - 1) last[1] = page
    else ranges.push([page, page])
  }
  const texts = ranges.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`))
  return `${pages.length === 1 ? 'page' : 'pages'} ${texts.join(', ')}`
}

export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
