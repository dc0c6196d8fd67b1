import type { RunQuality } from '../../../model/run.ts'
import { count, grouped } from '../../../model/text.ts'
import { parseUrl } from '../../../model/url.ts'
import { sanitize } from '../../../output/terminal.ts'
import { localeText, paramsApart, shortUrl, valueRank } from '../../cells.ts'
import { columnMetrics, definitionOf, deltaText, type Headline, valueText } from '../../headline.ts'
import { kindLabels, type Part, partLabel } from '../../history/filter-history.ts'
import type { Keyword, RankHistory, TrackedTarget } from '../../history/rank-history.ts'
import type { MetricOptions } from '../../metrics/figure.ts'
import { ratioMetrics } from '../../metrics/index.ts'
import { type Mover, movementNames } from '../../metrics/movements.ts'
import { type LandingPage, landingPages, urlSwaps } from '../../metrics/pages.ts'
import { type Bucket, buckets, top } from '../../metrics/positions.ts'
import type { WholeReport } from '../../report.ts'
import type { Segment } from '../../segments.ts'
import {
  linesOf,
  type PartOfTarget,
  type Summary,
  type TargetSummary,
  uncountedTexts,
} from '../../summary.ts'
import { wordsOf } from '../../words/words.ts'

const say = wordsOf('en')
const partWords = { ranked: 'ranked', observed: 'checked', expected: 'asked' } as const

/** The name of a target; own targets are bold. */
export function targetName({ label, own }: Pick<TrackedTarget, 'label' | 'own'>): string {
  return own ? `**${mdText(label)}**` : mdText(label)
}

/** The target; the kind of results and the engine if there are several. */
function nameColumns(parts: readonly Part[]): readonly MdColumn<PartOfTarget>[] {
  const several = (of: (part: Part) => string) => new Set(parts.map(of)).size > 1
  const target: MdColumn<PartOfTarget> = { title: 'target', cell: (part) => targetName(part.target) }
  // For clients engines are named by their kinds of results.
  if (parts.every((part) => partLabel(part, say) === part.engine))
    return [
      target,
      ...(parts.length > 1 ? [{ title: 'results', cell: (part: PartOfTarget) => part.engine }] : []),
    ]
  return [
    target,
    ...(several(({ kind }) => kind)
      ? [{ title: 'results', cell: ({ kind }: PartOfTarget) => kindLabels[kind] }]
      : []),
    ...(several(({ engine }) => engine)
      ? [{ title: 'engine', cell: ({ engine }: PartOfTarget) => engine }]
      : []),
  ]
}

function headlineColumns<T extends { readonly figures: Headline }>(
  lines: readonly T[],
): readonly MdColumn<T>[] {
  return columnMetrics(lines).map((metric) =>
    toTheRight(metric.label, ({ figures }) =>
      `${valueText(figures[metric.name].value, metric)} ${deltaText(metric, figures[metric.name])}`.trim(),
    ),
  )
}

/** The headline figures of every target, with their coverage. */
export function headlineSection(summary: Summary, measure: MetricOptions): readonly string[] {
  const { targets, curve, parts, otherParts } = summary
  const of = (some: readonly Part[]) => {
    const lines = linesOf(summary, some)
    return mdTable(figureColumns(some, lines), lines)
  }
  const by = ratioMetrics.map(({ name }) => {
    const { label, denominator } = definitionOf(name, measure)
    return `${label}: divided by ${denominator}`
  })
  return [
    '## Figures',
    of(parts),
    [
      ...bothDays(targets),
      `${by.join('; ')}.`,
      ...uncountedTexts(targets[0], parts),
      `CTR: ${mdText(curve.name)}, ${mdText(curve.version)}. **Bold**: own.`,
    ].join(' '),
    ...(otherParts.length === 0 ? [] : ['## Figures of other kinds of results', of(otherParts)]),
  ]
}

