import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../../src/api/client.ts'
import { type HttpClient, openHttpClient } from '../../src/api/http.ts'
import type { RateLimiter } from '../../src/api/rate-limiter.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import { databaseClock } from '../../src/machines/database-clock.ts'
import { openJournal, type SharedJournal } from '../../src/machines/postgres/open.ts'
import { type SharedLimiter, sharedLimiter } from '../../src/machines/shared-limiter.ts'
import { refusalOfKey, type WorkerOptions, work } from '../../src/machines/worker.ts'
import { type Clock, systemClock } from '../../src/model/time.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { SandboxOptions } from '../../src/sandbox/state.ts'
import { openScratchStore } from '../../src/store/sqlite/open.ts'
import { waitWhile } from '../cli/staged.ts'
import { cutNetwork } from '../support/cut-network.ts'
import { fastClock } from '../support/fast-clock.ts'
import { openPromise } from '../support/open-promise.ts'
import { aChunk, aJournal, aSharedRun, expire, released, type TestJournal } from './postgres/journal.ts'

interface Settings {
  readonly sandbox?: SandboxOptions
  readonly apiKey?: string
  readonly clock?: Clock
  readonly journal?: SharedJournal
  readonly limited?: (limiter: SharedLimiter) => SharedLimiter
  readonly through?: (http: HttpClient) => HttpClient
}

/** A worker that has three calls to make, and the service that gets them. */
async function aWorker(there: TestJournal, settings: Settings = {}) {
  const { journal = there, limited = (limiter) => limiter, clock: local = systemClock } = settings
  const { through = (http) => http } = settings
  const sandbox = await startSandbox(settings.sandbox)
  onTestFinished(() => sandbox.close())
  const http = through(
    openHttpClient({
      ...{ origin: sandbox.url, apiKey: settings.apiKey ?? sandbox.key, connections: 8, timeoutMs: 60_000 },
      ...{ userAgent: 'test', proxy: null },
    }),
  )
  onTestFinished(() => http.close())
  const run = await released(there, aSharedRun(), aChunk(['desk', 'lamp', 'chair']))
  const { keyHash } = run
  const stop = stopSignal()
  const clock = databaseClock(local)
  const limiter = limited(
    sharedLimiter({ rates: journal.rates, keyHash, clock, concurrency: 8, onError: () => {} }),
  )
  const serviceDelays = { throttledMs: 60_000, unavailableMs: 60_000 }
  const serviceFor: WorkerOptions['serviceFor'] = (store, job, mayStillLeave) =>
    apiClient({
      ...{
        baseUrl: sandbox.url,
        http,
        rateLimiter: { ...limiter, acquire: limiter.ofJob(job) },
        store,
        clock,
        keyHash,
        serviceDelays,
      },
      mayStillLeave,
    })
  const said: string[] = []
  const options: WorkerOptions = {
    ...{ journal, limiter, clock, stop, serviceFor, keyHash, openMemory: openScratchStore },
    ...{ name: 'test', version: '0', concurrency: 8, leaseMs: 60_000, once: false, random: Math.random },
    ...{ maxOutageMs: 60_000, maxThrottlingMs: 60_000, onState: () => {}, onWork: () => {} },
    notice: (line) => said.push(line),
  }
  return { sandbox, options, stop, run, said }
}

const interrupted = { reason: 'interrupted', message: 'Interrupted.' } as const

test('A small job has its first call within two seconds of send times, however large the one is that came before', async () => {
  const journal = await aJournal()
  const perSecond = 40
  const { sandbox, options, stop, run } = await aWorker(journal, {
    sandbox: { account: { perSecond }, latencyMs: 20 },
  })
  await journal.rates.setLimits(run.keyHash, { perSecond, perMinute: null })
  const texts = (word: string, queries: number) =>
    Array.from({ length: queries }, (_, number) => `${word} ${number}`)
  const large = Array.from({ length: 9 }, (_, chunk) => aChunk(texts(`large ${chunk}`, 100)))
  await released(journal, aSharedRun({ keyHash: run.keyHash, job: 'large' }), ...large)
  const asked = () =>
    sandbox.ledger.requests.flatMap(({ params }) =>
      Object.values(params).flatMap((value) =>
        /^(small|large) /.test(String(value)) ? [String(value)] : [],
      ),
    )
  const working = work(options)
  // As full as it gets of the large job.
  await waitWhile(() => asked().filter((text) => text.startsWith('large')).length < 40)
  const before = asked().length
  await released(journal, aSharedRun({ keyHash: run.keyHash, job: 'small' }), aChunk(texts('small', 20)))
  await waitWhile(() => !asked().some((text) => text.startsWith('small')))
  expect(asked().findIndex((text) => text.startsWith('small')) - before).toBeLessThan(2 * perSecond)
  // From then on both take turns.
  await waitWhile(() => asked().filter((text) => text.startsWith('small')).length < 10)
  const since = asked().slice(asked().findIndex((text) => text.startsWith('small')))
  expect(since.filter((text) => text.startsWith('large')).length).toBeLessThan(since.length * 0.7)
  stop.request(interrupted)
  expect(await working).toBeNull()
}, 60_000)

