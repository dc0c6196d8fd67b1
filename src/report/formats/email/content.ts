import { sanitizeLine } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/outbox.ts'
import { citationsIn } from '../../build-data.ts'
import { capitalised, placesOf } from '../../cells.ts'
import type { DailyFigures } from '../../daily.ts'
import type { TopRankCount } from '../../digest.ts'
import { conclusions } from '../../findings/conclusions.ts'
import type { Finding } from '../../findings/finding.ts'
import { reasonsOf, untoldClicks } from '../../findings/next-actions/say.ts'
import { sentenceOf } from '../../findings/say.ts'
import { isSwing } from '../../findings/swing.ts'
import type { ComparedFigure } from '../../headline.ts'
import { partLabel } from '../../history/filter-history.ts'
import type { DayValue, Keyword, RankHistory } from '../../history/rank-history.ts'
import { type HeadlineName, metrics } from '../../metrics/index.ts'
import type { Mover } from '../../metrics/movements.ts'
import { builtHistory, type ReportSource } from '../../report.ts'
import type { TargetSummary } from '../../summary.ts'
import { comparisonInWords, daysInWords } from '../../words/period-text.ts'
import type { Words } from '../../words/words.ts'
import { type OwnFigures, ownFigures, type TrendDay } from '../figures-json.ts'

/** What the message says, in words; both of its parts are written from it. */
export interface EmailContent {
  /** For whom it is: the client, else the title, else the job. */
  readonly name: string
  readonly subject: string
  readonly period: string
  readonly compared: string
  readonly sentences: readonly string[]
  /** Site of the figures; null where there is one own target only. */
  readonly site: string | null
  readonly figures: readonly EmailFigure[]
  readonly trend: EmailTrend | null
  readonly sites: readonly EmailSite[]
  readonly winners: EmailMovers
  readonly losers: EmailMovers
  readonly actions: readonly EmailAction[]
  /** What the runs of the week came to; null where that is not told. */
  readonly week: DigestSection | null
  /** How many keywords it is of, as of which day; null where nothing was checked. */
  readonly asOf: string | null
  /** The last day of the report, YYYY-MM-DD. */
  readonly day: string | null
}

export interface EmailFigure {
  readonly label: string
  readonly value: string
  readonly change: WrittenChange | null
}

/** Visibility over the period. */
export interface EmailTrend {
  readonly text: string
  readonly range: string
  /** The days that are shown. */
  readonly columns: readonly TrendDay[]
}

export interface EmailSite {
  readonly label: string
  readonly isOwn: boolean
  /** From 0 to 1. */
  readonly share: number
  readonly value: string
  readonly change: WrittenChange | null
}

export interface EmailMovers {
  readonly lines: readonly EmailMover[]
  /** How many more there are. */
  readonly more: number
}

interface EmailMover {
  readonly keyword: string
  readonly ranks: string
  /** The gain in clicks a month, with its sign; null where the volume is not known. */
  readonly clicks: string | null
  /** The gain beside the greatest of all shown, from 0 to 1. */
  readonly share: number
}

export interface EmailAction {
  readonly keyword: string
  readonly reason: string
  /** Clicks a month at stake; null where they are not known, or the reason says them. */
  readonly clicks: number | null
  readonly page: string | null
}

/** Winners and losers that are shown. */
const mostMovers = 5
/** Keywords that something should be done about. */
const mostActions = 5
/** Sites that are compared, own ones included. */
const mostSites = 6

/** Reads what the message is made of. */
export function emailContent(source: ReportSource, say: Words, week: DigestSection | null): EmailContent {
  const { job, presentation } = source
  const { history } = builtHistory(source)
  const name = presentation.client ?? presentation.title ?? sanitizeLine(job)
  const figures = ownFigures(source, mostMovers)
  const { sentences, actions } = conclusionsOf(source, figures, say)
  const subject = say.email.subject(name, (sentences[0] ?? '').replace(/\.$/, ''))
  const about = { name, sentences, subject, week: week === null ? null : harmlessSection(week) }
  if (figures === null)
    return {
      ...about,
      period: '',
      compared: '',
      site: null,
      figures: [],
      trend: null,
      sites: [],
      actions,
      winners: noMovers,
      losers: noMovers,
      asOf: null,
      day: history.days.at(-1) ?? null,
    }
  const { summary, own, from, until } = figures
  const owns = summary.targets.filter(({ target }) => target.own).length
  return {
    ...about,
    period: daysInWords(say, { from, until }),
    compared: comparisonInWords(say, source.ranked.compare, summary.compared),
    site: owns > 1 ? sanitizeLine(own.target.label) : null,
    figures: figuresOf(figures, say),
    trend: trendOf(figures, say),
    sites: sitesOf(figures, say),
    ...moversOf(own, keywordNames(history), say),
    actions,
    asOf: asOfText(figures, say),
    day: until,
  }
}

