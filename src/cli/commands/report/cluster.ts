import {
  type Cluster,
  clustersOf,
  type Gap,
  gapsOf,
  importedKeywords,
  keywordsOf,
  newestRuns,
} from '../../../arrive/clusters/clusters.ts'
import { billableOperation } from '../../../catalog/index.ts'
import { UsageError } from '../../../model/errors.ts'
import type { JobSettings, Target } from '../../../model/job.ts'
import { count, grouped } from '../../../model/text.ts'
import { daysBetween, systemClock } from '../../../model/time.ts'
import { numberOption, type OptionSpecs, switchOption, textOption } from '../../../model/values.ts'
import { asStream } from '../../../output/formats/format.ts'
import { rowFormats } from '../../../output/formats/index.ts'
import { formatTable, wrapLines } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { usualShare } from '../../../rank/grouping.ts'
import { paramTexts, shortLink } from '../../../report/cells.ts'
import { defaultCurve } from '../../../report/ctr.ts'
import { type CtrCurve, rateOf } from '../../../report/metrics/figure.ts'
import { notYetRun } from '../../../report/requests/rank-report.ts'
import { databaseFile } from '../../../run/config.ts'
import { clickCurves } from '../../../run/job-curve.ts'
import { openReader, type Store } from '../../../store/sqlite/open.ts'
import { findJob, formatArguments } from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

/** Pages that keywords can share. */
const mostShared = 10

const formats = ['table', 'csv', 'json'] as const

const flags = {
  ...sharedFlags.output(formats),
  all: switchOption('The keywords of all jobs of the database, each once'),
  shared: textOption(
    `How many of the first ten results keywords of a cluster share, 1 to ${mostShared} [${usualShare}]`,
  ),
  imported: switchOption('The keywords of what was imported, by its newest result pages alone'),
  gaps: switchOption('Only clusters for which rivals are among the first ten and you are not, by clicks'),
  views: switchOption('Print tags and views for the job file instead: one for each cluster'),
} satisfies OptionSpecs

type ClusterFlags = TypedOptions<typeof flags> & { readonly job?: string }

export const clusterCommand = {
  flags,
  docs: 'docs/clusters.md',
  examples: [
    ['cluster acme', 'which keywords are the work of one page'],
    ['cluster acme --out clusters.csv', 'a line for each keyword'],
    ['cluster acme --gaps', 'clusters where rivals rank and you do not'],
    ['cluster acme --imported', 'keywords of another tool, by the result pages that it stored'],
    ['cluster acme --views', 'tags and views for the job file'],
  ],
  run: cluster,
} satisfies Command

/** `rankline cluster`: keywords that one page can serve, by the results that they share. */
async function cluster(flags: ClusterFlags, terminal: Terminal): Promise<number> {
  outFile.rejectInput(flags.out, [flags.job])
  const format = flags.views === true ? refuseFormat(flags) : formatArguments.chosen(flags, formats)
  const csv = formatArguments.csvStyle(flags)
  const least = numberOption('--shared', flags.shared, { min: 1, max: mostShared }) ?? usualShare
  if (flags.all === true && flags.job !== undefined)
    throw new UsageError('--all takes every job of the database. Leave out the name of the job, or --all')
  await using store = await openReader(databaseFile.path(flags))
  await outFile.refuseOntoJobFiles(store, flags)
  const asked = await jobsOf(store, flags, terminal)
  if (asked === null) return 2
  const { jobs } = asked
  using _ = store.snapshot()
  const runs = await newestRuns(store, jobs)
  // Before the first run, what was imported is all there is.
  const isImported = flags.imported === true || runs.length === 0
  const keywords = isImported
    ? importedKeywords(store, flags.all === true ? null : jobs, asked.settings?.targets ?? targetsOf(runs))
    : keywordsOf(store, runs, { now: systemClock.wall(), isWeb })
  if (isImported && keywords.length === 0) {
    if (flags.imported === true) terminal.log(noImportedPages(jobs))
    else terminal.log(jobs.length === 1 ? notYetRun(jobs[0] as string, undefined) : 'No job has run yet')
    return 0
  }
  const found = clustersOf(keywords, least)
  const gaps = flags.gaps === true ? gapsOf(found.clusters, await ratesOf(store, asked)) : null
  if (gaps !== null) refuseWithoutTargets(found.clusters, isImported)
  const width = flags.out === undefined ? terminal.columns : outFile.columns
  if (format === 'csv') {
    const write = await rowFormats.csv.load()
    await outFile.write(
      gaps === null
        ? write(clusterRows(found.clusters), { columns: clusterColumns, csv })
        : write(gapRows(gaps), { columns: gapColumns, csv }),
      flags.out,
      terminal,
    )
  } else if (format === 'json') {
    const counted = isImported ? jobs : runs.map(({ job }) => job)
    const document = gaps === null ? clustersDocument(found, { jobs: counted, least }) : gapsDocument(gaps)
    await outFile.write(asStream(`${JSON.stringify(document, null, 2)}\n`), flags.out, terminal)
  } else if (format === 'yaml')
    await outFile.write(asStream(suggestedViews(found.clusters)), flags.out, terminal)
  else {
    const table = gaps === null ? clusterTable(found.clusters, width) : gapTable(gaps, width)
    await outFile.write(asStream(table), flags.out, terminal)
  }
  note(terminal, wrapLines(summary(found, least, gaps), terminal.columns))
  return 0
}

