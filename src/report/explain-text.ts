import { fitColumns, harmless } from '../terminal.ts'
import { textWidth } from '../text-width.ts'
import { count } from '../words.ts'
import type { ExplainedPage, ExplainedResult, ExplainedTarget, Explanation } from './explain.ts'
import { wrap } from './wrap.ts'

/** An explanation for a person: what is said of each target, then the evidence, page by page. */
export function explainText(one: Explanation, width: number): string {
  const params = Object.entries(one.params).map(([name, value]) => `${name}=${value}`)
  const lines = [
    ...wrap(plain([`"${one.query}"`, one.operation, ...params].join('  ')), width),
    ...wrap(plain(`Run ${one.run_id} of ${one.job}, ${one.date}. ${ending(one)}`), width),
    '',
    ...one.targets.flatMap((target) => [
      ...wrap(plain(stateOf(target)), width),
      ...wrap(plain(target.why), width, '  '),
    ]),
    ...(one.targets.length === 0 ? ['No targets are tracked.'] : []),
    ...one.pages.flatMap((page) => [
      '',
      ...wrap(plain(pageHead(page)), width),
      ...page.results.flatMap((result) => resultLines(result, width)),
    ]),
  ]
  return lines.join('\n').concat('\n')
}

// Runs of spaces from outside would look like columns.
function plain(text: string): string {
  return harmless(text).trim()
}

function ending({ paging_end: because, max_pages: most }: Explanation): string {
  const asked = `At most ${count(most, 'page')}.`
  return because === null ? `${asked} The paging has not ended.` : `${asked} No page follows, for ${because}.`
}

function stateOf(target: ExplainedTarget): string {
  const { state, rank, exactness, depth, unbroken_depth: unbroken } = target
  const name = target.own ? target.target : `${target.target} (competitor)`
  const looked = `${count(depth, 'result')} looked at${unbroken < depth ? `, the first ${unbroken} without a gap` : ''}`
  if (state === 'ranked') return `${name}: rank ${exactness === 'estimated' ? '~' : ''}${rank}, ${looked}`
  return `${name}: ${exactness === 'estimated' ? `${state}, estimated` : state}, ${looked}`
}

const states: Readonly<Record<ExplainedPage['state'], string>> = {
  done: 'fetched',
  failed: 'failed',
  open: 'not fetched yet',
  skipped: 'not asked for',
  passed: 'passed over',
}

function pageHead({ page, state, cause, fetched_at: at, results }: ExplainedPage): string {
  if (state === 'done')
    return `Page ${page}, fetched ${at?.slice(0, 16).replace('T', ' ')} UTC${results.length === 0 ? ': no results' : ''}`
  return `Page ${page}: ${states[state]}${cause === null ? '' : `, ${cause}`}`
}

/** The number that the service sent stands in brackets, where it is another than the rank. */
function resultLines(result: ExplainedResult, width: number): readonly string[] {
  const { rank, position, link, title, opaque, matches, near } = result
  const sent = position === null || position === rank ? '' : ` (${position})`
  const head = `${`${rank}${sent}`.padStart(9)}  ${plain(link ?? title ?? 'no link')}`
  const indent = ' '.repeat(11)
  const notes = [
    ...matches.map(({ target, text }) => `${target}: it ${text}`),
    ...near
      .filter(({ reason }) => reason !== 'opaque-redirect')
      .map(({ target, text }) => `not ${target}: it ${text}`),
    ...(opaque ? ['a redirect that does not say whereto: it may be anybody’s'] : []),
  ]
  const line = textWidth(head) > width ? fitColumns(head, width).trimEnd() : head
  return [line, ...notes.flatMap((note) => wrap(plain(note), width, indent))]
}
