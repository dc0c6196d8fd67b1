import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/model/call.ts'
import { testTable } from '../support/test-table.ts'
import { aPoller, completed, failed, inTurn, type Polled, running } from './polling.ts'

const minute = 60_000

/** What became of a job, and the number of polls that it took. */
async function endOf(answers: readonly Polled[], passMs = 60 * minute) {
  const { time, follow, polls, stop } = aPoller(inTurn(...answers))
  const job = follow()
  await time.pass(passMs)
  return { end: job.end, polls: polls.length, stopped: stop.cause()?.reason ?? null }
}

const times = (count: number, polled: Polled) => Array<Polled>(count).fill(polled)

describe('a job is over', () => {
  test('when it is completed: the answer is that of the poll', async () => {
    const { end, polls } = await endOf([running, running, completed])
    expect(end).toMatchObject({ answer: { callId: 3, settlement: { outcome: 'answered' } } })
    expect(polls).toBe(3)
  })

  testTable<[string, readonly Polled[], number]>([
    ['when it says that it failed', [running, { body: { status: 'failed', error: 'no memory' } }], 2],
    [
      'when it says so in a 500',
      [running, { outcome: 'server-error', body: { job_id: 'j1', status: 'failed' } }],
      2,
    ],
    [
      'after fifteen 500s in a row, where nothing else is heard of',
      [running, ...times(15, failed('server-error'))],
      16,
    ],
    [
      'after fifteen 500s that repeat their status',
      times(15, { outcome: 'server-error', body: { status: 500 } }),
      15,
    ],
    [
      'after fifteen 500s in a row, whatever was before',
      [...times(4, failed('server-error')), running, ...times(15, failed('server-error'))],
      20,
    ],
  ])('as failed %s', async (_, answers, polls) => {
    expect(await endOf(answers)).toMatchObject({ end: { failed: expect.any(String) }, polls })
  })

  test('as failed after five 500s in a row, where another one is heard of meanwhile', async () => {
    const { time, follow, polls } = aPoller(({ jobId }) =>
      jobId === 'j1' ? failed('server-error') : running,
    )
    const jobs = [follow('j1'), follow('j2')]
    await time.pass(10 * minute)
    expect(jobs.map(({ end }) => end)).toEqual([{ failed: expect.any(String) }, null])
    expect(polls.filter(({ jobId }) => jobId === 'j1')).toHaveLength(5)
  })

  test('as lost after three 404s in a row on both paths', async () => {
    const { end, polls } = await endOf([failed('not-found')])
    expect(end).toEqual({ lost: 'the service knows no asynchronous job j1' })
    expect(polls).toBe(6)
  })
})

describe('a job is not over', () => {
  testTable<[string, readonly Polled[]]>([
    ['after four 500s', times(4, failed('server-error'))],
    [
      'after four 500s twice',
      [...times(4, failed('server-error')), running, ...times(4, failed('server-error'))],
    ],
    // Both paths are asked where the first knows nothing.
    ['after two 404s', times(4, failed('not-found'))],
    [
      'where 404s and 500s take turns',
      Array.from({ length: 12 }, (_, index) => failed(index % 3 === 2 ? 'server-error' : 'not-found')),
    ],
    ['while its polls are lost on the way', times(20, failed('ambiguous'))],
    ['while its polls are taken for later', times(20, { outcome: 'accepted', body: { status: 'accepted' } })],
    [
      'where a refusal speaks of an error',
      [{ outcome: 'throttled', body: { status: 'error', error: 'rate limit' } }],
    ],
    ['where a refusal names it', [{ outcome: 'throttled', body: { job_id: 'j1', status: 'error' } }]],
    [
      'where a 500 says that it is done',
      [{ outcome: 'server-error', body: { job_id: 'j1', status: 'done' } }],
    ],
    ['where a 503 speaks of an error', [{ outcome: 'server-error', body: { status: 'error' } }]],
    ['where a 404 speaks of an error', times(2, { outcome: 'not-found', body: { status: 'failed' } })],
    [
      'where a bad moment speaks of another job',
      [{ outcome: 'server-error', body: { id: 'x', status: 'failed' } }],
    ],
  ])('%s', async (_, answers) => {
    expect((await endOf([...answers, completed])).end).toMatchObject({
      answer: { callId: answers.length + 1 },
    })
  })
})

describe('the run stops', () => {
  testTable<[Outcome, string]>([
    ['refused', 'auth'],
    ['out-of-credit', 'balance'],
    ['redirected', 'unavailable'],
  ])('where a poll ends `%s`', async (outcome, reason) => {
    const { end, polls, stopped } = await endOf([running, failed(outcome)])
    expect([stopped, polls]).toEqual([reason, 2])
    expect(end).toMatchObject({ name: 'StopRequested' })
  })

  test('and with it the polls: the job is polled by whoever goes on', async () => {
    const { time, follow, polls, stop } = aPoller(() => running)
    const jobs = [follow('j1'), follow('j2')]
    await time.pass(10_000)
    const before = polls.length
    stop.request({ reason: 'interrupted', message: '' })
    await time.pass(minute)
    expect(jobs.map(({ end }) => end)).toMatchObject([{ name: 'StopRequested' }, { name: 'StopRequested' }])
    expect([polls.length, jobs[0]?.endedAt]).toEqual([before, 10_000])
  })

  test('where the last poll of a job is refused: it is not lost', async () => {
    const { time, follow } = aPoller(({ at }) => (at < 15 * minute ? running : failed('refused')))
    const job = follow()
    await time.pass(16 * minute)
    expect(job.end).toMatchObject({ name: 'StopRequested' })
  })

  test('before a job was polled at all', async () => {
    const { time, follow, polls, stop } = aPoller(() => running)
    stop.request({ reason: 'interrupted', message: '' })
    const job = follow()
    await time.pass(minute)
    expect([job.end, polls]).toMatchObject([{ name: 'StopRequested' }, []])
  })
})

describe('the path of polls', () => {
  test('is the one that the document names, and no other where that works', async () => {
    const { time, follow, polls } = aPoller(() => running)
    follow()
    await time.pass(minute)
    expect(new Set(polls.map(({ path }) => path))).toEqual(new Set(['/jobs/{job_id}']))
  })

  test('is the other one where that works, for all jobs from then on', async () => {
    const { time, follow, polls } = aPoller(({ path }) =>
      path.startsWith('/v1') ? running : failed('not-found'),
    )
    follow('j1')
    await time.pass(260)
    expect(polls.map(({ path }) => path)).toEqual(['/jobs/{job_id}', '/v1/jobs/{job_id}'])
    follow('j2')
    await time.pass(minute)
    expect(new Set(polls.slice(2).map(({ path }) => path))).toEqual(new Set(['/v1/jobs/{job_id}']))
  })

  test('is not given up for a job that is unknown later', async () => {
    const { time, follow, polls } = aPoller(inTurn(running, failed('not-found')))
    const job = follow()
    await time.pass(minute)
    expect(job.end).toMatchObject({ lost: expect.any(String) })
    expect(polls.map(({ path }) => path)).toEqual(Array(4).fill('/jobs/{job_id}'))
  })
})