/** Views are written as YAML alone. */
function refuseFormat({ format, json, raw, excel, gaps }: ClusterFlags): 'yaml' {
  if (gaps === true) throw new UsageError('--views and --gaps print two things. Leave one of them out')
  if (format !== undefined || json === true || raw === true || excel === true)
    throw new UsageError('--views prints YAML for the job file. Leave it out, or the format')
  return 'yaml'
}

function noImportedPages(jobs: readonly string[]): string {
  const whose = jobs.length === 1 ? ` for the job ${sanitize(jobs[0] as string)}` : ''
  return `No whole result pages were imported${whose}. What was imported: rankline import list`
}

/** Names of the jobs that are asked for, with what a file says; null after mistakes in it, which were logged. */
async function jobsOf(
  store: Store,
  { job, all, verbose }: ClusterFlags,
  terminal: Terminal,
): Promise<{ readonly jobs: readonly string[]; readonly settings: JobSettings | null } | null> {
  if (all === true) return { jobs: await store.jobNames(), settings: null }
  if (job === undefined)
    throw new UsageError('Name a job or its file, or write --all for every job of the database')
  const named = await findJob(store, { job, verbose }, terminal)
  return named === null ? null : { jobs: [named.name], settings: named.settings }
}

/** The targets of these runs, each once. */
function targetsOf(runs: Awaited<ReturnType<typeof newestRuns>>): readonly Target[] {
  const all = runs.flatMap(({ settings }) => settings.targets)
  return [...new Map(all.map((target) => [`${target.own} ${target.label}`, target])).values()]
}

function isWeb(operation: string): boolean {
  return billableOperation(operation).kind === 'organic'
}

function clusterTable(clusters: readonly Cluster[], width: number): string {
  const several = clusters.filter(({ keywords }) => keywords.length > 1)
  if (several.length === 0) return ''
  const markets = new Set(clusters.map(marketOf))
  const columns = [
    { title: 'cluster', shrinks: true, least: 16 },
    ...(markets.size > 1 ? [{ title: 'market', shrinks: true, dropped: true } as const] : []),
    { title: 'keywords', align: 'right' },
    { title: 'volume', align: 'right' },
    { title: 'best rank', align: 'right' },
    { title: 'your pages', shrinks: true },
  ] as const
  return formatTable(
    columns,
    several.map((one) => [
      sanitize(one.name),
      ...(markets.size > 1 ? [sanitize(marketOf(one))] : []),
      grouped(one.keywords.length),
      one.volume === null ? '' : grouped(one.volume),
      bestRank(one),
      pagesText(one),
    ]),
    width,
  )
}

/** The share of searches that click on a rank, by the curve of the job that asks the keyword. */
async function ratesOf(
  store: Store,
  { jobs, settings }: NonNullable<Awaited<ReturnType<typeof jobsOf>>>,
): Promise<Parameters<typeof gapsOf>[1]> {
  const curves = new Map<string, CtrCurve>()
  for (const job of jobs) curves.set(job, await clickCurves.ofJob(store, { job, settings }))
  return (rank, { jobs: [job = ''] }) => rateOf(curves.get(job) ?? defaultCurve, rank)
}

/** Without rivals, or without own targets, nothing is a gap. */
function refuseWithoutTargets(clusters: readonly Cluster[], isImported: boolean): void {
  const sides = new Set(
    clusters.flatMap(({ keywords }) => keywords.flatMap(({ targets }) => targets.map(({ own }) => own))),
  )
  if (clusters.length > 0 && sides.size < 2)
    throw new UsageError(
      `--gaps compares you with rivals, and there are no ${sides.has(1) ? 'rivals. Name them under competitors:' : 'targets of yours. Name them under targets:'} in the job file${isImported ? '' : '; its next run looks for them in what is stored, too'}`,
    )
}

