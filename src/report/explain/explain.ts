import { UsageError } from '../../model/errors.ts'
import { closestMatch, count } from '../../model/text.ts'
import { addDays } from '../../model/time.ts'
import { wrap } from '../../output/table.ts'
import { fitColumns, sanitize, sanitizeLine, textWidth } from '../../output/terminal.ts'
import { explainMatch } from '../../rank/explain.ts'
import { isOpaque } from '../../rank/match.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type {
  PageRecord,
  QueryRecord,
  ResultRecord,
  TargetRecord,
} from '../../store/sqlite/rankings/serps.ts'
import { requestLine } from '../cells.ts'

/** All that is known of one query in one run, for programs. Names do not change between versions. */
type Explanation = ReturnType<typeof explanationOf>

type ExplainedTarget = ReturnType<typeof explainTarget>
type ExplainedResult = ReturnType<typeof explainResult>
type ExplainedPage = Explanation['pages'][number]

/** Explains the state of each target of a query from the stored pages of its run. */
export function explanationOf(record: QueryRecord) {
  return {
    job: record.job,
    run_id: record.run,
    date: record.date,
    query: record.text,
    operation: record.operation,
    params: record.params,
    /** Pages that were asked for at most. */
    max_pages: record.maxPages,
    /** Why no page follows; null where pages may follow. */
    paging_end: record.end?.because ?? null,
    targets: record.targets.map((target) => explainTarget(record, target)),
    pages: pageStatuses(record).map(({ page, state, cause, fetchedAt, results }) => ({
      page,
      state,
      cause,
      fetched_at: fetchedAt,
      results: results.map((result) => explainResult(result, record.targets)),
    })),
  }
}

function explainTarget(record: QueryRecord, target: TargetRecord) {
  const { label, site, match, also, own, state, rank, exactness, depth, unbrokenDepth } = target
  return {
    target: label,
    site,
    match,
    also,
    own,
    state,
    rank,
    exactness,
    depth,
    unbroken_depth: unbrokenDepth,
    why: explainState(record, target),
  }
}

function explainResult(result: ResultRecord, targets: readonly TargetRecord[]) {
  const { kind, rank, position, title, link } = result
  const verdicts = targets.flatMap((target) => {
    const verdict = link === null ? null : explainMatch(target, link)
    return verdict === null ? [] : [{ ...verdict, target: target.label }]
  })
  const brief = ({ target, reason, text }: (typeof verdicts)[number]) => ({ target, reason, text })
  return {
    kind,
    rank,
    position,
    title,
    link,
    /** A redirect that does not say where it leads: it may belong to any site. */
    opaque: link !== null && isOpaque(link),
    matches: verdicts.filter(({ matches }) => matches).map(brief),
    /** Targets that it nearly matches. */
    near: verdicts.filter(({ near }) => near).map(brief),
  }
}

/** An explanation for a person: the state of each target, then the evidence page by page. */
export function explainText(one: Explanation, width: number): string {
  const lines = [
    ...wrap(sanitizeLine(requestLine(one)), width),
    ...wrap(sanitizeLine(`Run ${one.run_id} of ${one.job}, ${one.date}. ${ending(one)}`), width),
    '',
    ...one.targets.flatMap((target) => [
      ...wrap(sanitizeLine(stateOf(target)), width),
      ...wrap(sanitizeLine(target.why), width, '  '),
    ]),
    ...(one.targets.length === 0 ? ['No targets are tracked.'] : []),
    ...one.pages.flatMap((page) => [
      '',
      ...wrap(sanitizeLine(pageHead(page)), width),
      ...page.results.flatMap((result) => resultLines(result, width)),
    ]),
  ]
  return lines.join('\n').concat('\n')
}

function ending({ paging_end: because, max_pages: most }: Explanation): string {
  const asked = `At most ${count(most, 'page')}.`
  return because === null ? `${asked} The paging has not ended.` : `${asked} No page follows, for ${because}.`
}

function stateOf(target: ExplainedTarget): string {
  const { state, rank, exactness, depth, unbroken_depth: unbroken } = target
  const name = target.own ? target.target : `${target.target} (competitor)`
  const looked = `${count(depth, 'result')} checked${unbroken < depth ? `, the first ${unbroken} without a gap` : ''}`
  if (state === 'ranked') return `${name}: rank ${exactness === 'estimated' ? '~' : ''}${rank}, ${looked}`
  return `${name}: ${exactness === 'estimated' ? `${state}, estimated` : state}, ${looked}`
}

const states: Readonly<Record<ExplainedPage['state'], string>> = {
  done: 'fetched',
  failed: 'failed',
  open: 'not fetched yet',
  skipped: 'not asked for',
  passed: 'passed over',
  pruned: 'pruned',
}

function pageHead({ page, state, cause, fetched_at: at, results }: ExplainedPage): string {
  if (state === 'done')
    return `Page ${page}, fetched ${at?.slice(0, 16).replace('T', ' ')} UTC${results.length === 0 ? ': no results' : ''}`
  return `Page ${page}: ${states[state]}${cause === null ? '' : `, ${cause}`}`
}

/** The position that the service sent is in brackets if it differs from the rank. */
function resultLines(result: ExplainedResult, width: number): readonly string[] {
  const { rank, position, link, title, opaque, matches, near } = result
  const sent = position === null || position === rank ? '' : ` (${position})`
  const head = `${`${rank}${sent}`.padStart(9)}  ${sanitizeLine(link ?? title ?? 'no link')}`
  const indent = ' '.repeat(11)
  const notes = [
    ...matches.map(({ target, text }) => `${target}: it ${text}`),
    ...near
      .filter(({ reason }) => reason !== 'opaque-redirect')
      .map(({ target, text }) => `not ${target}: it ${text}`),
    ...(opaque ? ['a redirect that does not say where it leads: it may belong to any site'] : []),
  ]
  const line = textWidth(head) > width ? fitColumns(head, width).trimEnd() : head
  return [line, ...notes.flatMap((note) => wrap(sanitizeLine(note), width, indent))]
}

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
  const those = pages.filter(({ mismatched }) => mismatched)
  return those.length === 0 ? null : `${pageNumbers(those)} answered a different query than requested`
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

/**
 * Why the queries of that text say what they say of each target, as text or JSON.
 *
 * @param date the day of the last run that may explain them
 */
export async function explainQuery(
  store: Store,
  { job, text, date }: Parameters<typeof noDataMessage>[1],
  { json, width }: { readonly json: boolean; readonly width: number },
): Promise<string> {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  const explanations = (await store.queryRecords({ job, text, ...until })).map(explanationOf)
  if (explanations.length === 0) throw new UsageError(await noDataMessage(store, { job, text, date }))
  if (json) return `${JSON.stringify(explanations, null, 2)}\n`
  return explanations.map((one) => explainText(one, width)).join('\n')
}

/** Why nothing is known of a query. */
export async function noDataMessage(
  store: Store,
  { job, text, date }: { readonly job: string; readonly text: string; readonly date: string | undefined },
): Promise<string> {
  const known = await store.queryTexts(job)
  if (known.includes(text))
    return `No run of the job ${job} has looked for '${sanitize(text)}'${date === undefined ? ' yet' : ` by ${date}`}`
  const near = closestMatch(text, known)
  const hint =
    near === null ? `List its queries with: rankline report ${job}` : `Did you mean '${sanitize(near)}'?`
  return `The job ${job} never asked for '${sanitize(text)}'. ${hint}`
}
