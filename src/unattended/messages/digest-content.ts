import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import { isComplete } from '../../model/run.ts'
import type { Audience } from '../../model/settings.ts'
import { capitalised, count, grouped } from '../../model/text.ts'
import { dayMs, daysBetween } from '../../model/time.ts'
import { sanitizeLine } from '../../output/terminal.ts'
import { reportPageData } from '../../report/build-data.ts'
import { emailFormat, reportMail } from '../../report/formats/email/email.ts'
import { deltaText, valueText } from '../../report/headline.ts'
import { keywordStatuses } from '../../report/history/keyword-status.ts'
import { headlineMetrics } from '../../report/metrics/index.ts'
import type { Presentation } from '../../report/presentation/presentation.ts'
import type { ReportSource } from '../../report/report.ts'
import { presentationAnyway, presentationOf } from '../../report/requests/presentation.ts'
import { rankedJob } from '../../report/requests/rank-report.ts'
import { reportSource } from '../../report/requests/report-source.ts'
import { countedSum } from '../../report/story/facts.ts'
import { storiesOf } from '../../report/story/story.ts'
import { summarise, type TargetSummary, topRanksOf } from '../../report/summary.ts'
import type { CountedSum } from '../../report/words/en/story.ts'
import { type Words, wordsOf } from '../../report/words/words.ts'
import { browserPlaces } from '../../run/config.ts'
import { clickCurves } from '../../run/job-curve.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { DigestMessage, DigestSection, ReportMessage } from '../../store/sqlite/unattended/schema.ts'

const weekMs = 7 * dayMs
/** How many days the compared day may lie from a week ago. */
const tolerance = 3

/** What a digest is made of. The week is the seven days before it is sent. */
export type DigestFigures = Awaited<ReturnType<typeof figuresOf>>

/** What the digest of a job is made of, as of now. */
export async function figuresOf(settings: JobSettings, store: Store, now: number) {
  const { name: job, targets } = settings
  const ranked = await rankedJob(store, job, {
    periodRequest: { period: null, compare: '7d', tolerance },
    targets,
  })
  const { history } = ranked
  const isRanked = history.series.length > 0
  const curve = await clickCurves.orDefault(store, { job, settings })
  const summary = isRanked ? summarise(history, { curve, compare: ranked.compare }) : null
  const statuses = isRanked ? keywordStatuses(history, ranked.compare) : []
  const kind = summary?.parts[0]?.kind
  const own = summary?.targets.filter(({ target }) => target.own) ?? []
  const topTen = own.map(({ target }) => {
    const those = statuses.filter(
      ({ series, keyword }) =>
        history.targets[series.target]?.label === target.label && keyword.kind === kind,
    )
    return [target.label, topRanksOf(those, 10)] as const
  })
  const counted = own.flatMap(({ target }) => {
    const those = statuses.filter(({ series }) => history.targets[series.target]?.label === target.label)
    const sum = countedSum(those, history.countedClicks)
    return sum === null ? [] : [[target.label, sum] as const]
  })
  const week = (await store.runs({ job })).filter(
    ({ startedAt }) => startedAt > now - weekMs && startedAt <= now,
  )
  const counts = await Promise.all(week.map(({ id }) => store.taskCounts(id)))
  const openAlerts = await store.openAlerts(job)
  return {
    job,
    /** Figures of the last day beside those of a week before; null where the job has no ranks. */
    summary,
    /** The sentences that reports of the week begin with, by own target. */
    sentences: isRanked ? await sentencesOf(settings, store) : new Map<string, readonly string[]>(),
    /** Keywords of each own target among the first ten, in the order of the targets of the summary. */
    topTen: new Map(topTen),
    /** What Search Console counted of the keywords of each own target; missing where it does not cover the time. */
    counted: new Map(counted),
    /** Runs that began within the week, and how many of them are not complete. */
    runs: {
      all: week.length,
      incomplete: week.filter(({ finishReason }) => !isComplete(finishReason)).length,
    },
    /** Tasks of these runs. */
    tasks: {
      planned: counts.reduce((sum, { planned }) => sum + planned, 0),
      done: counts.reduce((sum, { done }) => sum + done, 0),
    },
    /** Credits of the week, and of the one before. */
    credits: {
      week: await creditsOf(store, job, now - weekMs, now),
      weekBefore: await creditsOf(store, job, now - 2 * weekMs, now - weekMs),
    },
    openAlerts: openAlerts.map(({ text }) => text),
  }
}

