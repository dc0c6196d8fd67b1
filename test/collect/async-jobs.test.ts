import { expect } from 'vitest'
import { retryPolicy } from '../../src/api/retry.ts'
import { type ImageJobOptions, imageJobs } from '../../src/collect/async-job.ts'
import { connectivityMonitor, stopSignal } from '../../src/collect/stop.ts'
import type { Clock } from '../../src/model/time.ts'
import { settlement } from '../store/answers.ts'
import { openPromise } from '../support/open-promise.ts'
import { aTask } from '../support/tasks.ts'
import { testTable } from '../support/test-table.ts'

/** One more failed job is one too many. */
const task = aTask({ id: 7, operation: 'alpha.images', tries: retryPolicy.tries - 1 })

const polls = {
  lost: { outcome: 'not-found', httpStatus: 404, body: {} },
  failed: { outcome: 'answered', httpStatus: 200, body: { status: 'failed' } },
} as const

testTable(['lost', 'failed'] as const)(
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
    const storing = openPromise()
    const jobs = imageJobs({
      clock,
      stop: stopSignal(),
      connectivity: connectivityMonitor(clock, () => 1, 60_000),
      throttling: { note: () => {} },
      engines: { lostJob: () => {} },
      budget: { ambiguous: () => {}, release: () => {} },
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
          return storing.promise
        },
      },
      fail: async () => {
        handedOver.push('task')
        return { failed: 'lost' }
      },
    } as unknown as ImageJobOptions)

    const ended = jobs.poll(task, { taskId: 7, callId: 1, jobId: 'j1', acceptedAt: 0 }, 0)
    await expect.poll(() => handedOver).toEqual(['job', 'task'])

    storing.fulfil()
    expect(await ended).toEqual({ failed: 'lost' })
  },
)