function figureColumns(
  parts: readonly Part[],
  lines: readonly PartOfTarget[],
): readonly MdColumn<PartOfTarget>[] {
  return [
    ...nameColumns(parts),
    ...(['ranked', 'observed', 'expected'] as const).map((part) =>
      toTheRight<PartOfTarget>(partWords[part], ({ coverage }) => String(coverage[part])),
    ),
    ...headlineColumns(lines),
  ]
}

function bothDays(targets: readonly TargetSummary[]): readonly string[] {
  const both = targets[0]?.parts[0]?.knownOnBothDays ?? 0
  return both === 0 ? [] : [`▲ ▼: of ${count(both, 'keyword')} known on both days.`]
}

/** The headline figures of own targets per tag; nothing if no keyword has a tag. */
export function tagSection(
  segments: readonly Segment[],
  { targets }: RankHistory,
  { parts }: Summary,
): readonly string[] {
  if (segments.every(({ tag }) => tag === null)) return []
  const lines = segments.flatMap(({ tag, keywords, targets: all }) =>
    all.flatMap(([place, partOfTarget]) => {
      const target = targets[place] as TrackedTarget
      if (!target.own) return []
      return linesOf({ targets: [{ target, parts: partOfTarget }] }, parts).map((line) => ({
        ...line,
        tag,
        keywords,
      }))
    }),
  )
  const columns: readonly MdColumn<(typeof lines)[number]>[] = [
    { title: 'tag', cell: ({ tag }) => (tag === null ? '*none*' : mdText(tag)) },
    ...nameColumns(parts),
    toTheRight('keywords', ({ keywords }) => String(keywords)),
    ...headlineColumns(lines),
    toTheRight('top 10', ({ distribution }) => String(top(distribution, 10))),
  ]
  return lines.length === 0 ? [] : ['## By tag', mdTable(columns, lines)]
}

/** A range of ranks, or why there is no rank. */
function bucketText(bucket: Bucket): string {
  return bucket === 'absent' || bucket === 'unknown' ? say.charts.ranges[bucket] : bucket
}

/** Keywords by rank and by movement; each table adds up to all keywords. */
export function countsSection(summary: Summary): readonly string[] {
  const { parts } = summary
  const lines = linesOf(summary, parts)
  const ranks = buckets.map((bucket) =>
    toTheRight<PartOfTarget>(bucketText(bucket), ({ distribution }) => String(distribution[bucket])),
  )
  const moves = movementNames.map((name) =>
    toTheRight<PartOfTarget>(say.ranks.group(name, null), ({ movements }) => String(movements[name])),
  )
  return [
    '## Distribution of ranks',
    mdTable([...nameColumns(parts), ...ranks], lines),
    '## Movements',
    mdTable([...nameColumns(parts), ...moves], lines),
  ]
}

/** The query; the engine and the locale if there are several. */
export function keywordColumns<T>(
  { keywords, series }: RankHistory,
  keywordOf: (row: T) => Keyword,
): readonly MdColumn<T>[] {
  const asked = [...new Set(series.map(({ keyword }) => keyword))].map((place) => keywords[place] as Keyword)
  const several = (of: (keyword: Keyword) => string) => new Set(asked.map(of)).size > 1
  const operation = (keyword: Keyword) => keyword.operation
  const apart = paramsApart(keywords)
  const locale = (keyword: Keyword) =>
    [localeText(keyword.params), ...apart(keyword)].filter((part) => part !== '').join(' ')
  return [
    { title: 'query', cell: (row) => mdText(keywordOf(row).query) },
    ...(several(operation) ? [{ title: 'engine', cell: (row: T) => mdText(operation(keywordOf(row))) }] : []),
    ...(several(locale) ? [{ title: 'locale', cell: (row: T) => mdText(locale(keywordOf(row))) }] : []),
  ]
}