/** How many keywords there are and of which day; and what the figures are of, if the job asks for several kinds or engines. */
function asOfText({ summary, until, parts: [told, ...others] }: OwnFigures, say: Words): string {
  const text = say.email.asOf(say.email.keywords(summary.keywords), until)
  if (told === undefined || others.length === 0) return text
  const names = others.map((one) => partLabel(one, say))
  return `${text} ${say.overview.figuresOf(partLabel(told, say), names)}`
}

/** Texts of alerts have queries and addresses of strangers in them. */
function harmlessSection({ title, lines }: DigestSection): DigestSection {
  return { title, lines: lines.map((line) => ({ ...line, value: sanitizeLine(line.value) })) }
}

/** The headline, and what to do next. */
function conclusionsOf(source: ReportSource, figures: OwnFigures | null, say: Words) {
  const { measure, ranked } = source
  const { history } = builtHistory(source)
  const all = conclusions(history, { measure, compare: ranked.compare, citations: citationsIn(source) })
  const own = all.find(({ target }) => target === figures?.own.target) ?? all[0]
  const found: readonly Finding[] = own?.findings ?? [{ kind: 'not run' }]
  const nameOf = keywordNames(history)
  return {
    sentences: found.map((finding) => sentenceOf(finding, say, sanitizeLine)),
    actions: (own?.actions ?? []).slice(0, mostActions).map((action) => ({
      keyword: nameOf(action.status.keyword),
      reason: reasonsOf(action, say, sanitizeLine),
      clicks: untoldClicks(action),
      page: action.page === null ? null : sanitizeLine(action.page),
    })),
  }
}

const noMovers: EmailMovers = { lines: [], more: 0 }

function figuresOf({ own, topTen, topThree, daysOf }: OwnFigures, say: Words): readonly EmailFigure[] {
  const { labels, ofChecked } = say.email
  const { figures, target } = own
  const days = daysOf(target)
  const headline = figureOrder.flatMap((name): readonly EmailFigure[] => {
    const figure = figures[name]
    if (figure.value === null) return []
    return [
      {
        label: capitalised(say.metric(name, {}).label),
        value: figureText(name, figure.value, say),
        change: changeText(name, figure, days, say),
      },
    ]
  })
  const counted = (label: string, { now, observed, change }: TopRankCount): EmailFigure => ({
    label,
    value: ofChecked(now, observed),
    change: change === null ? null : countChange(change, say),
  })
  return [...headline, counted(labels.top_10, topTen), counted(labels.top_3, topThree)]
}

/** The most telling figure first. */
const figureOrder = ['visibility', 'clicks', 'average_position', 'share_of_voice'] as const

function countChange(change: number, say: Words): WrittenChange {
  const { up, down, unchanged } = say.email
  if (change === 0) return { text: unchanged, way: 'same' }
  const size = say.number(Math.abs(change))
  return change > 0 ? { text: up(size), way: 'better' } : { text: down(size), way: 'worse' }
}

/** Columns that fit. */
const mostColumns = 31

function trendOf({ own, trend }: OwnFigures, say: Words): EmailTrend | null {
  const step = Math.ceil(trend.length / mostColumns)
  // Counted from the end: the last day is shown.
  const columns = trend.filter((_, index) => (trend.length - 1 - index) % step === 0)
  const known = columns.filter((one): one is { day: string; value: number } => one.value !== null)
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined || known.length < 3) return null
  const values = known.map(({ value }) => value)
  // Columns of one height say nothing that the figure does not.
  if (new Set(values).size < 2) return null
  return {
    text: say.email.trendText(sanitizeLine(own.target.label), first.day, first.value, last.day, last.value),
    range: say.email.trendRange(Math.min(...values), Math.max(...values)),
    columns,
  }
}

