import type { JobSettings } from '../../model/job.ts'
import { isComplete } from '../../model/run.ts'
import { dayMs } from '../../model/time.ts'
import { defaultCurve } from '../../report/ctr.ts'
import { type DigestFigures, topRanksOf } from '../../report/digest.ts'
import { keywordStatuses } from '../../report/history/keyword-status.ts'
import { rankedJob } from '../../report/requests/rank-report.ts'
import { summarise } from '../../report/summary.ts'
import type { Store } from '../../store/store.ts'

const weekMs = 7 * dayMs
/** The day to compare with may lie so many days beside a week ago. */
const tolerance = 3

/** What the digest of a job is made of, as of now. */
export async function figuresOf(
  { name: job, targets }: JobSettings,
  store: Store,
  now: number,
): Promise<DigestFigures> {
  const ranked = await rankedJob(store, job, { asked: { period: null, compare: '7d', tolerance }, targets })
  const history = ranked.built?.history ?? null
  const isRanked = history !== null && history.series.length > 0
  const summary = isRanked ? summarise(history, { curve: defaultCurve, compare: ranked.compare }) : null
  const statuses = isRanked ? keywordStatuses(history, ranked.compare) : []
  const kind = summary?.parts[0]?.kind
  const own = summary?.targets.filter(({ target }) => target.own) ?? []
  const topTen = own.map(({ target }) => {
    const those = statuses.filter(
      ({ series, keyword }) =>
        history?.targets[series.target]?.label === target.label && keyword.kind === kind,
    )
    return [target.label, topRanksOf(those, 10)] as const
  })
  const week = (await store.runs({ job })).filter(
    ({ startedAt }) => startedAt > now - weekMs && startedAt <= now,
  )
  const counts = await Promise.all(week.map(({ id }) => store.taskCounts(id)))
  const openAlerts = await store.openAlerts(job)
  return {
    job,
    summary,
    topTen: new Map(topTen),
    runs: {
      all: week.length,
      incomplete: week.filter(({ finishReason }) => !isComplete(finishReason)).length,
    },
    tasks: {
      planned: counts.reduce((sum, { planned }) => sum + planned, 0),
      done: counts.reduce((sum, { done }) => sum + done, 0),
    },
    credits: {
      week: await creditsOf(store, job, now - weekMs, now),
      weekBefore: await creditsOf(store, job, now - 2 * weekMs, now - weekMs),
    },
    openAlerts: openAlerts.map(({ text }) => text),
  }
}

async function creditsOf(store: Store, job: string, from: number, until: number): Promise<number> {
  const sums = await store.sums('job', { job, from, until })
  return sums.reduce((sum, { credits }) => sum + credits, 0)
}
