import type { JobSettings } from '../../model/job.ts'
import type { Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import type { App } from '../../run/app.ts'
import { latestSlot } from '../../schedule/slots.ts'
import type { MessageContent } from '../../store/outbox.ts'
import type { Store } from '../../store/store.ts'
import { knownChannels } from './deliver.ts'

/** Puts digests into the outbox that are due, after a run. */
export async function queueDigestsOfRuns({
  app,
  finished,
  log,
}: {
  readonly app: Pick<App, 'store' | 'clock'>
  readonly finished: readonly { readonly run: Pick<Run, 'settings'> }[]
  readonly log: (line: string) => void
}): Promise<void> {
  const jobs = finished.map(({ run }) => run.settings)
  await queueDigests(jobs, { ...app, log })
}

/** Puts the digests of these jobs that are due into the outbox: once for each time of a job and channel. */
export async function queueDigests(
  jobs: readonly JobSettings[],
  {
    store,
    clock,
    log,
  }: {
    readonly store: Store
    readonly clock: Pick<Clock, 'wall'>
    /** Prints a warning. */
    readonly log: (line: string) => void
  },
): Promise<void> {
  for (const job of jobs) {
    const now = clock.wall()
    const due = await dueDigests(job, store, now)
    if (due.length === 0) continue
    // Most runs have none, and need nothing that reports do.
    const { figuresOf } = await import('./digest-content.ts')
    const { reportMessage } = await import('./digest-content.ts')
    const { digestMessage } = await import('../../report/digest.ts')
    const figures = await figuresOf(job, store, now)
    const digest: MessageContent = {
      kind: 'digest',
      message: digestMessage(figures, job.digest?.for ?? 'team'),
    }
    // A job without ranks has no report.
    const isMailed = figures.summary !== null && due.some(({ isMailbox }) => isMailbox)
    const mail: MessageContent = isMailed
      ? { kind: 'report', message: await reportMessage(job, figures, { store, log }) }
      : digest
    await store.putMessages(
      due.map(({ isMailbox, ...about }) => ({
        ...about,
        job: job.name,
        runId: null,
        ...(isMailbox ? mail : digest),
      })),
      now,
    )
  }
}

/** A digest whose time has come and that was not put in yet. */
interface DueDigest {
  readonly identity: string
  readonly channel: string
  /** Whether the channel takes mail. */
  readonly isMailbox: boolean
}

/** The digests of a job that are due. */
export async function dueDigests(
  { name: job, digest, timezone, file }: JobSettings,
  store: Pick<Store, 'runs' | 'knownIdentities' | 'lastChannels' | 'pauseOf'>,
  now: number,
): Promise<readonly DueDigest[]> {
  const slot = digest === null ? null : latestSlot(digest.cron, timezone, now)
  if (digest === null || slot === null) return []
  const { pausedAt, resumedAt } = await store.pauseOf(job)
  if (pausedAt !== null || (resumedAt !== null && slot <= resumedAt)) return []
  const { channels } = await knownChannels(store, file)
  const at = new Date(slot).toISOString()
  const digests = [...new Set(digest.to ?? Object.keys(channels))].map((channel) => ({
    identity: `digest:${job}:${at}:${channel}`,
    channel,
    isMailbox: Object.hasOwn(channels, channel) && channels[channel]?.type === 'email',
  }))
  const known = await store.knownIdentities(digests.map(({ identity }) => identity))
  const missing = digests.filter(({ identity }) => !known.has(identity))
  if (missing.length === 0) return []
  const first = (await store.runs({ job })).at(-1)
  // A job that began since then has no week to tell of.
  return first === undefined || first.startedAt > slot ? [] : missing
}
