import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { addClicks, findClicks } from '../../../arrive/clicks/add-clicks.ts'
import { type CountedQuery, countedQueries, suggest } from '../../../arrive/clicks/counted.ts'
import { fitCurve, heldOut, type KeywordSamples } from '../../../arrive/clicks/fit.ts'
import { siteOfProperty } from '../../../arrive/clicks/rows.ts'
import { withRows } from '../../../arrive/job-file.ts'
import { peek } from '../../../jobfile/peek.ts'
import { UsageError } from '../../../model/errors.ts'
import { count, encodingOf, grouped, textInLowerCase } from '../../../model/text.ts'
import { dayText, systemClock, utcMinute } from '../../../model/time.ts'
import {
  numberOption,
  type OptionSpecs,
  propertyOf,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { changedLines, writeFileAtomically } from '../../../output/file.ts'
import { asStream } from '../../../output/formats/format.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { defaultCurve } from '../../../report/ctr.ts'
import { clickSamples, rankDifferences } from '../../../report/requests/measured-clicks.ts'
import { rankedJob } from '../../../report/requests/rank-report.ts'
import { databaseFile } from '../../../run/config.ts'
import { storedData } from '../../../run/open-stored.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import { findJob, pastDay } from '../../arguments.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'

const works = { add, list, undo, fit, suggest: suggestQueries }

const flags = {
  site: textOption('add: the property, where the files do not say it: acme.com, or https://www.acme.com/'),
  from: textOption('add: the first day of files without days, for instance 2026-08-01'),
  until: textOption('add: the last day of files without days'),
  limit: textOption('suggest: queries at most, without those of the brand [50]'),
  yes: switchOption('suggest: add them to the list of the job without asking'),
  ...sharedFlags.wait,
} satisfies OptionSpecs

export type ClicksFlags = TypedOptions<typeof flags> & { readonly what: string; readonly name?: string }

export const clicksCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 6, 7, 130],
  docs: 'docs/clicks.md',
  examples: [
    ['clicks add acme.com-Performance-on-Search-2026-11-26.zip', 'what Search Console exports'],
    ['clicks add bulk/ --site acme.com', 'tables of its bulk export: CSV, JSONL, Parquet'],
    ['clicks list', 'what was added, with its days and sums'],
    ['clicks undo 3', 'takes the third addition away'],
    [
      'clicks suggest acme.yaml',
      'queries with impressions that the job does not ask, and what they would cost',
    ],
    ['clicks fit acme', 'click rates by rank from own clicks, beside the default curve'],
  ],
  run: clicks,
} satisfies Command

/** `rankline clicks`: clicks and impressions of Search Console, beside ranks. */
export async function clicks(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork('clicks', works, flags.what)
  for (const flag of ['site', 'from', 'until'] as const)
    if (what !== 'add' && flags[propertyOf(flag)] !== undefined)
      throw new UsageError(`rankline clicks ${what} takes no --${flag}. It belongs to: rankline clicks add`)
  for (const flag of ['limit', 'yes'] as const)
    if (what !== 'suggest' && flags[propertyOf(flag)] !== undefined)
      throw new UsageError(
        `rankline clicks ${what} takes no --${flag}. It belongs to: rankline clicks suggest`,
      )
  return await works[what](flags, terminal)
}