/** The greatest winners and losers of each own target. */
export function moversSection({ targets }: Summary, history: RankHistory): readonly string[] {
  const columns: readonly MdColumn<Mover>[] = [
    ...keywordColumns<Mover>(history, ({ status }) => status.keyword),
    toTheRight('before', ({ status: { baseline } }) => (baseline === null ? '' : valueRank(baseline.value))),
    toTheRight('now', ({ status }) => valueRank(status.current)),
    toTheRight('gain, clicks a month', gainText),
  ]
  const own = targets.filter(({ target }) => target.own)
  return own.flatMap(({ target, winners, losers }) => {
    const whose = own.length > 1 ? `, ${mdText(target.label)}` : ''
    return [
      ...(winners.length === 0 ? [] : [`## Winners${whose}`, mdTable(columns, winners)]),
      ...(losers.length === 0 ? [] : [`## Losers${whose}`, mdTable(columns, losers)]),
    ]
  })
}

/** Clicks a month; a dash if the volume is not known. */
function gainText({ gain }: Mover): string {
  if (gain === null) return '-'
  const size = Math.abs(gain)
  const number = size.toLocaleString('en-US', { maximumFractionDigits: size < 10 ? 1 : 0 })
  return number === '0' ? number : `${gain < 0 ? '-' : '+'}${number}`
}

/** Each own target against every other target. */
export function headToHeadSection({ targets }: Summary): readonly string[] {
  const pairs = targets
    .filter(({ target }) => target.own)
    .flatMap(({ target, competitors: against }) => against.map((rivalry) => ({ target, rivalry })))
  if (pairs.length === 0) return []
  const counts = (['won', 'lost', 'tied', 'neither', 'undecided'] as const).map((name) =>
    toTheRight<(typeof pairs)[number]>(name, ({ rivalry }) => String(rivalry[name])),
  )
  return [
    '## Head to head',
    mdTable(
      [
        { title: 'target', cell: ({ target }) => targetName(target) },
        { title: 'against', cell: ({ rivalry }) => targetName(rivalry.other) },
        ...counts,
      ],
      pairs,
    ),
  ]
}

/** How the last runs ended and what they cost. */
export function runsSection(runs: readonly RunQuality[]): readonly string[] {
  if (runs.length === 0) return []
  const number = (title: string, of: (run: RunQuality) => number) =>
    toTheRight<RunQuality>(title, (run) => grouped(of(run)))
  const last = runs.slice(-mostRuns)
  return [
    `## ${last.length === 1 ? 'Run' : 'Last runs'}`,
    mdTable(
      [
        number('run', ({ run }) => run),
        { title: 'day', cell: ({ date }) => date },
        { title: 'ended', cell: ({ finishReason }) => (finishReason ?? 'not yet').replaceAll('_', ' ') },
        number('tasks', ({ tasks }) => tasks.planned),
        number('done', ({ tasks }) => tasks.done),
        number('failed', ({ tasks }) => tasks.failed),
        number('credits', ({ spent }) => spent),
        number('possibly billed', ({ ambiguous }) => ambiguous),
        ...(last.some(({ mismatched }) => mismatched)
          ? [number('mismatched answers', ({ mismatched = 0 }) => mismatched)]
          : []),
      ],
      last,
    ),
  ]
}

const mostRuns = 10

/** Keywords that a section lists. */
const most = 20

/** Keywords for which several pages of one own target compete. */
export function urlSwapsSection(history: RankHistory): readonly string[] {
  const all = urlSwaps(history).filter(({ target }) => history.targets[target]?.own === true)
  if (all.length === 0) return []
  const shown = all.slice(0, most)
  const columns: readonly MdColumn<(typeof all)[number]>[] = [
    ...keywordColumns<(typeof all)[number]>(history, ({ keyword }) => history.keywords[keyword] as Keyword),
    { title: 'target', cell: ({ target }) => mdText(history.targets[target]?.label ?? '') },
    toTheRight('page swaps', ({ swaps }) => String(swaps)),
    toTheRight('days together', ({ together }) => String(together.length)),
    {
      title: 'pages, and the days on which they ranked',
      cell: ({ pages }) => pages.map(pageText).join('<br>'),
    },
  ]
  const pageText = ({ link, days }: (typeof all)[number]['pages'][number]): string => {
    const url = history.links[link] as string
    return `${mdLink(shortUrl(url), url)} (${count(days.length, 'day')})`
  }
  return ['## Pages that compete with each other', mdTable(columns, shown), ...more(all.length)]
}

