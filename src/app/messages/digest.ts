import type { JobSettings } from '../../model/job.ts'
import type { Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import { latestSlot } from '../../plan/schedule/slots.ts'
import type { Store } from '../../store/store.ts'
import type { App } from '../connect/app.ts'
import { workspaceOf } from '../workspace.ts'

/** Puts digests into the outbox that are due, after a run. */
export async function queueDigestsOfRuns({
  app: { store, clock },
  finished,
}: {
  readonly app: Pick<App, 'store' | 'clock'>
  readonly finished: readonly { readonly run: Pick<Run, 'settings'> }[]
}): Promise<void> {
  const jobs = finished.map(({ run }) => run.settings)
  await queueDigests(jobs, store, clock)
}

/** Puts the digests of these jobs that are due into the outbox: once for each time of a job and channel. */
export async function queueDigests(
  jobs: readonly JobSettings[],
  store: Store,
  clock: Pick<Clock, 'wall'>,
): Promise<void> {
  for (const job of jobs) {
    const now = clock.wall()
    const due = await dueDigests(job, store, now)
    if (due.length === 0) continue
    // Most runs have none, and need nothing that reports do.
    const { figuresOf } = await import('./digest-figures.ts')
    const { digestMessage } = await import('../../report/digest.ts')
    const message = digestMessage(await figuresOf(job, store, now))
    const about = { job: job.name, runId: null, kind: 'digest', message } as const
    await store.putMessages(
      due.map((digest) => ({ ...digest, ...about })),
      now,
    )
  }
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
