import { RanklineError } from '../errors.ts'
import { formatProblem } from '../jobfile/problem.ts'
import { readSingle } from '../jobfile/single.ts'
import { planQuery } from '../plan/plan.ts'
import { exportKinds } from '../report/columns.ts'
import type { Row } from '../report/rank-rows.ts'
import { formatTable } from '../report/table.ts'
import { exitCodeOf, exitCodes } from '../run/finish.ts'
import { localDay } from '../run/local-day.ts'
import { unpackSound } from '../store/packing.ts'
import type { Store } from '../store/store.ts'
import { harmless, note, type Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { collectAndFinish, plainCollection } from './collecting.ts'
import { collectorLock, type LockFlags } from './collector-lock.ts'
import { listenForInterrupts } from './interrupts.ts'
import { searchJob } from './search-job.ts'
import { malformedLines, mismatchLines } from './summary-lines.ts'
import { connect, lookupPatience } from './wire.ts'

export interface SearchFlags extends LockFlags {
  readonly operation: string
  readonly query: string
  readonly param?: readonly string[]
  readonly style?: string
  readonly json?: boolean
}

/** `rankline search`: one call, shown, stored and in the ledger. */
export async function search(flags: SearchFlags, terminal: Terminal): Promise<number> {
  const read = readSingle(flags, searchJob, (problem) => terminal.say(formatProblem(problem)))
  if (read === null) return 2
  const { query, settings } = read
  using lock = collectorLock(flags, terminal)
  await using connection = await connect(flags, lock)
  const { store, clock } = connection
  await lock.acquire()
  await store.refuseDamage()
  await using draft = await store.draft()
  await draft.add(settings.name, [planQuery(query)])
  const date = localDay(clock.wall(), settings.timezone)
  const planned = { settings, date, continues: null, freshSince: null }
  const [run] = await draft.commit([planned], clock.wall())
  if (run === undefined) throw new Error('the search was not planned')
  using interrupts = listenForInterrupts(terminal)
  const { stop } = interrupts
  await collectAndFinish(connection, [{ run, show: 'collect' }], {
    ...plainCollection,
    stop,
    concurrency: 1,
    maxThrottlingMs: lookupPatience.throttledMs,
    notice: (words) => terminal.say(words),
  })
  const [failure] = await store.failures(run.id)
  if (failure !== undefined)
    throw new RanklineError(`${failure.operation}: ${failure.cause}`, exitCodes.completed_with_failures)
  const cause = stop.cause()
  const { done } = await store.taskCounts(run.id)
  if (cause?.reason === 'interrupted' && done === 0) return interrupts.exitCode()
  if (cause !== null && cause.reason !== 'interrupted')
    throw new RanklineError(cause.message, exitCodeOf(cause))
  if (done === 0)
    throw new RanklineError('The balance does not cover the call. Top up first.', exitCodes.balance)
  await show(store, run.id, flags.json === true, terminal)
  const { spent, malformed, mismatched } = await store.tally(run.id)
  for (const line of [...malformedLines(malformed), ...mismatchLines(mismatched)]) terminal.say(line.trim())
  note(terminal, `${count(spent, 'credit')}.`)
  return 0
}

async function show(store: Store, run: number, json: boolean, terminal: Terminal): Promise<void> {
  if (json) {
    await terminal.out(`${(await rawAnswer(store, run)).toString('utf8')}\n`)
    return
  }
  for (const { ai_markdown: text } of store.rows('answers', { run }))
    if (text !== null && text !== undefined)
      await terminal.out(`${String(text).split('\n').map(harmless).join('\n')}\n\n`)
  const kinds = Object.values(exportKinds).filter(({ view }) => view !== 'calls')
  for (const { view } of kinds) {
    const rows = [...store.rows(view, { run })]
    if (rows.length > 0) await terminal.out(`${resultTable(rows, terminal.columns)}\n`)
  }
}

async function rawAnswer(store: Store, run: number): Promise<Buffer> {
  for (const row of store.rows('answers', { run })) {
    const raw = await store.rawAnswer(Number(row.answer_id))
    const body = raw === null ? null : unpackSound(raw)
    if (body !== null) return body
  }
  throw new RanklineError(
    'The answer that was just stored is damaged. Check the disk, and: rankline db check',
    6,
  )
}

function resultTable(rows: readonly Row[], width: number): string {
  const [first] = rows
  if (first !== undefined && ('suggestion' in first || 'related_query' in first)) {
    const column = 'suggestion' in first ? 'suggestion' : 'related_query'
    return formatTable(
      [{ title: '', align: 'right' }, { title: column.replace('_', ' ') }],
      rows.map((row) => [String(row.rank), harmless(String(row[column] ?? ''))]),
      width,
    )
  }
  return formatTable(
    [{ title: 'rank', align: 'right' }, { title: 'title' }, { title: 'link', shrinks: true }],
    rows.map((row) => [
      String(row.rank),
      [...harmless(String(row.title ?? ''))].slice(0, 60).join(''),
      harmless(String(row.link ?? '')),
    ]),
    width,
  )
}