function more(all: number): readonly string[] {
  return all > most ? [`And ${count(all - most, 'more keyword')}.`] : []
}

/** Keywords of own targets for which another page ranks than the target page. */
export function landingSection({ history, report }: WholeReport): readonly string[] {
  const isOwn = ({ status }: LandingPage) => history.targets[status.series.target]?.own === true
  const wrong = landingPages(report.statuses, history).filter(
    (page) => page.state === 'wrong page' && isOwn(page),
  )
  if (wrong.length === 0) return []
  const columns: readonly MdColumn<LandingPage>[] = [
    ...keywordColumns<LandingPage>(history, ({ status }) => status.keyword),
    {
      title: 'target',
      cell: ({ status }) => mdText(history.targets[status.series.target]?.label ?? ''),
    },
    toTheRight('rank', ({ status }) => valueRank(status.current)),
    { title: 'page that ranks', cell: ({ link }) => pageLink(link) },
    { title: 'target page', cell: ({ status }) => pageLink(status.keyword.url) },
    toTheRight('its rank', ({ intendedRank }) => String(intendedRank ?? '')),
  ]
  return [
    '## Other pages than the target page',
    mdTable(columns, wrong.slice(0, most)),
    ...more(wrong.length),
  ]
}

function pageLink(link: string | null): string {
  return link === null ? '' : mdLink(shortUrl(link), link)
}

/** Invisible and without width; it separates the two sides of a name. */
const joiner = '\u2060'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes text from outside: no emphasis, code, links, HTML, lists, headings or cells can come of it. A word joiner keeps
 * sites from reading mentions (`@name`) and references (`#12`) in it.
 */
export function mdText(text: string): string {
  const line = sanitize(text).replace(/\s+/g, ' ').trim()
  return (
    line
      .replace(/[\\`*_[\]|~$!]/g, '\\$&')
      // Lists and rules.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Addresses that sites make links of.
      .replace(/\b(www)\./gi, '$1\\.')
      .replace(/([a-z]):(?=\S)/gi, '$1\\:')
      .replace(/#/g, `\\#${joiner}`)
      .replace(/@/g, `@${joiner}`)
      .replace(/[&<>]/g, (sign) => entities[sign] as string)
  )
}

/** A link if it can be opened, else its text. */
export function mdLink(text: string, link: string): string {
  const href = hrefOf(link)
  return href === null ? mdText(text) : `[${mdText(text)}](${href})`
}

/** The address as browsers send it, with the characters escaped that end a link; null if it is not a web address. */
function hrefOf(link: string): string | null {
  const url = parseUrl(link)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null
  return url.href
    .replace(
      /[^\w.~:/?#@!$',;=%&+-]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .replaceAll('&', '&amp;')
}

/** A column of a table. */
export interface MdColumn<T> {
  readonly title: string
  readonly align?: 'right'
  /** Markdown. */
  readonly cell: (row: T, place: number) => string
}

/** A column whose cells stand to the right, as numbers do. */
export function toTheRight<T>(title: string, cell: MdColumn<T>['cell']): MdColumn<T> {
  return { title, align: 'right', cell }
}

/** A table; its cells are Markdown. */
export function mdTable<T>(columns: readonly MdColumn<T>[], rows: readonly T[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row, place) => line(columns.map(({ cell }) => cell(row, place)))),
  ].join('\n')
}
