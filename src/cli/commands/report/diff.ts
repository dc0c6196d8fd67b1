import { UsageError } from '../../../model/errors.ts'
import { normalText } from '../../../model/text.ts'
import { addDays, daysBetween } from '../../../model/time.ts'
import {
  listOption,
  numberOption,
  type OptionSpecs,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { asStream } from '../../../output/formats/format.ts'
import { asciiSigns } from '../../../output/table.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { type DiffDocument, serpDiffs } from '../../../report/diff/serp-diff.ts'
import { byChange, diffSummary, diffTable, diffText } from '../../../report/diff/text.ts'
import type { ComparisonDay } from '../../../report/history/movement.ts'
import { newestRun, notYetRun, reportedTargets } from '../../../report/requests/rank-report.ts'
import { databaseFile } from '../../../run/config.ts'
import { openReader } from '../../../store/sqlite/open.ts'
import { day, dayArguments, findJob, formatArguments, operationName } from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

const flags = {
  ...sharedFlags.out,
  query: textOption('This query, result by result; default: one line for every query of the job'),
  operation: textOption('As asked with this operation only'),
  param: { ...listOption('As asked with this parameter only, for instance -p gl=us'), alias: 'p' },
  depth: textOption('Only the first this many results of either day; default: all'),
  ...sharedFlags.compare,
  date: textOption('The results of this local day, or the latest before it; default: the latest'),
  imported: switchOption('What was imported instead of what was measured: its days with each other alone'),
} satisfies OptionSpecs

export type DiffFlags = TypedOptions<typeof flags> & { readonly job: string }

export const diffCommand = {
  flags,
  docs: 'docs/diff.md',
  examples: [
    ["diff acme --query 'standing desk' --compare 7d", 'which results entered, left or moved'],
    ['diff acme --imported --date 2024-06-01 --compare 365d', 'two days of another tool'],
  ],
  run: diff,
} satisfies Command

/** `rankline diff`: what became of the results of a query, or of every query of a job, between two days. */
export async function diff(flags: DiffFlags, terminal: Terminal): Promise<number> {
  outFile.rejectInput(flags.out, [flags.job])
  const json = formatArguments.isJsonAsked(flags)
  const comparison = dayArguments.comparison(flags)
  const date = day('--date', flags.date)
  const depth = numberOption('--depth', flags.depth, { min: 1 })
  const fits = chosenQueries(flags)
  await using store = await openReader(databaseFile.path(flags))
  await outFile.refuseOntoJobFiles(store, flags)
  const named = await findJob(store, flags, terminal)
  if (named === null) return 2
  const { name: job, settings } = named
  // One query is read after the other; what is collected meanwhile is in none of them.
  using _ = store.snapshot()
  const text = flags.query === undefined ? undefined : normalText(flags.query)
  const run = await newestRun(store, job, date)
  const diffs = serpDiffs(store, { job, date, text, fits })
  if (flags.imported === true) {
    const queries = diffs.imported()
    const newest = diffs.newestImported(queries)
    if (newest === null)
      throw new UsageError(
        `Nothing of ${date} or before was imported for the job ${job}. What was imported: rankline import list`,
      )
    const compare = comparison === null ? null : askedDay(comparison, newest)
    const targets = run === null ? (settings?.targets ?? []) : reportedTargets(settings?.targets, run, date)
    await write({ diffs: diffs.of(queries, { depth, targets, compare }), compare }, flags, terminal)
    return 0
  }
  const compare = comparison === null || run === null ? null : askedDay(comparison, run.date)
  const isBeforeAll = compare !== null && (await newestRun(store, job, compare.day)) === null
  if ((run === null || isBeforeAll) && diffs.hasImported())
    note(terminal, 'Imported result pages are compared with each other alone: add --imported')
  if (run === null) {
    terminal.log(notYetRun(job, date))
    if (json) await outFile.write(asStream('[]\n'), flags.out, terminal)
    return 0
  }
  const queries = await diffs.asked()
  const targets = reportedTargets(settings?.targets, run, date)
  await write({ diffs: diffs.of(queries, { depth, targets, compare }), compare }, flags, terminal)
  return 0
}

type MakeDiff = () => DiffDocument

async function write(
  { diffs, compare }: { readonly diffs: readonly MakeDiff[]; readonly compare: ComparisonDay | null },
  flags: DiffFlags,
  terminal: Terminal,
): Promise<void> {
  const json = formatArguments.isJsonAsked(flags)
  const table = {
    width: flags.out === undefined ? terminal.columns : outFile.columns,
    color: terminal.color && flags.out === undefined,
  }
  const drawn = (text: string) =>
    flags.out === undefined && terminal.ascii === true ? asciiSigns(text) : text
  const order = flags.query === undefined ? ordered(diffs) : null
  const pieces = json
    ? documents(order?.map(({ make }) => make) ?? diffs)
    : asStream(
        drawn(
          order === null
            ? diffs.map((make) => diffText(make(), table)).join('\n')
            : diffTable(
                order.map(({ summary }) => summary),
                { ...table, compare },
              ),
        ),
      )
  await outFile.write(pieces, flags.out, terminal, !json)
}

/** Documents as a JSON list, one in memory at a time. */
async function* documents(diffs: readonly MakeDiff[]): AsyncGenerator<string> {
  let before = '[\n'
  for (const make of diffs) {
    yield `${before}${JSON.stringify(make(), null, 2)}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

/** Reads the flags that say which of the queries are meant. */
export function chosenQueries(flags: DiffFlags) {
  if (flags.imported === true && flags.operation !== undefined)
    throw new UsageError('--operation has no meaning for what was imported. Leave it out')
  const operation = operationName(flags.operation)
  const params = (flags.param ?? []).map((text) => {
    const [, name, value] = text.match(/^([^=]+)=(.+)$/s) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError(`-p cannot be '${text}'; write name=value, for instance -p gl=us`)
    return { name, value }
  })
  return (query: Pick<DiffDocument, 'operation' | 'params'>): boolean =>
    (operation === undefined || query.operation === operation) &&
    params.every(({ name, value }) => Object.hasOwn(query.params, name) && `${query.params[name]}` === value)
}

/** What changed most first. */
function ordered(diffs: readonly MakeDiff[]) {
  return diffs
    .map((make) => ({ make, summary: diffSummary(make()) }))
    .sort((a, b) => byChange(a.summary, b.summary))
}

/**
 * The day that is to be compared with, as a day.
 *
 * @param compared what the options say: a day, or a number of days before the report's own
 */
function askedDay(
  { day, tolerance }: { readonly day: string | number; readonly tolerance: number },
  latest: string,
): ComparisonDay {
  if (typeof day === 'number') return { day: addDays(latest, -day), tolerance }
  if (daysBetween(day, latest) > 0) return { day, tolerance }
  throw new UsageError(`--compare cannot be '${day}'; write a day before ${latest}, the day that is reported`)
}