function sitesOf({ summary, daysOf }: OwnFigures, say: Words): readonly EmailSite[] {
  const sites = summary.targets.flatMap(({ target, figures }): readonly EmailSite[] => {
    const { visibility } = figures
    const { value } = visibility
    if (value === null) return []
    return [
      {
        label: sanitizeLine(target.label),
        isOwn: target.own,
        share: value,
        value: figureText('visibility', value, say),
        change: changeText('visibility', visibility, daysOf(target), say),
      },
    ]
  })
  if (sites.length < 2) return []
  return [...sites].sort((a, b) => b.share - a.share).filter((site, place) => site.isOwn || place < mostSites)
}

/** A query that is asked in several places or languages is told apart by them. */
function keywordNames({ keywords }: RankHistory): (keyword: Keyword) => string {
  const kinds = [...new Set(keywords.map(({ kind }) => kind))]
  const byKind = new Map(
    kinds.map((kind) => [
      kind,
      placesOf(
        keywords.filter((one) => one.kind === kind),
        ', ',
      ),
    ]),
  )
  return (keyword) => {
    const place = byKind.get(keyword.kind)?.(keyword) ?? ''
    return sanitizeLine(place === '' ? keyword.query : `${keyword.query} (${place})`)
  }
}

function moversOf(
  { winners, losers, movements }: TargetSummary,
  nameOf: (keyword: Keyword) => string,
  say: Words,
) {
  const gains = [...winners, ...losers].map(({ gain }) => Math.abs(gain ?? 0))
  const most = Math.max(...gains, 1)
  const lines = (movers: readonly Mover[]) =>
    movers.map(({ status, gain }) => ({
      keyword: nameOf(status.keyword),
      ranks: say.email.fromTo(
        status.baseline === null ? say.ranks.notKnown : rankOf(status.baseline.value, say),
        rankOf(status.current, say),
      ),
      clicks: gain === null ? null : say.email.movers.gain(gain),
      share: Math.abs(gain ?? 0) / most,
    }))
  return {
    winners: { lines: lines(winners), more: movements.improved + movements.entered - winners.length },
    losers: { lines: lines(losers), more: movements.declined + movements.left - losers.length },
  }
}

function rankOf({ state, rank, exactness, absentDepth }: DayValue, say: Words): string {
  const { notInTop, estimated, notKnown } = say.ranks
  if (state === 'unknown') return notKnown
  const text = rank === null ? notInTop(absentDepth ?? 0) : say.number(rank)
  return exactness === 'estimated' ? estimated(text) : text
}

/** A change in words, and whether it is good for the site. `same`: none, or no more than the figure usually swings. */
export interface WrittenChange {
  readonly text: string
  readonly way: 'better' | 'worse' | 'same'
}

/** A value as a reader knows it. */
function figureText(name: HeadlineName, value: number, say: Words): string {
  const { unit } = metrics[name]
  if (unit === 'share') return say.percent(value)
  return unit === 'rank' ? say.decimal(value) : say.number(Math.round(value))
}

/**
 * How a figure changed since the compared day; null where that is not known.
 *
 * @param days say how much it usually swings
 */
function changeText(
  name: HeadlineName,
  figure: ComparedFigure,
  days: readonly DailyFigures[],
  say: Words,
): WrittenChange | null {
  const { cohort } = figure
  if (cohort === null || cohort.delta === null) return null
  const { unit, better } = metrics[name]
  const { points, up, down, unchanged, better: isBetter, worse } = say.email
  const size = Math.abs(cohort.delta) * (unit === 'share' ? 100 : 1)
  const digits = unit === 'share' || unit === 'rank' ? 1 : 0
  if (Number(size.toFixed(digits)) === 0) return { text: unchanged, way: 'same' }
  const rises = cohort.delta > 0
  const isGood = rises === (better === 'higher')
  const way = isSwing(name, figure, days) ? 'same' : isGood ? 'better' : 'worse'
  if (unit === 'share') return { text: rises ? up(points(size)) : down(points(size)), way }
  const number = say.decimal(size, digits)
  // A position that goes up is a number that goes down.
  if (better === 'lower') return { text: isGood ? isBetter(number) : worse(number), way }
  return { text: rises ? up(number) : down(number), way }
}
