import { consequences } from '../api/outcome.ts'
import { jobStateOf } from '../catalog/async-job.ts'
import { billableOperation } from '../catalog/index.ts'
import { jobsPoll } from '../catalog/operations/jobs-poll.ts'
import type { Clock } from '../model/clock.ts'
import type { Task } from '../model/task.ts'
import type { AcceptedJob } from '../store/store.ts'
import type { SentCall, Service } from './service.ts'
import { type Stop, Stopped, sleep } from './stop.ts'
import { stopCause } from './stop-causes.ts'

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
}

const firstPauseMs = 250
const longestPauseMs = 30_000
/** A job that has not ended after so much polling is given up. */
const deadlineMs = 900_000
/** 500s in a row before the job is taken for failed. */
const failuresInRow = 5

/**
 * Polls a job, which is free, with growing pauses until it ends. Rejected with `Stopped` when the run stops; the
 * job is then polled by whoever goes on.
 */
export function poller({ service, clock, stop }: PollParts) {
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

  return async function poll(task: Task, { jobId }: AcceptedJob): Promise<JobEnd> {
    const items = billableOperation(task.operation).response.items ?? ''
    // Counted from here, not from the submission: nobody may have asked for a long time.
    const until = clock.monotonic() + deadlineMs
    let pause = firstPauseMs
    for (let failures = 0; clock.monotonic() < until; ) {
      await sleep(clock, pause, stop.signal)
      pause = Math.min(pause * 1.5, longestPauseMs)
      const polled = await ask(task, jobId)
      const { outcome, error } = polled.settlement
      if (consequences[outcome] === 'stop-run') {
        stop.request(stopCause(polled.settlement))
        throw new Stopped()
      }
      const state = jobStateOf(polled.body, items)
      if (outcome === 'answered' && state === 'completed') return { answer: polled }
      if (state === 'failed') return { failed: error ?? 'the asynchronous job failed' }
      if (outcome === 'not-found') return { lost: `the service knows no asynchronous job ${jobId}` }
      // A failed job is reported as a 500; so is a bad moment of the service, which passes.
      failures = outcome === 'server-error' ? failures + 1 : 0
      if (failures >= failuresInRow) return { failed: `the asynchronous job failed: ${error ?? outcome}` }
    }
    return { lost: `the asynchronous job ${jobId} did not end within ${deadlineMs / 60_000} minutes` }
  }
}
