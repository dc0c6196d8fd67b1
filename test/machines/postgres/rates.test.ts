import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LeaseAnswer } from '../../../src/machines/postgres/rates.ts'
import type { RateLimits } from '../../../src/model/call.ts'
import { type TestPostgres, testPostgres } from '../../support/postgres.ts'
import { testTable } from '../../support/test-table.ts'
import { aKey, openTestJournal, type TestJournal } from './journal.ts'

type LeasedTimes = Exclude<LeaseAnswer, { readonly unlimited: true }>

let server: TestPostgres
let journal: TestJournal
// One of its own, for it is started anew.
beforeAll(async () => {
  server = await testPostgres()
  journal = await openTestJournal(await server.database())
}, 60_000)
afterAll(async () => {
  await journal[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function aLimitedKey(limits: Partial<RateLimits>): Promise<string> {
  const key = aKey()
  await journal.rates.setLimits(key, { perSecond: null, perMinute: null, ...limits })
  return key
}

async function lease(key: string, count = 5, leadMs = 0, usedPart = 0.93): Promise<LeasedTimes> {
  const answer = await journal.rates.lease(key, count, { leadMs, usedPart })
  if ('unlimited' in answer) throw new Error('there is no limit')
  return answer
}

const instantsOf = ({ firstAt, spacingMs, given }: LeasedTimes): readonly number[] =>
  Array.from({ length: given }, (_, index) => firstAt + index * spacingMs)

/** The most of these instants that lie in any window of that length. */
function mostWithin(instants: readonly number[], windowMs: number): number {
  const sorted = instants.toSorted((a, b) => a - b)
  return Math.max(
    ...sorted.map((from, index) => sorted.filter((at, i) => i >= index && at < from + windowMs).length),
  )
}

describe('Send times of several machines', () => {
  test('are never more than the limits in any second and any minute, and none is wasted', async () => {
    const asked = fc.array(
      fc.record({
        count: fc.integer({ min: 1, max: 9 }),
        leadMs: fc.nat(40),
        // Each process uses the part of the limit that its calls are punctual enough for.
        usedPart: fc.double({ min: 0.93, max: 0.97, noNaN: true }),
      }),
      { minLength: 10, maxLength: 40 },
    )
    const limits = fc.record({
      perSecond: fc.option(fc.integer({ min: 1, max: 200 })),
      perMinute: fc.option(fc.integer({ min: 1, max: 3_000 })),
    })
    await fc.assert(
      fc.asyncProperty(asked, limits, async (asked, limits) => {
        fc.pre(limits.perSecond !== null || limits.perMinute !== null)
        const key = await aLimitedKey(limits)
        const leases = await Promise.all(
          asked.map(({ count, leadMs, usedPart }) => lease(key, count, leadMs, usedPart)),
        )
        expect(leases.map(({ given }) => given)).toEqual(asked.map(({ count }) => count))
        const instants = leases.flatMap(instantsOf)
        const { perSecond, perMinute } = limits
        expect(mostWithin(instants, 1_000)).toBeLessThanOrEqual(perSecond ?? Number.POSITIVE_INFINITY)
        expect(mostWithin(instants, 60_000)).toBeLessThanOrEqual(perMinute ?? Number.POSITIVE_INFINITY)
        for (const [index, { firstAt, now }] of leases.entries())
          expect(firstAt - now).toBeGreaterThanOrEqual((asked[index]?.leadMs ?? 0) - 0.01)
        // More than nine tenths of the limit are used.
        const spacing = Math.max(1_000 / (perSecond ?? 1e9), 60_000 / (perMinute ?? 1e9))
        expect(leases.map(({ spacingMs }) => spacingMs / spacing < 1.1)).not.toContain(false)
      }),
      { numRuns: 25 },
    )
  })

  test('begin now where the limit was not used for a while', async () => {
    const key = await aLimitedKey({ perSecond: 10 })
    await journal.sql(
      "UPDATE rankline.keys SET next_slot = clock_timestamp() - interval '1 hour' WHERE key_hash = $1",
      key,
    )
    const { firstAt, now } = await lease(key, 5, 8)
    expect(firstAt - now).toBeCloseTo(8, 1)
  })

  testTable<[string, RateLimits | null]>([
    ['a key that nobody knows', null],
    ['no limit', { perSecond: null, perMinute: null }],
    ['limits of no calls, which would never let anything through', { perSecond: 0, perMinute: 0 }],
  ])('there are none for %s: calls leave at once', async (_, limits) => {
    const key = limits === null ? aKey() : await aLimitedKey(limits)
    const before = Date.now()
    const answer = await journal.rates.lease(key, 5, { leadMs: 0, usedPart: 0.93 })
    expect(answer).toEqual({ unlimited: true, now: expect.any(Number) })
    expect(Math.abs(answer.now - before)).toBeLessThan(60_000)
  })

  test('follow limits that change, and each key has its own', async () => {
    const key = await aLimitedKey({ perSecond: 10 })
    expect((await lease(key)).spacingMs).toBeCloseTo(100 / 0.93)
    await journal.rates.setLimits(key, { perSecond: 2, perMinute: 60 })
    expect((await lease(key)).spacingMs).toBeCloseTo(1_000 / 0.93)
    expect(await journal.rates.limits(key)).toEqual({ perSecond: 2, perMinute: 60 })
    expect(await journal.rates.limits(aKey())).toBeNull()
    const other = await lease(await aLimitedKey({ perSecond: 1 }))
    expect(other.firstAt - other.now).toBeLessThan(1)
  })
})

describe('After a refusal', () => {
  const limits = { perSecond: 50 }

  test('one call at a time is let through, until one that was sent after it passes', async () => {
    const key = await aLimitedKey(limits)
    const before = await lease(key)
    expect(before.isProbe).toBe(false)
    await journal.rates.refused(key, before.firstAt, null)
    const probes = await Promise.all([lease(key), lease(key), lease(key)])
    expect(probes.map(({ given, isProbe }) => ({ given, isProbe }))).toEqual(
      Array(3).fill({ given: 1, isProbe: true }),
    )
    const [first, second, third] = probes.map(({ firstAt }) => firstAt).sort((a, b) => a - b) as [
      number,
      number,
      number,
    ]
    expect(first - (probes[0]?.now ?? 0)).toBeGreaterThanOrEqual(450)
    expect([second - first, third - second].every((gap) => gap >= 999)).toBe(true)
    // A call that was sent before the refusal says nothing.
    await journal.rates.passed(key, before.firstAt)
    expect((await lease(key)).isProbe).toBe(true)
    await journal.rates.passed(key, first)
    expect(await lease(key)).toMatchObject({ isProbe: false, given: 5 })
  })

  test('the first probe ends the hold when it passes, however its instant is rounded', async () => {
    for (let time = 0; time < 20; time++) {
      const key = await aLimitedKey(limits)
      await journal.rates.refused(key, 0, 300 + time / 7)
      const { firstAt } = await lease(key)
      await journal.rates.passed(key, firstAt - 1)
      expect((await lease(key)).isProbe).toBe(false)
    }
  })

  const holdOf = async (key: string): Promise<number> => {
    const [row] = await journal.sql<{ hold: number }>(
      'SELECT (extract(epoch FROM held_until - clock_timestamp()) * 1000)::float AS hold FROM rankline.keys WHERE key_hash = $1',
      key,
    )
    return row?.hold ?? 0
  }
  const about = (hold: number, wanted: number): boolean => hold <= wanted && hold > wanted - 400

  test('the hold doubles with each probe that is refused, not with calls that were under way', async () => {
    const key = await aLimitedKey(limits)
    const holds: number[] = []
    const wanted = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
    for (let sentAt = 0; holds.length < wanted.length; ) {
      await journal.rates.refused(key, sentAt, null)
      // Under way at the same time.
      await journal.rates.refused(key, sentAt + 1, null)
      holds.push(await holdOf(key))
      sentAt = (await lease(key)).firstAt
    }
    expect(holds.map((hold, index) => about(hold, wanted[index] as number))).not.toContain(false)
  })

  test('a delay that the service names replaces ours, but none of nothing', async () => {
    const key = await aLimitedKey(limits)
    await journal.rates.refused(key, 0, 5_000)
    expect(about(await holdOf(key), 5_000)).toBe(true)
    const other = await aLimitedKey(limits)
    await journal.rates.refused(other, 0, 0)
    expect(about(await holdOf(other), 500)).toBe(true)
  })

  testTable<[string, () => Promise<string>]>([
    ['that has no limit', () => aLimitedKey({})],
    ['that nobody knows', async () => aKey()],
  ])('a key %s is held as well', async (_, keyOf) => {
    const key = await keyOf()
    await journal.rates.refused(key, 0, null)
    const { isProbe, given, firstAt } = await lease(key)
    expect([isProbe, given]).toEqual([true, 1])
    await journal.rates.passed(key, firstAt)
    expect(await journal.rates.lease(key, 5, { leadMs: 0, usedPart: 0.93 })).toMatchObject({
      unlimited: true,
    })
  })
})

describe('When the clock of the server is set back', () => {
  /** As if the clock had shown an hour more until now. */
  const setBack = (key: string) =>
    journal.sql(
      `UPDATE rankline.keys SET leased_at = leased_at + interval '1 hour', next_slot = next_slot + interval '1 hour',
        held_until = held_until + interval '1 hour' WHERE key_hash = $1`,
      key,
    )

  test('send times go on where they were, and none is given out twice', async () => {
    const key = await aLimitedKey({ perSecond: 100 })
    const before = instantsOf(await lease(key, 9)).at(-1) as number
    await setBack(key)
    const { firstAt, spacingMs, now } = await lease(key)
    expect(firstAt - before).toBeGreaterThanOrEqual(spacingMs - 0.01)
    expect(firstAt - Math.max(now, before)).toBeLessThan(1_000)
    // Only once.
    expect((await lease(key)).firstAt - firstAt).toBeLessThan(1_000)
  })

  test('a hold after a refusal lasts no longer', async () => {
    const key = await aLimitedKey({ perSecond: 100 })
    await lease(key)
    await journal.rates.refused(key, 0, 2_000)
    await setBack(key)
    const { firstAt, now, isProbe } = await lease(key)
    expect(isProbe).toBe(true)
    expect(firstAt - now).toBeLessThan(3_500)
    await journal.rates.passed(key, firstAt)
    expect((await lease(key)).isProbe).toBe(false)
  })

  test('nobody waits for more send times than all workers together can have, whatever is written down', async () => {
    const key = await aLimitedKey({ perSecond: 100 })
    await journal.sql(
      "UPDATE rankline.keys SET next_slot = clock_timestamp() + interval '1 year' WHERE key_hash = $1",
      key,
    )
    const { firstAt, now, spacingMs } = await lease(key)
    expect(firstAt - now).toBeLessThanOrEqual(1_000 * spacingMs + 0.01)
  })
})

describe('When the server is started anew', () => {
  test('no send time that it gave out before is given out again, and one window is left free', async () => {
    const [slow, fast] = [await aLimitedKey({ perSecond: 2 }), await aLimitedKey({ perSecond: 100 })]
    const before = [await lease(slow, 9), await lease(fast, 9)].map((one) => instantsOf(one).at(-1) as number)
    await server.crash()
    await server.start()
    const started = await startOf(journal)
    const after = [await lease(slow), await lease(fast)]
    for (const [index, { firstAt, spacingMs }] of after.entries()) {
      expect(firstAt).toBeGreaterThanOrEqual(started + 2_000)
      expect(firstAt - (before[index] as number)).toBeGreaterThanOrEqual(spacingMs - 0.01)
    }
    // Only once.
    const [first, next] = [after[1] as LeasedTimes, await lease(fast)]
    expect(next.firstAt - first.firstAt).toBeCloseTo(5 * first.spacingMs, 1)
  })
})

describe('When another server takes over', () => {
  test.each([
    ['that had just been given out', 0],
    ['that lie ahead, behind those of many workers', 150],
  ])('send times that it never heard of are not given out again: %s', async (_, ahead) => {
    const key = await aLimitedKey({ perSecond: 20 })
    const known = await lease(key, ahead + 1)
    // What the other server gave out in its last second.
    const lost = await lease(key, Math.floor(1_000 / known.spacingMs))
    await journal.sql(
      `UPDATE rankline.keys SET timeline = timeline - 1, next_slot = next_slot - make_interval(secs => $2 / 1000.0) WHERE key_hash = $1`,
      ...[key, lost.given * lost.spacingMs],
    )

    const next = await lease(key, 30)

    expect(next.firstAt - (instantsOf(lost).at(-1) as number)).toBeGreaterThanOrEqual(next.spacingMs)
    expect(mostWithin([known, lost, next].flatMap(instantsOf), 1_000)).toBeLessThanOrEqual(20)
    // Only once.
    expect((await lease(key)).firstAt - next.firstAt).toBeCloseTo(30 * next.spacingMs, 1)
  })
})

async function startOf({ sql }: TestJournal): Promise<number> {
  const [row] = await sql<{ started: number }>(
    'SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::float AS started',
  )
  return row?.started as number
}
