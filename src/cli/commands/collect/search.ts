import { operations } from '../../../catalog/index.ts'
import { exitCodeOf } from '../../../collect/stop.ts'
import { exportKinds } from '../../../export/export.ts'
import { readOneQuery } from '../../../jobfile/open.ts'
import { mistakeLines } from '../../../jobfile/source.ts'
import { openApp } from '../../../machines/open-app.ts'
import { RanklineError } from '../../../model/errors.ts'
import type { Row } from '../../../model/result.ts'
import { exitCodes } from '../../../model/run.ts'
import { count } from '../../../model/text.ts'
import { localDay } from '../../../model/time.ts'
import { listOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { connections } from '../../../run/app.ts'
import { planQuery, searchJob } from '../../../run/job-files.ts'
import { turns } from '../../../run/lock.ts'
import { collections, planning } from '../../../run/run-jobs.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import { type Command, sharedFlags, type TypedOptions, usualExits } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'
import { runLines } from '../../progress.ts'

const flags = {
  ...sharedFlags.service,
  ...sharedFlags.clock,
  ...sharedFlags.wait,
  param: { ...listOption('Parameter, for instance -p gl=us'), alias: 'p' },
  style: textOption('get or post'),
} satisfies OptionSpecs

export type SearchFlags = TypedOptions<typeof flags> & { readonly operation: string; readonly query: string }

export const searchCommand = {
  flags,
  words: operations.filter(({ billable }) => billable).map(({ name }) => name),
  exits: usualExits.collecting,
  docs: 'docs/operations.md',
  examples: [
    ["search alpha.search 'standing desk' -p gl=us", 'one call'],
    ['search alpha.search -- -inurl', 'a text that begins with -'],
  ],
  run: search,
} satisfies Command

/** `rankline search`: one call, shown, stored and in the ledger. */
export async function search(flags: SearchFlags, terminal: Terminal): Promise<number> {
  const read = readOneQuery(flags, searchJob, (problem) =>
    terminal.log(mistakeLines.format(problem), { level: 'error', code: 2 }),
  )
  if (read === null) return 2
  const { query, settings } = read
  using lock = turns.ofCollector(flags, (line) => note(terminal, line))
  await using app = await openApp(flags, lock)
  const { store, clock } = app
  await planning.takeTurn(lock, store)
  await app.clockCheck.check(terminal.log)
  await using draft = await store.draft()
  await draft.add(settings.name, [planQuery(query)])
  const date = localDay(clock.wall(), settings.timezone)
  const planned = { settings, date, continues: null, fresh: null }
  const [run] = await draft.commit([planned], clock.wall())
  if (run === undefined) throw new Error('the search was not planned')
  using interrupts = listenForInterrupts(terminal)
  const { stop } = interrupts
  // One call does not wait for a worker: with a queue it is made here, at a send time of the limit that all share.
  const alone = { ...app, machines: null }
  await collections.finish(alone, [{ run, show: 'collect' }], {
    ...collections.usual,
    stop,
    concurrency: 1,
    maxThrottlingMs: connections.lookupDelays.throttledMs,
    notice: (message) => terminal.log(message),
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
  for (const line of [...runLines.malformed(malformed), ...runLines.mismatch(mismatched)])
    terminal.log(line.trim())
  note(terminal, `${count(spent, 'credit')}.`)
  return 0
}

async function show(store: Store, run: number, json: boolean, terminal: Terminal): Promise<void> {
  if (json) {
    await terminal.write(`${(await rawAnswer(store, run)).toString('utf8')}\n`)
    return
  }
  for (const { ai_markdown: text } of store.rows('answers', { run }))
    if (text !== null && text !== undefined)
      await terminal.write(`${String(text).split('\n').map(sanitize).join('\n')}\n\n`)
  const kinds = Object.values(exportKinds).filter(({ view }) => view !== 'calls' && view !== 'clicks')
  for (const { view } of kinds) {
    const rows = [...store.rows(view, { run })]
    if (rows.length > 0) await terminal.write(`${resultTable(rows, terminal.columns)}\n`)
  }
}

async function rawAnswer(store: Store, run: number): Promise<Buffer> {
  for (const row of store.rows('answers', { run })) {
    const stored = await store.storedBody(Number(row.answer_id))
    if (stored !== null) return stored.body
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
      rows.map((row) => [String(row.rank), sanitize(String(row[column] ?? ''))]),
      width,
    )
  }
  return formatTable(
    [{ title: 'rank', align: 'right' }, { title: 'title' }, { title: 'link', shrinks: true }],
    rows.map((row) => [
      String(row.rank),
      [...sanitize(String(row.title ?? ''))].slice(0, 60).join(''),
      sanitize(String(row.link ?? '')),
    ]),
    width,
  )
}