/** `rankline clicks add`: stores a file, a folder or an archive as one change. */
async function add(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  if (flags.name === undefined)
    throw new UsageError('Name the file, the folder or the archive: rankline clicks add export.zip')
  const now = systemClock.wall()
  const options = { property: propertyOption(flags.site), period: periodOption(flags, now), now }
  const database = databaseFile.path(flags)
  // No database is made for files that are none of clicks.
  const files = await findClicks(flags.name, options)
  databaseFile.makeDefaultFolder(database)
  await using changed = await storedData.change(database, {
    wait: flags.wait,
    beside: false,
    log: (line) => note(terminal, line),
  })
  const { store } = changed
  const added = await addClicks(store, files, options)
  const addition = (await store.clickAdditions()).find(({ id }) => id === added.id)
  if (addition === undefined) throw new Error(`The addition ${added.id} is missing`)
  if (!added.isNew && isAskedOtherwise(options, addition))
    throw new UsageError(
      `${sanitize(flags.name)} was added before, as ${addition.id}: ${addition.tables.map(spanText).join('; ')}. To add it for other days or another site, undo that first: rankline clicks undo ${addition.id}`,
    )
  const replaced = added.isNew ? replacedDays(store, addition) : 0
  if (flags.json === true) {
    const { isNew, leftOut, warnings } = added
    const document = {
      ...documentOf(addition),
      new: isNew,
      replaced_days: replaced,
      left_out: leftOut,
      warnings,
    }
    await terminal.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  }
  if (!added.isNew) {
    await terminal.write(
      `This was added before, as ${addition.id} on ${utcMinute(addition.addedAt)} UTC. Nothing was stored.\n`,
    )
    return 0
  }
  const lines = [
    `Added as ${addition.id}: ${count(addition.rows, 'row')} of ${sanitize(addition.source)}.`,
    ...addition.tables.map(tableLine),
    ...added.warnings.map(sanitize),
    ...(replaced === 0
      ? []
      : [
          `${count(replaced, 'day')} of the same property stood here before: the new rows count instead. rankline clicks undo ${addition.id} brings the former back.`,
        ]),
    ...(added.leftOut.length === 0
      ? []
      : [
          `Left out, because nothing is read from them: ${added.leftOut.slice(0, 10).map(sanitize).join(', ')}${added.leftOut.length > 10 ? ', …' : ''}.`,
        ]),
  ]
  await terminal.write(`${lines.join('\n')}\n`)
  return 0
}

type Addition = Awaited<ReturnType<Store['clickAdditions']>>[number]

const spanText = ({ property, from, until }: Addition['tables'][number]): string =>
  `${sanitize(property)}, ${dayText(from ?? 0)} to ${dayText(until ?? 0)}`

/** Whether options would have made another addition of the same content. */
function isAskedOtherwise(
  { property, period }: Pick<Parameters<typeof addClicks>[2], 'property' | 'period'>,
  { tables }: Addition,
): boolean {
  const isOfPeriod = tables.every(({ timeSpan }) => timeSpan === 'period')
  return tables.some(
    (one) =>
      (property !== null && one.property !== property) ||
      (period !== null && isOfPeriod && (one.from !== period.from || one.until !== period.until)),
  )
}

/** Days of the tables of an addition that an earlier one had. */
function replacedDays(store: Pick<Store, 'clickSpans'>, { tables }: Addition): number {
  const sites = [...new Set(tables.flatMap(({ property }) => siteOfProperty(property) ?? []))]
  const own = new Set(tables.map(({ id }) => id))
  const spans = store.clickSpans(sites)
  const keyOf = ({ property, rowsOf, timeSpan, countedBy, day, untilDay }: (typeof spans)[number]) =>
    JSON.stringify([property, rowsOf, timeSpan, countedBy, day, untilDay])
  const before = new Set(spans.filter(({ table }) => !own.has(table)).map(keyOf))
  const days = spans.filter((one) => own.has(one.table) && before.has(keyOf(one))).map(({ day }) => day)
  return new Set(days).size
}

function tableLine({
  property,
  rowsOf,
  countedBy,
  timeSpan,
  from,
  until,
  clicks,
  impressions,
  ...rest
}: Addition['tables'][number]): string {
  const what = {
    query: countedBy === 'page' ? 'Queries by page' : 'Queries',
    page: 'Pages',
    total: 'Sums of days',
  }[rowsOf]
  const time = timeSpan === 'day' ? 'by day' : 'one period'
  const anonymous =
    rest.anonymousImpressions > 0
      ? `; of them ${count(rest.anonymousClicks, 'click')} and ${count(rest.anonymousImpressions, 'impression')} of queries that Search Console does not name`
      : ''
  return `${what} of ${sanitize(property)}, ${dayText(from ?? 0)} to ${dayText(until ?? 0)} (${time}): ${count(clicks, 'click')}, ${count(impressions, 'impression')}${anonymous}.`
}

/** `rankline clicks list`: what was added. */
async function list(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  if (flags.name !== undefined)
    throw new UsageError(`rankline clicks list takes no '${flags.name}'. Leave it out`)
  await using store = await storedData.read(flags)
  const additions = await store.clickAdditions()
  if (flags.json === true) {
    await terminal.write(`${JSON.stringify(additions.map(documentOf), null, 2)}\n`)
    return 0
  }
  if (additions.length === 0) {
    terminal.log('No clicks were added yet. Add them with: rankline clicks add <file>')
    return 0
  }
  const rows = additions.flatMap(({ id, addedAt, source, tables }) =>
    tables.map((table) => [
      String(id),
      utcMinute(addedAt),
      sanitize(table.property),
      `${table.rowsOf}${table.countedBy === 'page' && table.rowsOf === 'query' ? ' by page' : ''}`,
      `${dayText(table.from ?? 0)} to ${dayText(table.until ?? 0)}`,
      table.timeSpan,
      grouped(table.clicks),
      grouped(table.impressions),
      sanitize(source),
    ]),
  )
  await terminal.write(formatTable(columns, rows, terminal.columns))
  return 0
}