test.each([
  [1, 0.5, 500],
  [3, 0.5, 1_500],
  [40, 0, 1_000],
  // The others may be gone, or full, and a small job has its first call within two seconds.
  [40, 0.99, 1_800],
])(
  'Where %s workers of a key have no room and %s is drawn, each looks for other jobs every %s ms',
  async (workers, drawn, everyMs) => {
    const there = await aJournal()
    using fast = fastClock(5)
    let lastReading = 0
    const monotonic = (): number => {
      lastReading = fast.monotonic()
      return lastReading
    }
    const clock = { ...fast, monotonic }
    // A look counts from when the worker read the clock for it, which is right before it draws.
    let began = 0
    const random = (): number => {
      began = lastReading
      return drawn
    }
    const looks: number[] = []
    const take: SharedJournal['chunks']['take'] = (...given) => {
      if (given[4]?.which === 'others') looks.push(began)
      return there.chunks.take(...given)
    }
    const seen = async () => ({ tooNew: null, workers })
    const journal = {
      ...there,
      chunks: { ...there.chunks, take },
      operations: { ...there.operations, seen },
    }
    const { options, stop } = await aWorker(there, { clock, journal, sandbox: { latencyMs: 3_000 } })
    const working = work({ ...options, concurrency: 1, random })
    // It begins to look before it knows of the others.
    await waitWhile(() => looks.length < 5)
    stop.request(interrupted)
    expect(await working).toBeNull()
    const pauses = [2, 3, 4].map((index) => (looks[index] as number) - (looks[index - 1] as number))
    // But for how sums of milliseconds are rounded.
    expect(Math.min(...pauses)).toBeGreaterThan(everyMs - 1e-6)
    expect(Math.min(...pauses)).toBeLessThan(everyMs + 450)
  },
  60_000,
)

/** Holds each answer, except that of the last call, back until the next call was sent. */
function answeredAfterNext(http: HttpClient, calls: number): HttpClient {
  const sent = Array.from({ length: calls }, openPromise)
  let begun = 0
  return {
    ...http,
    exchange: async (...given) => {
      sent[begun]?.fulfil()
      begun += 1
      const next = sent[begun]
      const response = await http.exchange(...given)
      await next?.promise
      return response
    },
  }
}

test.each([
  [
    'wait for those that are to come where the rate limit holds calls back',
    { perSecond: 1, through: (http: HttpClient) => answeredAfterNext(http, 3) },
    { answers: ['coming', undefined, undefined], ends: ['coming', undefined, undefined] },
  ],
  [
    'wait for those that are to come, answers not where no other call is under way',
    { perSecond: 1 },
    { answers: [undefined, undefined, undefined], ends: ['coming', 'coming', undefined] },
  ],
  [
    'do not wait where nothing does',
    { perSecond: null },
    { answers: [undefined, undefined, undefined], ends: [undefined, undefined, undefined] },
  ],
] as const)('Answers and ends of tasks %s', async (_, { perSecond, ...settings }, others) => {
  const there = await aJournal()
  const answered: unknown[] = []
  const ended: unknown[] = []
  const answer: SharedJournal['calls']['answer'] = (...given) => {
    answered.push(given[3])
    return there.calls.answer(...given)
  }
  const endTask: SharedJournal['calls']['endTask'] = (...given) => {
    ended.push(given[2])
    return there.calls.endTask(...given)
  }
  const journal = { ...there, calls: { ...there.calls, answer, endTask } }
  const { options, run } = await aWorker(there, { journal, sandbox: { latencyMs: 20 }, ...settings })
  await there.rates.setLimits(run.keyHash, { perSecond, perMinute: null })
  const told: number[] = []
  expect(await work({ ...options, once: true, onWork: (queries) => told.push(queries) })).toBeNull()
  // Connections are opened ahead for so many.
  expect(told[0]).toBe(3)
  expect({ answers: answered, ends: ended }).toEqual(others)
})

const callsIn = ({ sql }: TestJournal) =>
  sql<{ outcome: string | null; billed: number | null }>('SELECT outcome, billed FROM rankline.calls')

