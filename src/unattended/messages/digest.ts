import { existsSync } from 'node:fs'
import { RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import type { App, Outgoing } from '../../run/app.ts'
import { latestSlot } from '../../schedule/slots.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { MessageContent } from '../../store/sqlite/unattended/schema.ts'
import { deliver, knownChannels } from './deliver.ts'

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
    const { digestMessage, figuresOf, reportMessage } = await import('./digest-content.ts')
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

/** The digests of a job whose time has come and that are not in the outbox yet. */
async function dueDigests(
  { name: job, digest, timezone, file }: JobSettings,
  store: Pick<Store, 'runs' | 'knownIdentities' | 'lastChannels' | 'pauseOf'>,
  now: number,
): Promise<
  readonly {
    readonly identity: string
    readonly channel: string
    /** Whether the channel takes mail. */
    readonly isMailbox: boolean
  }[]
> {
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

/** How often waiting messages are sent. */
const everyMs = 60_000

type SendingParts = Pick<Parameters<typeof deliver>[0], 'clock' | 'log'> & {
  /** Path of the database; where it is missing nothing waits. */
  readonly database: string
  /** Asked for each time, for settings may have changed. */
  readonly outgoing: () => Outgoing
}

/**
 * What a scheduler does between runs, as often as it likes: once a minute it puts in the digests of these jobs that are due, and
 * sends what waits. A line that was said the time before is not said again. Nothing that goes wrong is thrown.
 */
export function sendWithoutRun(parts: SendingParts): (jobs: readonly JobSettings[]) => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY
  let saidBefore: ReadonlySet<string> = new Set()
  return async (jobs) => {
    if (parts.clock.monotonic() - lookedAt < everyMs) return
    lookedAt = parts.clock.monotonic()
    const said = new Set<string>()
    const log = (line: string): void => {
      if (!saidBefore.has(line) && !said.has(line)) parts.log(line)
      said.add(line)
    }
    try {
      await send(jobs, { ...parts, log })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(error instanceof RanklineError ? message : `Messages were not sent: internal error: ${message}`)
    }
    saidBefore = said
  }
}

async function send(jobs: readonly JobSettings[], parts: SendingParts): Promise<void> {
  const { database, clock, outgoing, log } = parts
  if (!existsSync(database) || !(await isAnythingDue(jobs, parts))) return
  const { openStore } = await import('../../store/sqlite/open.ts')
  await using store = await openStore(database)
  await queueDigests(jobs, { store, clock, log })
  await deliver({ store, clock, outgoing: outgoing(), log })
}

/** Most of the time nothing waits, and the database is only read. One of an older rankline is left to the next run. */
async function isAnythingDue(
  jobs: readonly JobSettings[],
  { database, clock }: Pick<SendingParts, 'database' | 'clock'>,
): Promise<boolean> {
  const { openCurrent } = await import('../../store/sqlite/open.ts')
  await using reader = await openCurrent(database)
  if (reader === null) return false
  const now = clock.wall()
  if ((await reader.dueMessages(now)).length > 0) return true
  for (const job of jobs) if ((await dueDigests(job, reader, now)).length > 0) return true
  return false
}
