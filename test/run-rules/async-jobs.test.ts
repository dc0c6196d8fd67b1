import { expect, test } from 'vitest'
import { retryPolicy } from '../../src/api/retry.ts'
import type { Clock } from '../../src/model/clock.ts'
import type { Task } from '../../src/model/task.ts'
import { type AsyncJobParts, asyncJobs } from '../../src/run/async-jobs.ts'
import { outageWatch } from '../../src/run/outage.ts'
import { newStop } from '../../src/run/stop.ts'
import { settlement } from '../store/build.ts'

/** One more failed job is one too many. */
const task: Task = {
  id: 7,
  runId: 3,
  queryId: 1,
  operation: 'alpha.images',
  text: 'desk',
  params: {},
  page: 1,
  priority: 0,
  credits: 1,
  tries: retryPolicy.tries - 1,
  cause: null,
  reusable: null,
}

const polls = {
  lost: { outcome: 'not-found', httpStatus: 404, body: {} },
  failed: { outcome: 'answered', httpStatus: 200, body: { status: 'failed' } },
} as const

test.each(['lost', 'failed'] as const)(
  'the end of a %s job and that of its task are handed over together, and so stored together',
  async (poll) => {
    const { body, ...end } = polls[poll]
    const clock: Clock = {
      wall: () => 0,
      monotonic: () => 0,
      after: (_, ring) => {
        queueMicrotask(ring)
        return () => {}
      },
    }
    const handedOver: string[] = []
    let stored = (): void => {}
    const jobs = asyncJobs({
      clock,
      stop: newStop(),
      silence: outageWatch(clock, () => 1, 60_000),
      refusals: { note: () => {} },
      books: { ambiguous: () => {}, release: () => {} },
      service: {
        lookup: async () => ({
          callId: 2,
          settlement: settlement({ ...end, billed: 0 }),
          body: Buffer.from(JSON.stringify(body)),
          headers: {},
        }),
      },
      store: {
        endJob: () => {
          handedOver.push('job')
          return new Promise<void>((resolve) => {
            stored = resolve
          })
        },
      },
      fail: async () => {
        handedOver.push('task')
        return { failed: 'lost' }
      },
    } as unknown as AsyncJobParts)

    const ended = jobs.goOn(task, { taskId: 7, callId: 1, jobId: 'j1', acceptedAt: 0 })
    await new Promise((resolve) => setTimeout(resolve, 20))

    expect(handedOver).toEqual(['job', 'task'])
    stored()
    expect(await ended).toEqual({ failed: 'lost' })
  },
)
