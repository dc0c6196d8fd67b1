import type { FinishReason } from '../../../src/model/run.ts'
import type { JobFacts, RunFacts, StatusFacts } from '../../../src/unattended/status.ts'

export const now = Date.UTC(2026, 10, 20, 9)
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

interface RunParts {
  readonly run?: number
  /** How long ago it ended; it began ten minutes earlier. */
  readonly ago?: number
  readonly reason?: FinishReason | null
  readonly done?: number
  readonly failed?: number
}

/** A run of 100 tasks, all done an hour ago if nothing else is said. */
export function aRun({
  run = 7,
  ago = hour,
  reason = 'completed',
  done,
  failed = 0,
}: RunParts = {}): RunFacts {
  const settled = done ?? 100 - failed
  const tasks = { planned: 100, done: settled, failed, pending: 100 - settled - failed, reused: 0 }
  return {
    ...{ run, tasks, spent: settled, finishReason: reason },
    ...{ startedAt: now - ago - 10 * minute, finishedAt: reason === null ? null : now - ago },
  }
}

/** A scheduled job about which all is well. */
export function aJob(parts: Partial<JobFacts> = {}): JobFacts {
  return {
    job: 'acme',
    file: { path: 'acme.yaml', state: 'sound', mistake: null },
    timezone: 'UTC',
    schedule: '0 6 * * *',
    every: null,
    freshness: null,
    ...{ pausedAt: null, resumedAt: null },
    last: aRun(),
    good: aRun(),
    isRunning: false,
    missed: [],
    slot: null,
    nextSlot: now + 21 * hour,
    spentToday: 100,
    spentThisMonth: 2000,
    alerts: [],
    ...parts,
  }
}

const none = { messages: 0, channels: [], error: null }

/** What is known where all is well. */
export function facts(parts: Partial<StatusFacts> = {}): StatusFacts {
  return {
    now,
    jobs: [aJob()],
    money: {
      balance: { credits: 9000, readAt: now - hour },
      spent: { credits: 1400, since: now - 14 * day },
      ...{ spentToday: 100, spentThisMonth: 2000, unexplained: 0 },
    },
    messages: { waiting: none, dead: none },
    database: { path: 'data/rankline.db', isMissing: false, damage: null, freeBytes: 1e12 },
    brokenShared: [],
    ...parts,
  }
}