const columns = [
  { title: 'id', align: 'right' },
  { title: 'added (UTC)', dropped: true },
  { title: 'property', shrinks: true, least: 12 },
  { title: 'rows of' },
  { title: 'days' },
  { title: 'by' },
  { title: 'clicks', align: 'right' },
  { title: 'impressions', align: 'right' },
  { title: 'file', shrinks: true, dropped: true },
] as const

function documentOf({ id, addedAt, source, rows, otherSearches, tables }: Addition) {
  return {
    id,
    added_at: new Date(addedAt).toISOString(),
    source,
    rows,
    rows_of_other_searches: otherSearches,
    tables: tables.map((table) => ({
      property: table.property,
      rows_of: table.rowsOf,
      counted_by: table.countedBy,
      by: table.timeSpan,
      from: dayText(table.from ?? 0),
      until: dayText(table.until ?? 0),
      clicks: table.clicks,
      impressions: table.impressions,
      anonymous_clicks: table.anonymousClicks,
      anonymous_impressions: table.anonymousImpressions,
    })),
  }
}

/** `rankline clicks undo`: an addition goes as a whole, and nothing of it stays. */
async function undo(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  const { name } = flags
  if (name === undefined || !/^\d+$/.test(name))
    throw new UsageError(
      'Name the addition by its number: rankline clicks undo 3. List them with: rankline clicks list',
    )
  const id = Number(name)
  const database = databaseFile.path(flags)
  requireDatabase(database)
  await using changed = await storedData.change(database, {
    wait: flags.wait,
    beside: false,
    log: (line) => note(terminal, line),
  })
  const { store } = changed
  const addition = (await store.clickAdditions()).find((one) => one.id === id)
  if (addition === undefined)
    throw new UsageError(`There is no addition ${id}. List them with: rankline clicks list`)
  await store.undoClicks(id)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ undone: id, source: addition.source }, null, 2)}\n`
      : `Undone: ${id}, ${count(addition.rows, 'row')} of ${sanitize(addition.source)}.\n`,
  )
  return 0
}

/** `rankline clicks fit`: the curve of own clicks beside the default one, and what both foretell of keywords that were held out. */
async function fit(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  await using store = await storedData.read(flags)
  const named =
    flags.name === undefined ? null : await findJob(store, { ...flags, job: flags.name }, terminal)
  if (named === null && flags.name !== undefined) return 2
  const jobs = named === null ? await store.jobNames() : [named.name]
  const [samples, differences]: [KeywordSamples[], ReturnType<typeof rankDifferences>] = [[], []]
  for (const job of jobs) {
    const { history } = await rankedJob(store, job, { targets: named?.settings?.targets })
    samples.push(...clickSamples(store, history))
    differences.push(...rankDifferences(history))
  }
  differences.sort((a, b) => b.impressions - a.impressions)
  if (samples.length + differences.length === 0)
    throw new UsageError(
      'No keyword has both clicks of Search Console and a rank of the same days. Add clicks with rankline clicks add, and look at: rankline clicks list',
    )
  const { rates } = defaultCurve
  const curve = fitCurve(
    samples.flatMap(({ samples: all }) => all),
    rates,
  )
  const error = heldOut(samples, rates)
  if (flags.json === true) {
    await terminal.write(
      `${JSON.stringify(fitDocument(samples.length, curve, error, differences), null, 2)}\n`,
    )
    return 0
  }
  const percent = (rate: number | null): string =>
    rate === null ? '-' : `${(rate * 100).toFixed(rate < 0.01 ? 2 : 1)}%`
  const rows = curve.map(({ rank, rate, measured, interval, clicks, impressions, isDefault }) => [
    String(rank),
    percent(rate),
    percent(measured),
    interval === null ? '-' : interval.map(percent).join(' to '),
    percent(rates[rank - 1] ?? 0),
    grouped(clicks),
    grouped(impressions),
    isDefault ? 'default, scaled' : 'own clicks',
  ])
  const off = (foretold: number): string =>
    error.clicks === 0
      ? 'no clicks to compare with'
      : `${foretold >= error.clicks ? '+' : ''}${Math.round((foretold / error.clicks - 1) * 100)}%`
  const lines = [
    `Click rates by rank of ${count(samples.length, 'keyword')} with clicks and a rank; all devices, without words of the brand.`,
    '',
    formatTable(fitColumns, rows, terminal.columns).trimEnd(),
    '',
    error.keywords === 0
      ? 'No keyword is held out: there are too few.'
      : `Held out: ${count(error.keywords, 'keyword')}, ${count(error.clicks, 'click')}. A curve of the others foretells ${grouped(Math.round(error.foretold))} (${off(error.foretold)}), the default curve ${grouped(Math.round(error.byDefault))} (${off(error.byDefault)}).`,
    "Reports use it where the job file says 'ctr: own'.",
    ...differenceLines(differences),
  ]
  await terminal.write(`${lines.join('\n')}\n`)
  return 0
}

const fitColumns = [
  { title: 'rank', align: 'right' },
  { title: 'curve', align: 'right' },
  { title: 'counted', align: 'right' },
  { title: '95% interval', align: 'right' },
  { title: 'default', align: 'right' },
  { title: 'clicks', align: 'right' },
  { title: 'impressions', align: 'right' },
  { title: 'from', dropped: true },
] as const

function fitDocument(
  keywords: number,
  curve: ReturnType<typeof fitCurve>,
  error: ReturnType<typeof heldOut>,
  differences: ReturnType<typeof rankDifferences>,
) {
  return {
    keywords,
    differ_from_rank: differences,
    ranks: curve.map(({ rank, rate, measured, interval, clicks, impressions, samples, isDefault }) => ({
      rank,
      rate,
      counted: measured,
      interval,
      default_rate: defaultCurve.rates[rank - 1] ?? 0,
      clicks,
      impressions,
      samples,
      falls_back: isDefault,
    })),
    held_out: {
      keywords: error.keywords,
      clicks: error.clicks,
      foretold: error.foretold,
      foretold_by_default: error.byDefault,
    },
  }
}

const shownDifferences = 20

/** Keywords whose rank and position differ, with the usual reasons. */
function differenceLines(differences: ReturnType<typeof rankDifferences>): readonly string[] {
  if (differences.length === 0) return []
  const shown = differences
    .slice(0, shownDifferences)
    .map(
      ({ query, rank, position }) =>
        `  ${sanitize(query)}: rank ${rank.toFixed(1)}, position ${position.toFixed(1)}`,
    )
  return [
    '',
    `Rank and position of Search Console differ by more than three places for ${count(differences.length, 'keyword')}:`,
    ...shown,
    ...(differences.length > shown.length
      ? [`  … and ${grouped(differences.length - shown.length)} more; --json lists them`]
      : []),
    'Usual reasons: the position is an average over all places, devices and people, a rank is of one location and device; it counts only searches in which the site was shown, and blocks such as maps, images and AI answers have positions, too; another page or a part of the site outside the target may rank.',
  ]
}

/** `rankline clicks suggest`: queries that bring impressions and are not asked; added to the list of the job once that is agreed to. */
async function suggestQueries(flags: ClicksFlags, terminal: Terminal): Promise<number> {
  if (flags.name === undefined) throw new UsageError('Name the job: rankline clicks suggest acme.yaml')
  const limit = numberOption('--limit', flags.limit, { min: 1, max: 100_000 }) ?? 50
  await using store = await storedData.read(flags)
  const named = await findJob(store, { ...flags, job: flags.name }, terminal)
  if (named === null) return 2
  const { history, runs } = await rankedJob(store, named.name, { targets: named.settings?.targets })
  const [newest] = runs
  if (newest === undefined)
    throw new UsageError(
      `The job ${sanitize(named.name)} has not run yet, so that its price is not known. Run it first`,
    )
  const { queries, sites } = countedQueries(store, history)
  if (queries.length === 0)
    throw new UsageError(
      `No clicks by query were added of ${sites.map(sanitize).join(', ') || 'a target of the job'}. Add them with: rankline clicks add <file>`,
    )
  const asked = new Set(history.keywords.map(({ query }) => textInLowerCase(query)))
  const { pages, brand, leftOut } = suggest(queries, { asked, sites, limit })
  const found = pages.flatMap((one) => one.queries)
  const credits = Math.ceil(((newest.plannedMax ?? 0) / Math.max(1, asked.size)) * found.length)
  const file = named.settings?.file ?? (await store.jobFile(named.name))
  const list =
    file === null || found.length === 0
      ? null
      : await listOf(
          file,
          found.map(({ query }) => query),
        )
  if (flags.json === true)
    await terminal.write(
      `${JSON.stringify({ job: named.name, pages, brand, left_out: leftOut, credits_per_run: credits, list: list?.path ?? null }, null, 2)}\n`,
    )
  else await terminal.write(`${suggestionText({ pages, brand, leftOut }, terminal.columns)}\n`)
  if (found.length === 0) return 0
  const price = `${count(found.length, 'query', 'queries')} more would cost at most ${count(credits, 'credit')} more per run`
  if (list === null) {
    note(
      terminal,
      `${price}. The job reads no list to which they could be added: name one in its file with '- file: keywords.csv'.`,
    )
    return 0
  }
  if (flags.json === true && flags.yes !== true) return 0
  for (const line of changedLines(list.path, list.before, list.text)) note(terminal, sanitize(line))
  const isAgreed =
    flags.yes === true ||
    (terminal.ask != null && (await terminal.ask(`${price}. Add them to ${sanitize(list.path)}?`)))
  if (!isAgreed) {
    note(terminal, `${price}. Nothing was changed${terminal.ask == null ? '; --yes adds them' : ''}.`)
    return 0
  }
  await writeFileAtomically(list.path, asStream(list.text))
  note(terminal, `Added to ${sanitize(list.path)}. ${price}.`)
  return 0
}

/** The list of a job, with queries at its end; null where it reads none that can be written. */
async function listOf(file: string, queries: readonly string[]) {
  const [path] = /\.ya?ml$/i.test(file) ? peek.csvFiles(file) : [file]
  if (path === undefined || !existsSync(path)) return null
  const bytes = await readFile(path)
  if (encodingOf(bytes) !== 'utf-8') return null
  const before = bytes.toString('utf8')
  const text = withRows(
    before,
    queries.map((query) => ({ query })),
  )
  return text === null ? null : { path, before, text }
}

const suggestionColumns = [
  { title: 'query', shrinks: true, least: 20 },
  { title: 'position', align: 'right' },
  { title: 'impressions', align: 'right' },
  { title: 'clicks', align: 'right' },
] as const

function suggestionText({ pages, brand, leftOut }: Suggestions, columns: number): string {
  const rows = (all: readonly CountedQuery[]) =>
    formatTable(
      suggestionColumns,
      all.map(({ query, position, impressions, clicks }) => [
        sanitize(query),
        position.toFixed(1),
        grouped(impressions),
        grouped(clicks),
      ]),
      columns,
    ).trimEnd()
  const parts = [
    ...pages.map(
      ({ page, queries }) => `${page === null ? 'Queries without a page' : sanitize(page)}\n${rows(queries)}`,
    ),
    ...(brand.length === 0
      ? []
      : [`Words of the brand, which are not added (${grouped(brand.length)}):\n${rows(brand.slice(0, 10))}`]),
    ...(leftOut === 0
      ? []
      : [
          `${count(leftOut, 'query', 'queries')} with fewer than 10 impressions, or that a spreadsheet would run, ${leftOut === 1 ? 'is' : 'are'} left out.`,
        ]),
  ]
  return parts.length === 0 ? 'The job asks every query that has impressions.' : parts.join('\n\n')
}

/** A property as Search Console names it: a bare domain is all of it. */
function propertyOption(site: string | undefined): string | null {
  if (site === undefined) return null
  const property =
    site.includes('://') || site.startsWith('sc-domain:') ? site : `sc-domain:${site.toLowerCase()}`
  if (siteOfProperty(property) === null || /\s/.test(site))
    throw new UsageError(`--site cannot be '${site}'; write acme.com, or https://www.acme.com/`)
  return property
}

function periodOption({ from, until }: ClicksFlags, now: number) {
  if (from === undefined && until === undefined) return null
  if (from === undefined || until === undefined)
    throw new UsageError('--from and --until belong together: name the first and the last day')
  const [first, last] = [pastDay('--from', from, now), pastDay('--until', until, now)]
  if (last < first) throw new UsageError(`--until ${until} is before --from ${from}. Swap them`)
  return { from: first, until: last }
}

type Suggestions = ReturnType<typeof suggest>