/** What the report of the week begins with, for each own target. */
async function sentencesOf(
  settings: JobSettings,
  store: Store,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const job = { ...settings, report: null }
  const data = reportPageData(await sourceOf(job, await presentationOf(job, { audience: 'team' }), store))
  const own = data.history.targets.filter((target) => target.own)
  const stories = storiesOf(data, { say: wordsOf('en'), mark: sanitizeLine })
  return new Map(
    own.map(({ label }, place) => [label, stories[place]?.sentences.map(({ text }) => text) ?? []] as const),
  )
}

async function creditsOf(store: Store, job: string, from: number, until: number): Promise<number> {
  const sums = await store.sums('job', { job, from, until })
  return sums.reduce((sum, { credits }) => sum + credits, 0)
}

/** The days that a digest tells of, where the job names no period. */
const week = '7d'

/**
 * The digest of a job as mail: its report, and what the runs of the week came to unless it is for a client. A logo that cannot
 * be read and a period without runs are said and done without: a mistake in them costs no message.
 */
export async function reportMessage(
  job: JobSettings,
  figures: DigestFigures,
  { store, log }: { readonly store: Store; readonly log: (line: string) => void },
): Promise<ReportMessage> {
  const audience = job.digest?.for ?? 'team'
  const presentation = await presentationAnyway(job, audience, (error) =>
    log(`The digest of ${job.name} is sent without its logo. ${sentenceOf(error)}`),
  )
  const source = await sourceOf(job, presentation, store).catch((error: unknown) => {
    log(`The digest of ${job.name} tells of the last seven days. ${sentenceOf(error)}`)
    return sourceOf({ ...job, report: null }, presentation, store)
  })
  const runs = audience === 'client' ? null : weekSection(figures, wordsOf(presentation.language))
  const { subject, text, html, pictures } = reportMail(source, runs)
  const inBase64 = pictures.map(({ cid, bytes }) => [cid, Buffer.from(bytes).toString('base64')] as const)
  return { job: job.name, subject, text, html, pictures: Object.fromEntries(inBase64) }
}

async function sourceOf(job: JobSettings, presentation: Presentation, store: Store): Promise<ReportSource> {
  return await reportSource(store, {
    job: job.name,
    settings: job,
    format: emailFormat,
    presentation,
    period: { period: job.report?.period ?? week },
    measure: { curve: await clickCurves.orDefault(store, { job: job.name, settings: job }), absent: 'depth' },
    layout: { width: 80, color: false, ascii: false, rows: false },
    browsers: browserPlaces(),
  })
}

/** What a user can mend; all else is thrown on. */
function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return error.message
  throw error
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
  const headlines = headlineMetrics.flatMap((metric) => {
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
function countedLine({ clicks, impressions, days }: CountedSum) {
  const { figure, overview } = wordsOf('en')
  const about = overview.countedIn(clicks, daysBetween(days.from, days.until) + 1)
  return {
    label: 'Search Console',
    value: `${about}, ${figure(impressions, 'clicks a month')} impressions`,
    change: null,
  }
}

function topRanksLine({ now, observed, change }: TopRankCount) {
  const sign = change === null ? null : change === 0 ? '=' : `${change > 0 ? '▲' : '▼'} ${Math.abs(change)}`
  return { label: 'Top 10', value: `${grouped(now)} of ${count(observed, 'keyword')}`, change: sign }
}

/** What the runs of the week came to. */
function weekSection({ runs, tasks, credits, openAlerts }: DigestFigures, say: Words): DigestSection {
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
      ...(more > 0 ? [{ label: week.alert, value: say.email.more(more), change: null }] : []),
    ],
  }
}

/** Rounded down: 100 % is nothing missing. */
function coverageText({ planned, done }: DigestFigures['tasks'], say: Words): string {
  return say.email.week.covered(Math.floor((1_000 * done) / planned) / 1_000, done, planned)
}

/** How many keywords rank within the top N. */
type TopRankCount = ReturnType<typeof topRanksOf>