function gapTable(gaps: readonly Gap[], width: number): string {
  if (gaps.length === 0) return ''
  const hasMarkets = new Set(gaps.map(({ cluster }) => marketOf(cluster))).size > 1
  return formatTable(
    [
      { title: 'cluster', shrinks: true, least: 16 },
      ...(hasMarkets ? [{ title: 'market', shrinks: true } as const] : []),
      { title: 'keywords', align: 'right' },
      { title: 'clicks', align: 'right' },
      { title: 'rival', shrinks: true },
      { title: 'rank', align: 'right' },
      { title: 'its page', shrinks: true, dropped: true },
      { title: 'your rank', align: 'right' },
    ],
    gaps.map(({ cluster, clicks, rivals: [rival], ownRank }) => [
      sanitize(cluster.name),
      ...(hasMarkets ? [sanitize(marketOf(cluster))] : []),
      grouped(cluster.keywords.length),
      clicks === null ? '' : grouped(Math.round(clicks)),
      sanitize(rival?.target ?? ''),
      String(rival?.rank ?? ''),
      sanitize(shortLink(rival?.url ?? '')),
      ownRank === null ? '-' : grouped(ownRank),
    ]),
    width,
  )
}

function marketOf({ operation, params }: Cluster): string {
  return [operation, ...paramTexts(params)].join(' ')
}

function bestRank({ keywords }: Cluster): string {
  const best = Math.min(...keywords.map(({ own }) => own?.rank ?? Number.POSITIVE_INFINITY))
  if (Number.isFinite(best)) return grouped(best)
  return keywords.every(({ own }) => own?.state === 'absent') ? '-' : ''
}

function pagesText({ pages }: Cluster): string {
  const [first] = pages
  if (first === undefined) return ''
  const link = sanitize(shortLink(first.url))
  return pages.length === 1 ? link : `${pages.length} compete: ${link}`
}

/** What was grouped, and how old it is. */
function summary({ clusters, leftOut }: Clustering, least: number, gaps: readonly Gap[] | null): string {
  const keywords = clusters.flatMap((one) => one.keywords)
  const several = clusters.filter((one) => one.keywords.length > 1)
  const together = several.reduce((sum, one) => sum + one.keywords.length, 0)
  const competing = several.filter(({ pages }) => pages.length > 1).length
  return [
    `${count(keywords.length, 'keyword')}: ${grouped(together)} in ${count(several.length, 'cluster')} of several that share at least ${least} of the first ten results, ${grouped(keywords.length - together)} alone.`,
    ...(gaps === null
      ? []
      : [`Rivals are among the first ten and you are not: ${count(gaps.length, 'cluster')}.`]),
    ...(competing === 0 ? [] : [`In ${count(competing, 'cluster')} two or more of your pages compete.`]),
    ...(leftOut === 0 ? [] : [`Left out: ${count(leftOut, 'keyword')} without stored web results.`]),
    ...[null, ...new Set(keywords.flatMap(({ source }) => source ?? []))].flatMap((source) => {
      const shown = keywords.filter((one) => one.source === source)
      const whose =
        source === null ? 'Results' : `${count(shown.length, 'result page')} imported (${source}),`
      return shown.length === 0
        ? []
        : [
            ageText(
              whose,
              shown.map(({ fetchedAt }) => fetchedAt),
            ),
          ]
    }),
  ].join(' ')
}

function ageText(whose: string, instants: readonly number[]): string {
  const [oldest, newest] = [
    instants.reduce((a, b) => Math.min(a, b)),
    instants.reduce((a, b) => Math.max(a, b)),
  ].map((instant) => new Date(instant).toISOString().slice(0, 10)) as [string, string]
  const days = daysBetween(oldest, new Date(systemClock.wall()).toISOString().slice(0, 10))
  const from = oldest === newest ? `${whose} of ${oldest}` : `${whose} of ${oldest} to ${newest}`
  return days > 0 ? `${from}; the oldest are ${count(days, 'day')} old.` : `${from}.`
}

/** The clusters as a document. */
function clustersDocument(
  { clusters, leftOut }: Clustering,
  { jobs, least }: { readonly jobs: readonly string[]; readonly least: number },
) {
  return {
    jobs,
    shared: least,
    keywords: clusters.reduce((sum, { keywords }) => sum + keywords.length, 0),
    left_out: leftOut,
    clusters: clusters.map(({ name, operation, params, volume, keywords, pages }) => ({
      cluster: name,
      operation,
      params,
      volume,
      pages,
      keywords: keywords.map(({ text, volume, tags, jobs, shared, own, ...shown }) => ({
        query: text,
        volume,
        tags,
        jobs,
        shared,
        state: own?.state ?? null,
        rank: own?.rank ?? null,
        url: own?.url ?? null,
        fetched_at: fetchedText(shown),
        source: shown.source,
      })),
    })),
  }
}

