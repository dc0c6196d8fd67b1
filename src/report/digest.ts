import type { Audience } from '../model/settings.ts'
import { count, grouped } from '../model/text.ts'
import { daysBetween } from '../model/time.ts'
import type { DigestLine, DigestMessage, DigestSection } from '../store/sqlite/unattended/schema.ts'
import { capitalised } from './cells.ts'
import { deltaText, isKnownOnBothDays, valueText } from './headline.ts'
import { alignDepths, type KeywordStatus } from './history/keyword-status.ts'
import { headlineMetrics } from './metrics/index.ts'
import type { Summary, TargetSummary } from './summary.ts'
import type { CountedSum } from './words/en/story.ts'
import { type Words, wordsOf } from './words/words.ts'

/** What a digest is made of. The week is the seven days before it is sent. */
export interface DigestFigures {
  readonly job: string
  /** Figures of the last day beside those of a week before; null where the job has no ranks. */
  readonly summary: Summary | null
  /** The sentences that reports of the week begin with, by own target. */
  readonly sentences: ReadonlyMap<string, readonly string[]>
  /** Keywords of each own target among the first ten, in the order of the targets of the summary. */
  readonly topTen: ReadonlyMap<string, TopRankCount>
  /** What Search Console counted of the keywords of each own target; missing where it does not cover the time. */
  readonly counted: ReadonlyMap<string, CountedSum>
  /** Runs that began within the week, and how many of them are not complete. */
  readonly runs: { readonly all: number; readonly incomplete: number }
  /** Tasks of these runs. */
  readonly tasks: { readonly planned: number; readonly done: number }
  /** Credits of the week, and of the one before. */
  readonly credits: { readonly week: number; readonly weekBefore: number }
  readonly openAlerts: readonly string[]
}

/** How many keywords rank within the top N. */
export interface TopRankCount {
  readonly now: number
  /** Keywords that were observed. */
  readonly observed: number
  /** How many more or fewer of the keywords that were observed on both days; null where there are none. */
  readonly change: number | null
}

/** As many of the open alerts are named. */
const mostAlerts = 10

/** The digest of a job in words. */
export function digestMessage(figures: DigestFigures, audience: Audience): DigestMessage {
  const { job, summary, sentences, topTen, counted } = figures
  const own = summary?.targets.filter(({ target }) => target.own) ?? []
  return {
    job,
    date: summary?.date ?? null,
    comparedWith: summary?.compared.at(-1) ?? null,
    sections: [
      ...own.map((target) => ({
        ...targetSection(target, topTen.get(target.target.label) ?? null, counted.get(target.target.label)),
        sentences: sentences.get(target.target.label) ?? [],
      })),
      ...(audience === 'client' ? [] : [weekSection(figures, wordsOf('en'))]),
    ],
  }
}

function targetSection(
  { target, figures, movements }: Pick<TargetSummary, 'target' | 'figures' | 'movements'>,
  topTen: TopRankCount | null,
  counted: CountedSum | undefined,
): DigestSection {
  const headlines = headlineMetrics.flatMap((metric): readonly DigestLine[] => {
    const figure = figures[metric.name]
    // Without volumes, for instance, a metric says nothing at all.
    if (figure.value === null) return []
    const change = deltaText(metric, figure)
    return [
      { label: capitalised(metric.label), value: valueText(figure.value, metric), change: change || null },
    ]
  })
  const { improved, declined, entered, left, same } = movements
  const isCompared = improved + declined + entered + left + same > 0
  const moved = [
    `${grouped(improved)} up`,
    `${grouped(declined)} down`,
    `${grouped(entered)} entered`,
    `${grouped(left)} left`,
  ]
  return {
    title: target.label,
    lines: [
      ...headlines,
      ...(counted === undefined ? [] : [countedLine(counted)]),
      ...(topTen === null ? [] : [topRanksLine(topTen)]),
      ...(isCompared ? [{ label: 'Keywords', value: moved.join(', '), change: null }] : []),
    ],
  }
}

/** Of as many days as are known, beside what is estimated for a month. */
function countedLine({ clicks, impressions, days }: CountedSum): DigestLine {
  const { figure, story } = wordsOf('en')
  const about = story.countedIn(clicks, daysBetween(days.from, days.until) + 1)
  return {
    label: 'Search Console',
    value: `${about}, ${figure(impressions, 'clicks a month')} impressions`,
    change: null,
  }
}

function topRanksLine({ now, observed, change }: TopRankCount): DigestLine {
  const sign = change === null ? null : change === 0 ? '=' : `${change > 0 ? '▲' : '▼'} ${Math.abs(change)}`
  return { label: 'Top 10', value: `${grouped(now)} of ${count(observed, 'keyword')}`, change: sign }
}

/**
 * Counts the keywords of a target down to a rank, and of those observed on both days how many more there are.
 *
 * @param last the rank: 10 for the first ten
 */
export function topRanksOf(statuses: readonly KeywordStatus[], last: number): TopRankCount {
  const isIn = ({ rank }: KeywordStatus['current']): boolean => rank !== null && rank <= last
  const pairs = statuses
    .filter(isKnownOnBothDays)
    .map(({ current, baseline }) => alignDepths(current, baseline.value))
  const change = pairs.reduce((sum, [now, before]) => sum + Number(isIn(now)) - Number(isIn(before)), 0)
  return {
    now: statuses.filter(({ current }) => isIn(current)).length,
    observed: statuses.filter(({ current }) => current.state !== 'unknown').length,
    change: pairs.length === 0 ? null : change,
  }
}

/** What the runs of the week came to. */
export function weekSection({ runs, tasks, credits, openAlerts }: DigestFigures, say: Words): DigestSection {
  const { week } = say.email
  const { all, incomplete } = runs
  const shown = openAlerts.slice(0, mostAlerts)
  const more = openAlerts.length - shown.length
  return {
    title: week.title,
    lines: [
      {
        label: week.runs,
        value: say.number(all),
        change: incomplete === 0 ? null : week.incomplete(incomplete),
      },
      ...(tasks.planned === 0
        ? []
        : [{ label: week.coverage, value: coverageText(tasks, say), change: null }]),
      {
        label: week.spent,
        value: week.credits(credits.week),
        change: week.weekBefore(credits.weekBefore),
      },
      {
        label: week.openAlerts,
        value: openAlerts.length === 0 ? week.none : say.number(openAlerts.length),
        change: null,
      },
      ...shown.map((value) => ({ label: week.alert, value, change: null })),
      ...(more > 0 ? [{ label: week.alert, value: week.moreAlerts(more), change: null }] : []),
    ],
  }
}

/** Rounded down: 100 % is nothing missing. */
function coverageText({ planned, done }: DigestFigures['tasks'], say: Words): string {
  return say.email.week.covered(Math.floor((1_000 * done) / planned) / 1_000, done, planned)
}
