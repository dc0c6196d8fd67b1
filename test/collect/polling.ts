import { onTestFinished } from 'vitest'
import type { ApiClient } from '../../src/api/client.ts'
import { type JobResult, jobPoller } from '../../src/collect/async-job.ts'
import { connectivityMonitor, stopSignal } from '../../src/collect/stop.ts'
import type { Outcome } from '../../src/model/call.ts'
import { fakeTime } from '../api/fake-time.ts'
import { settlement } from '../store/answers.ts'
import { aTask } from '../support/tasks.ts'

/** What the service answers to a poll. */
export interface Polled {
  readonly outcome?: Outcome
  readonly body?: unknown
  /** Milliseconds that the answer takes. */
  readonly takes?: number
}

export const running: Polled = { body: { status: 'processing' } }
export const completed: Polled = { body: { status: 'completed', result: { images: [] } } }
export const failed = (outcome: Outcome): Polled => ({ outcome, body: { error: 'Oops' } })

interface Poll {
  readonly jobId: string
  readonly path: string
  readonly at: number
}

const task = aTask({ operation: 'alpha.images' })

/** A poller of a service that answers as it is told, in time that stands still until it is moved. */
export function aPoller(answers: (poll: Poll, polls: readonly Poll[]) => Polled, maxOutageMs = 60_000) {
  const time = fakeTime()
  const clock = { ...time.clock, wall: time.now }
  const stop = stopSignal()
  const polls: Poll[] = []
  const refusals: Outcome[] = []

  const lookup: ApiClient['lookup'] = async (operation, params, options) => {
    const poll = { jobId: params.job_id as string, path: operation.path, at: time.now() }
    polls.push(poll)
    const { outcome = 'answered', body = '', takes = 0 } = answers(poll, polls)
    if (takes > 0) await new Promise<void>((resolve) => time.clock.after(takes, resolve))
    if (options?.signal?.aborted) throw options.signal.reason
    const error = outcome === 'answered' ? null : 'Oops'
    return {
      callId: polls.length,
      sentAt: poll.at,
      settlement: settlement({
        outcome,
        billed: 0,
        error,
        httpStatus: outcome === 'server-error' ? 500 : 200,
      }),
      body: Buffer.from(JSON.stringify(body)),
      headers: {},
    }
  }

  const poll = jobPoller({
    service: { lookup } as ApiClient,
    clock,
    stop,
    throttling: { note: ({ outcome }) => refusals.push(outcome) },
    connectivity: connectivityMonitor(clock, () => 1, maxOutageMs),
  })
  // Nobody is left to wait for a job that is still polled.
  onTestFinished(() => stop.request({ reason: 'interrupted', message: 'The test is over.' }))

  /** Begins to poll a job; what became of it can be looked at any time. */
  const follow = (jobId = 'j1') => {
    const job: { end: JobResult | Error | null; endedAt: number | null } = { end: null, endedAt: null }
    const ended = (end: JobResult | Error) => {
      job.end = end
      job.endedAt = time.now()
    }
    poll(task, { taskId: task.id, callId: 1, jobId, acceptedAt: 0 }).then(ended, ended)
    return job
  }
  return { time, stop, polls, refusals, follow }
}

/** Answers polls in turn, the last answer ever again. */
export const inTurn =
  (...answers: readonly Polled[]) =>
  (_: Poll, polls: readonly Poll[]): Polled =>
    answers[Math.min(polls.length, answers.length) - 1] as Polled
