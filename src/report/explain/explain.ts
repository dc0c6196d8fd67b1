import { count } from '../../model/text.ts'
import { wrap } from '../../output/table.ts'
import { fitColumns, sanitizeLine, textWidth } from '../../output/terminal.ts'
import { explainMatch } from '../../rank/explain.ts'
import { isOpaque } from '../../rank/match.ts'
import type { QueryRecord, ResultRecord, TargetRecord } from '../../store/sqlite/rankings/serps.ts'
import { requestLine } from '../cells.ts'
import { explainState, pageStatuses } from './pages.ts'

/** All that is known of one query in one run, for programs. Names do not change between versions. */
export type Explanation = ReturnType<typeof explanationOf>

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
