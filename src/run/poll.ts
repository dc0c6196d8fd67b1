import PQueue from 'p-queue'
import { consequences } from '../api/outcome.ts'
import { jobIdOf, jobStateOf } from '../catalog/async-job.ts'
import { billableOperation } from '../catalog/index.ts'
import { jobsPoll } from '../catalog/operations/jobs-poll.ts'
import type { Clock } from '../model/clock.ts'
import type { Task } from '../model/task.ts'
import type { AcceptedJob } from '../store/calls.ts'
import type { OutageWatch } from './outage.ts'
import type { Refusals } from './refused.ts'
import type { SentCall, Service } from './service.ts'
import { type Stop, Stopped, sleep } from './stop.ts'
import { stopCause, unreachable } from './stop-causes.ts'

/** How an asynchronous job ended. */
export type JobEnd =
  | { readonly answer: SentCall }
  /** Never billed. */
  | { readonly failed: string }
  /** Nobody knows what became of it. */
  | { readonly lost: string }

export interface PollParts {
  readonly service: Service
  readonly clock: Clock
  readonly stop: Stop
  readonly refusals: Refusals
  readonly silence: OutageWatch
}

/** Jobs that are polled by turns; the others wait, at no risk. */
const polledAtOnce = 256
const shortestFirstPauseMs = 250
const longestFirstPauseMs = 10_000
const longestPauseMs = 30_000
/** A job that has not ended after so much polling is given up. */
const deadlineMs = 900_000
/** 500s, or 404s, in a row before they are believed; many more where nothing shows that the service itself is well. */
const believedAfter = { 'server-error': 5, 'not-found': 3 } as const
const believedAnyway = 15
/** How much of what is known of the time that jobs take is due to the last one. */
const weightOfLast = 0.2

type PollEnd = keyof typeof believedAfter

/**
 * Polls a job, which is free, with growing pauses until it ends. Rejected with `Stopped` when the run stops; the
 * job is then polled by whoever goes on.
 */
export function poller({ service, clock, stop, refusals, silence }: PollParts) {
  const turns = new PQueue({ concurrency: polledAtOnce })
  /** Milliseconds that a job takes, learned from those that ended. */
  let typicalMs: number | null = null
  /** When a poll was answered last. */
  let wellAt = Number.NEGATIVE_INFINITY
  /** The document names one path, its other operations suggest a second: the one that works is remembered. */
  let paths: readonly string[] = [jobsPoll.path, `/v1${jobsPoll.path}`]

  const ask = async (task: Task, jobId: string): Promise<SentCall> => {
    const options = { runId: task.runId, taskId: task.id, signal: stop.signal }
    const [known, other] = paths
    const first = await service.lookup({ ...jobsPoll, path: known as string }, { job_id: jobId }, options)
    if (first.settlement.outcome !== 'not-found' || other === undefined) {
      if (first.settlement.outcome === 'answered') paths = [known as string]
      return first
    }
    const second = await service.lookup({ ...jobsPoll, path: other }, { job_id: jobId }, options)
    if (second.settlement.outcome === 'answered') paths = [other]
    return second
  }

  /** The first poll comes when most jobs are done, so that few need a second one. */
  const firstPause = (): number =>
    Math.min(longestFirstPauseMs, Math.max(shortestFirstPauseMs, (typicalMs ?? 0) * 0.9))

  const learn = (tookMs: number): void => {
    typicalMs = typicalMs === null ? tookMs : typicalMs + (tookMs - typicalMs) * weightOfLast
  }

  const follow = async (task: Task, { jobId }: AcceptedJob): Promise<JobEnd> => {
    const { response } = billableOperation(task.operation)
    const outage = silence.watch()
    const began = clock.monotonic()
    // Counted from here, not from the submission: nobody may have asked for a long time.
    let until = began + deadlineMs
    let pause = firstPause()
    let inRow: InRow = noneInRow
    while (clock.monotonic() < until) {
      const asked = clock.monotonic()
      await sleep(clock, pause, stop.signal)
      pause = Math.min(pause * 1.5, longestPauseMs)
      const polled = await ask(task, jobId)
      const { outcome, error } = polled.settlement
      if (consequences[outcome] === 'stop-run') {
        stop.request(stopCause(polled.settlement, service.baseUrl))
        throw new Stopped()
      }
      if (outcome === 'answered') wellAt = clock.monotonic()
      refusals.note(polled.settlement, polled.namedMs)
      outage.note(outcome)
      if (outage.pause(outcome)?.over === true) stop.request(unreachable(error ?? outcome, service.baseUrl))
      // Where nobody answers, nobody says that the job takes long.
      if (outcome === 'throttled' || outcome === 'unreachable') until += clock.monotonic() - asked
      // The error of a call is none of the job's, unless it names the job: what is taken for failed is bought again.
      const ofJob =
        outcome === 'answered' || (outcome === 'server-error' && jobIdOf(polled.body, {}) === jobId)
      const state = ofJob ? jobStateOf(polled.body, response) : 'running'
      if (outcome === 'answered' && state === 'completed') {
        learn(clock.monotonic() - began)
        return { answer: polled }
      }
      if (state === 'failed') return { failed: error ?? 'the asynchronous job failed' }
      // A failed job is reported as a 500, and so is a bad moment of the service, which passes; a job may be known late.
      inRow = speaksOfJob(polled) ? counted(inRow, outcome as PollEnd, clock.monotonic()) : noneInRow
      if (inRow.outcome === null || inRow.times < believedAfter[inRow.outcome]) continue
      if (inRow.outcome === 'server-error' && wellAt < inRow.since && inRow.times < believedAnyway) continue
      if (inRow.outcome === 'not-found') return { lost: `the service knows no asynchronous job ${jobId}` }
      return { failed: `the asynchronous job failed: ${error ?? outcome}` }
    }
    return { lost: `the asynchronous job ${jobId} did not end within ${deadlineMs / 60_000} minutes` }
  }

  return async (task: Task, job: AcceptedJob): Promise<JobEnd> => {
    const end = await turns.add(() => follow(task, job))
    return end as JobEnd
  }
}

interface InRow {
  readonly outcome: PollEnd | null
  readonly times: number
  readonly since: number
}

const noneInRow: InRow = { outcome: null, times: 0, since: 0 }

function counted(inRow: InRow, outcome: PollEnd, now: number): InRow {
  const more = inRow.outcome === outcome
  return { outcome, times: more ? inRow.times + 1 : 1, since: more ? inRow.since : now }
}

/** A failed job is reported as a 500; other 5xx are of whatever stands before the service. */
function speaksOfJob({ settlement: { outcome, httpStatus } }: SentCall): boolean {
  return outcome === 'not-found' || httpStatus === 500
}
