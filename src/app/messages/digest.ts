import type { JobSettings } from '../../model/job.ts'
import { isComplete, type Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import { defaultCurve } from '../../report/ctr.ts'
import { type DigestFigures, digestMessage, topTenOf } from '../../report/digest.ts'
import { keywordStatuses } from '../../report/history/keyword-status.ts'
import { summarise } from '../../report/summary.ts'
import { latestSlot } from '../../schedule/slots.ts'
import type { Store } from '../../store/store.ts'
import type { App } from '../open-app.ts'
import { rankedJob } from '../reports/rank-report.ts'
import { workspaceOf } from '../workspace.ts'

const weekMs = 7 * 86_400_000
/** The day to compare with may lie so many days beside a week ago. */
const tolerance = 3

/** Puts digests into the outbox that are due, after a run. */
export async function tellDigests({
  app: { store, clock },
  finished,
}: {
  readonly app: Pick<App, 'store' | 'clock'>
  readonly finished: readonly { readonly run: Pick<Run, 'settings'> }[]
}): Promise<void> {
  const jobs = finished.map(({ run }) => run.settings)
  await putDigests(jobs, store, clock)
}

/** Puts the digests of these jobs that are due into the outbox: once for each time of a job and channel. */
export async function putDigests(
  jobs: readonly JobSettings[],
  store: Store,
  clock: Pick<Clock, 'wall'>,
): Promise<void> {
  for (const job of jobs) await putDigest(job, store, clock.wall())
}

async function putDigest(settings: JobSettings, store: Store, now: number): Promise<void> {
  const missing = await dueDigests(settings, store, now)
  if (missing.length === 0) return
  const message = digestMessage(await figuresOf(settings, store, now))
  const messages = missing.map((digest) => ({
    ...{ ...digest, job: settings.name, runId: null },
    ...{ kind: 'digest' as const, message },
  }))
  await store.putMessages(messages, now)
}

/** Identities and channels of the digests of a job whose time has come and that were not put in yet. */
export async function dueDigests(
  { name: job, digest, timezone, file }: JobSettings,
  store: Pick<Store, 'runs' | 'knownIdentities'>,
  now: number,
): Promise<readonly { readonly identity: string; readonly channel: string }[]> {
  const slot = digest === null ? null : latestSlot(digest.cron, timezone, now)
  if (digest === null || slot === null) return []
  const channels = digest.to ?? Object.keys((await workspaceOf(file)).channels)
  const at = new Date(slot).toISOString()
  const digests = [...new Set(channels)].map((channel) => ({
    identity: `digest:${job}:${at}:${channel}`,
    channel,
  }))
  const known = await store.knownIdentities(digests.map(({ identity }) => identity))
  const missing = digests.filter(({ identity }) => !known.has(identity))
  if (missing.length === 0) return []
  const first = (await store.runs({ job })).at(-1)
  // A job that began since then has no week to tell of.
  return first === undefined || first.startedAt > slot ? [] : missing
}

async function figuresOf(
  { name: job, targets }: JobSettings,
  store: Store,
  now: number,
): Promise<DigestFigures> {
  const ranked = await rankedJob(store, job, { comparison: { day: 7, tolerance }, targets })
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
    return [target.label, topTenOf(those)] as const
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
