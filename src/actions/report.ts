import { databasePath, type SettingFlags } from '../config.ts'
import { sortRows } from '../report/sort-rows.ts'
import { openCopy, openReader } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { day, isJsonAsked, namedJob } from './choices.ts'
import { deliver, fileColumns, refuseOntoInput, refuseOntoJobFiles, whole } from './output.ts'
import { type CompareFlags, comparisonOf, notYetRun, type RankedJob, rankedJob } from './rank-report.ts'
import { chosenForm, type ExplainFlags, refuseBesideExplain, rowOrder, serpDays } from './report-flags.ts'
import { measureOf, refuseMissingKind } from './report-measure.ts'

export interface ReportFlags extends SettingFlags, CompareFlags, ExplainFlags {
  readonly job: string
  readonly compare?: string
}

/** `rankline report`: where the targets of a job stand, how they moved, and why one query says what it says. */
export async function report(flags: ReportFlags, terminal: Terminal): Promise<number> {
  refuseBesideExplain(flags)
  refuseOntoInput(flags.out, [flags.job, flags.ctr])
  const json = flags.explain === undefined ? false : isJsonAsked(flags)
  const form = chosenForm(flags, terminal)
  const order = rowOrder(flags)
  const measure = measureOf(flags)
  const days = serpDays(flags)
  const comparison = comparisonOf(flags)
  const date = day('--date', flags.date)
  const database = databasePath(flags)
  await using reader = await openReader(database)
  await refuseOntoJobFiles(reader, flags)
  const named = await namedJob(reader, flags, terminal)
  if (named === null) return 2
  const { name: job, settings } = named
  // What new targets would have been is found in a copy: a report changes nothing, and the next run keeps it.
  const hasNew = settings !== null && reader.runsToAdopt(job, settings.targets, null).length > 0
  await using copy = hasNew ? await openCopy(database) : null
  const store = copy ?? reader
  if (hasNew) {
    const { observeThePast } = await import('./new-targets.ts')
    await observeThePast(store, settings, null, terminal)
  }
  const look = lookOf(flags, terminal)
  const { ranked, pieces } = await atOneMoment(store, async () => {
    if (flags.explain !== undefined) {
      const { explainQuery } = await import('./explain.ts')
      const asked = { job, text: flags.explain, date }
      const text = await explainQuery(store, asked, { json, width: look.width })
      return { ranked: null, pieces: whole(text) }
    }
    const filter = { tags: flags.tag, targets: flags.target }
    const unsorted = await rankedJob(store, job, {
      date,
      comparison,
      filter,
      targets: settings?.targets,
      absent: measure.absent ?? 'depth',
    })
    if (unsorted.built !== null) refuseMissingKind(measure, unsorted.built.history)
    const ranked = { ...unsorted, report: () => sortRows(unsorted.report(), order) }
    const raw = flags.raw === true
    return { ranked, pieces: form.pieces({ job, ranked, measure, store, look, raw, serpDays: days }) }
  })
  if (ranked !== null && isEmpty(ranked)) terminal.say(whyEmpty(job, ranked, date))
  await deliver(pieces, flags.out, terminal, ranked !== null && form.painted === true)
  return 0
}

/** A report reads one thing after the other; what is collected meanwhile is in none of them. */
async function atOneMoment<T>(store: Store, read: () => Promise<T>): Promise<T> {
  using _ = store.snapshot()
  return await read()
}

/** How text is written: for this terminal, or for a file, which is the same on every machine. */
function lookOf({ out }: ReportFlags, { columns, color, ascii = false }: Terminal) {
  return out === undefined
    ? { width: columns, color, ascii }
    : { width: fileColumns, color: false, ascii: false }
}

function isEmpty({ built }: RankedJob): boolean {
  return built === null || built.history.series.length === 0
}

function whyEmpty(job: string, { runs }: RankedJob, date: string | undefined): string {
  if (runs.length === 0) return notYetRun(job, date)
  return `The job ${job} has no rankings: it tracks no targets. Results are in: rankline export organic --job ${job}`
}
