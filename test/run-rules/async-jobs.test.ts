import { expect, test } from 'vitest'
import { retryPolicy } from '../../src/api/retry.ts'
import type { Clock } from '../../src/model/clock.ts'
import { type AsyncJobParts, asyncJobs } from '../../src/run/async-jobs.ts'
import { outageWatch } from '../../src/run/outage.ts'
import { newStop } from '../../src/run/stop.ts'
import { settlement } from '../store/answers.ts'
import { openPromise } from '../support/open-promise.ts'
import { aTask } from '../support/task.ts'

/** One more failed job is one too many. */
const task = aTask({ id: 7, operation: 'alpha.images', tries: retryPolicy.tries - 1 })

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
    const storing = openPromise()
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
          return storing.promise
        },
      },
      fail: async () => {
        handedOver.push('task')
        return { failed: 'lost' }
      },
    } as unknown as AsyncJobParts)

    const ended = jobs.goOn(task, { taskId: 7, callId: 1, jobId: 'j1', acceptedAt: 0 })
    await expect.poll(() => handedOver).toEqual(['job', 'task'])

    storing.fulfil()
    expect(await ended).toEqual({ failed: 'lost' })
  },
)
