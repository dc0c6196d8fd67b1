import { decideRetry } from '../api/retry.ts'
import { jobIdOf } from '../catalog/async-job.ts'
import type { Outcome } from '../model/call.ts'
import type { Clock } from '../model/clock.ts'
import type { Task } from '../model/task.ts'
import type { AcceptedJob } from '../store/calls.ts'
import type { CollectStore } from '../store/store.ts'
import type { Books } from './books.ts'
import type { OutageWatch } from './outage.ts'
import { poller } from './poll.ts'
import type { Reader } from './reading.ts'
import type { Refusals } from './refused.ts'
import type { SentCall, Service } from './service.ts'
import type { Stop } from './stop.ts'
import type { TaskEnd } from './task-end.ts'

export interface AsyncJobParts {
  readonly store: CollectStore
  readonly service: Service
  readonly clock: Clock
  readonly books: Books
  readonly stop: Stop
  readonly reader: Reader
  readonly refusals: Refusals
  readonly silence: OutageWatch
  readonly fail: (task: Task, outcome: Outcome, cause: string) => Promise<TaskEnd>
}

/** Follows asynchronous jobs from their acceptance to their end. */
export function asyncJobs(parts: AsyncJobParts) {
  const { store, clock, books, reader, fail } = parts
  const poll = poller(parts)

  /** Polls a job to its end. One that failed cost nothing: it is a failed try of its task. */
  const follow = async (task: Task, job: AcceptedJob): Promise<TaskEnd> => {
    const end = await poll(task, job)
    if ('answer' in end) {
      const fetchedAt = end.answer.settlement.finishedAt
      const answer = { callId: job.callId, settlement: null, fetchedAt }
      const answerId = await reader.keep(task, end.answer.body, answer)
      books.billed(task)
      return { answerId }
    }
    if ('lost' in end) {
      books.ambiguous(task)
      return await failWith(task, job, null, 'ambiguous', `${end.lost}; whether it was billed is not known`)
    }
    const tries = task.tries + 1
    const decision = decideRetry(tries, 0)
    if ('giveUp' in decision)
      return await failWith(
        task,
        job,
        0,
        'server-error',
        `the asynchronous job failed (after ${tries} tries)`,
      )
    books.release(task)
    await store.endJob(job, 0, clock.wall(), { taskId: task.id, tries, behind: 'later' in decision })
    return 'given-back'
  }

  /** Handed over together, so that both stand in one commit: a job that is forgotten alone would be submitted again. */
  const failWith = async (
    task: Task,
    job: AcceptedJob,
    billed: 0 | null,
    ...why: readonly [outcome: Outcome, cause: string]
  ): Promise<TaskEnd> => {
    const ended = store.endJob(job, billed, clock.wall(), null)
    const [end] = await Promise.all([fail(task, ...why), ended])
    return end
  }

  return {
    /** A job that was taken is stored before anything else happens; then its slot is free again. */
    submitted: async (
      task: Task,
      sent: SentCall,
      giveUp: (sent: SentCall, cause: string) => Promise<TaskEnd>,
    ): Promise<TaskEnd> => {
      const { callId, settlement, body, headers } = sent
      const jobId = jobIdOf(body, headers)
      if (jobId === null) {
        books.ambiguous(task)
        const unknown = { ...sent, settlement: { ...settlement, billed: null } }
        return await giveUp(unknown, 'the service took an asynchronous job and named no id for it')
      }
      const job = { taskId: task.id, callId, jobId }
      await store.acceptJob(callId, settlement, job)
      return { follows: follow(task, { ...job, acceptedAt: settlement.finishedAt }) }
    },
    /** Goes on with a job that an earlier process had submitted. */
    goOn: follow,
  }
}