/** An instant, or the local day of what was imported. */
function fetchedText({
  fetchedAt,
  source,
}: Pick<Cluster['keywords'][number], 'fetchedAt' | 'source'>): string {
  const instant = new Date(fetchedAt).toISOString()
  return source === null ? instant : instant.slice(0, 10)
}

/** Columns of the clusters as rows, one for each keyword. */
const clusterColumns = [
  { name: 'cluster', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'operation', type: 'text' },
  { name: 'gl', type: 'text' },
  { name: 'hl', type: 'text' },
  { name: 'location', type: 'text' },
  { name: 'volume', type: 'long' },
  { name: 'shared', type: 'integer' },
  { name: 'state', type: 'text' },
  { name: 'rank', type: 'integer' },
  { name: 'url', type: 'text' },
  { name: 'fetched_at', type: 'instant' },
  { name: 'job', type: 'text' },
  { name: 'tags', type: 'text' },
  { name: 'params', type: 'json' },
  { name: 'source', type: 'text' },
] as const

function* clusterRows(clusters: readonly Cluster[]) {
  for (const { name, operation, params, keywords } of clusters)
    for (const { text, volume, shared, own, jobs, tags, ...shown } of keywords)
      yield [
        name,
        text,
        operation,
        params.gl ?? null,
        params.hl ?? null,
        params.location ?? null,
        volume,
        shared,
        own?.state ?? null,
        own?.rank ?? null,
        own?.url ?? null,
        fetchedText(shown),
        jobs.join(';'),
        tags.join(';'),
        JSON.stringify(params),
        shown.source,
      ]
}

/** Settings of a job file that give each cluster of several keywords a tag and a view. Texts are written as JSON, which YAML reads. */
function suggestedViews(clusters: readonly Cluster[]): string {
  const several = clusters.filter(({ keywords }) => keywords.length > 1)
  if (several.length === 0) return ''
  const tags = new Map<string, Set<string>>()
  for (const { name, keywords } of several)
    for (const { text, tags: own } of keywords) {
      const known = tags.get(text) ?? new Set(own)
      tags.set(text, known.add(name))
    }
  const names = [...new Set(several.map(({ name }) => name))]
  return [
    '# For the job file: a view of each cluster, and the tags of its queries.',
    'views:',
    ...names.map((name) => `  - { name: ${JSON.stringify(name)}, tags: [${JSON.stringify(name)}] }`),
    'queries:',
    ...[...tags].map(
      ([text, all]) => `  - { query: ${JSON.stringify(text)}, tags: ${JSON.stringify([...all])} }`,
    ),
    '',
  ].join('\n')
}

/** The gaps as a document. Clicks are rounded. */
export function gapsDocument(gaps: readonly Gap[]) {
  return gaps.map(
    ({ cluster: { name, operation, params, volume, keywords }, clicks, rivals, ownRank, unknown }) => ({
      cluster: name,
      operation,
      params,
      volume,
      clicks: rounded(clicks),
      own_rank: ownRank,
      unknown_keywords: unknown,
      rivals: rivals.map(({ clicks, ...rival }) => ({ ...rival, clicks: rounded(clicks) })),
      keywords: keywords.map(({ text, volume }) => ({ query: text, volume })),
    }),
  )
}

function rounded(clicks: number | null): number | null {
  return clicks === null ? null : Math.round(clicks)
}

/** Columns of the gaps as rows: each with the rival that has the most clicks. */
const gapColumns = [
  { name: 'cluster', type: 'text' },
  { name: 'operation', type: 'text' },
  { name: 'gl', type: 'text' },
  { name: 'hl', type: 'text' },
  { name: 'location', type: 'text' },
  { name: 'keywords', type: 'integer' },
  { name: 'volume', type: 'long' },
  { name: 'clicks', type: 'long' },
  { name: 'rival', type: 'text' },
  { name: 'rival_rank', type: 'integer' },
  { name: 'rival_url', type: 'text' },
  { name: 'own_rank', type: 'integer' },
  { name: 'unknown_keywords', type: 'integer' },
  { name: 'params', type: 'json' },
] as const

function* gapRows(gaps: readonly Gap[]) {
  for (const { cluster, clicks, rivals, ownRank, unknown } of gaps) {
    const { name, operation, params, keywords, volume } = cluster
    const [rival] = rivals
    yield [
      name,
      operation,
      params.gl ?? null,
      params.hl ?? null,
      params.location ?? null,
      keywords.length,
      volume,
      rounded(clicks),
      rival?.target ?? null,
      rival?.rank ?? null,
      rival?.url ?? null,
      ownRank,
      unknown,
      JSON.stringify(params),
    ]
  }
}

type Clustering = ReturnType<typeof clustersOf>