test('What was written and waited for its send time for longer than the lease is not sent, and costs nothing', async () => {
  const journal = await aJournal()
  const sendTime = openPromise()
  let asleepMs = 0
  let isStopped = false
  let taken: Promise<unknown> = Promise.resolve()
  const take: SharedJournal['chunks']['take'] = async (...given) => {
    if (isStopped) return []
    const taking = journal.chunks.take(...given)
    taken = Promise.all([taken, taking])
    return await taking
  }
  const takeBack: SharedJournal['chunks']['takeBack'] = async (...given) =>
    isStopped ? { released: 0, dead: 0 } : await journal.chunks.takeBack(...given)
  const atItsTime = (limiter: RateLimiter): RateLimiter['acquire'] => {
    return async (asked) => {
      const permit = await limiter.acquire(asked)
      return { ...permit, departure: () => sendTime.promise }
    }
  }
  const { sandbox, options, stop, run } = await aWorker(journal, {
    journal: { ...journal, chunks: { ...journal.chunks, take, takeBack } },
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + asleepMs },
    limited: (limiter) => ({ ...limiter, ofJob: () => atItsTime(limiter) }),
  })
  const working = work(options)
  let written = await callsIn(journal)
  while (written.length < 3) written = await callsIn(journal)
  // As in a process that is stopped and wakes up: another worker has its chunk, and nothing has told it so.
  isStopped = true
  await taken
  const [chunk] = await journal.sql<{ id: number }>('SELECT id FROM rankline.chunks')
  await expire(journal, { chunk: String(chunk?.id), run: run.id, fence: 1 })
  expect(await journal.chunks.takeBack(10)).toEqual({ released: 1, dead: 0 })
  expect(
    await journal.chunks.take('00000000-0000-0000-0000-000000000001', [run.keyHash], 1, 60_000),
  ).toHaveLength(1)
  asleepMs = 120_000
  sendTime.fulfil()
  while ((await callsIn(journal)).some(({ outcome }) => outcome === 'ambiguous'));
  stop.request(interrupted)
  expect(await working).toBeNull()
  expect(sandbox.ledger.requests).toEqual([])
  expect(await callsIn(journal)).toEqual(Array(3).fill({ outcome: 'unreachable', billed: 0 }))
})

test('A worker renews its leases while what else it has to say to the queue waits for a lock', async () => {
  const journal = await aJournal()
  using clock = fastClock(30)
  const { sandbox, options, stop } = await aWorker(journal, { clock, sandbox: { latencyMs: 2_000 } })
  const leasedUntil = async (): Promise<string | null | undefined> =>
    (await journal.sql<{ at: string | null }>('SELECT leased_until::text AS at FROM rankline.chunks'))[0]?.at
  const renewals = new Set<string>()
  let working: ReturnType<typeof work> | undefined
  await journal.postgres.transaction(async ({ query }) => {
    await query('LOCK TABLE rankline.workers IN EXCLUSIVE MODE')
    working = work(options)
    while (renewals.size < 4) renewals.add((await leasedUntil()) ?? '')
  })
  await waitWhile(() => sandbox.ledger.requests.length < 3)
  stop.request(interrupted)
  expect(await working).toBeNull()
  expect(await callsIn(journal)).toEqual(Array(3).fill({ outcome: 'answered', billed: 1 }))
})

test('A worker that is told to stop waits for a slow answer while it hears of the queue', async () => {
  const journal = await aJournal()
  using clock = fastClock(30)
  const { sandbox, options, stop } = await aWorker(journal, { clock, sandbox: { latencyMs: 2_000 } })
  const working = work(options)
  await waitWhile(() => sandbox.ledger.requests.length < 3)
  stop.request(interrupted)
  expect(await working).toBeNull()
  expect(await callsIn(journal)).toEqual(Array(3).fill({ outcome: 'answered', billed: 1 }))
})

test('A worker that is told to stop ends half a minute later where the network drops everything', async () => {
  const there = await aJournal()
  using clock = fastClock(30)
  await using network = await cutNetwork(() => Number(new URL(there.url).port))
  const url = new URL(there.url)
  url.port = String(network.port)
  await using journal = await openJournal(url.href)
  const { sandbox, options, stop } = await aWorker(there, { clock, journal, sandbox: { latencyMs: 200 } })
  const working = work(options)
  await waitWhile(() => sandbox.ledger.requests.length < 3)
  network.cut()
  stop.request(interrupted)
  expect(await working).toMatchObject({
    reason: 'unavailable',
    message: expect.stringContaining('the queue could not be reached'),
  })
})

test('The key is asked for with the free usage call, which is in the ledger; a service that is down refuses none', async () => {
  const journal = await aJournal()
  const good = await aWorker(journal)
  expect(await refusalOfKey(good.options)).toBeNull()
  expect(await callsIn(journal)).toEqual([{ outcome: 'answered', billed: 0 }])
  expect(await journal.sql('SELECT remaining FROM rankline.readings')).toHaveLength(1)
  const bad = await aWorker(journal, { apiKey: 'wrong-key' })
  expect(await refusalOfKey(bad.options)).toMatchObject({ reason: 'auth' })
  using clock = fastClock(1_000)
  const down = await aWorker(journal, { clock })
  await down.sandbox.close()
  expect(await refusalOfKey(down.options)).toBeNull()
})
