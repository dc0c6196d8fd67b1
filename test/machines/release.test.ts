import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { highestPrice } from '../../src/catalog/index.ts'
import { creditBudget } from '../../src/ledger/budget.ts'
import { type CountedLimit, type PeriodLimit, periodLimits } from '../../src/ledger/period-limits.ts'
import type { WaitingChunk } from '../../src/machines/postgres/spending.ts'
import { decideRelease } from '../../src/machines/releasing.ts'
import { dayMs } from '../../src/model/time.ts'
import { account, budgeted } from '../ledger/credit-budgets.ts'
import { noon } from '../store/build.ts'
import { testTable } from '../support/test-table.ts'

/** Limits of a key with two runs; what is not said is no limit. */
interface Limits {
  readonly balance: number
  readonly quotaLeft: number
  /** By run. */
  readonly maxCredits: readonly [number | null, number | null]
  readonly keep: readonly [number | null, number | null]
  /** What was spent and what may have been, of each run. */
  readonly spent: readonly [number, number]
  readonly ambiguous: readonly [number, number]
  /** Reserved for chunks of other runs, possibly billed, billed since the account was read. */
  readonly elsewhere: number
  /** A day's limit of the first job, one of both jobs, and one of a tag, with what was used of each. */
  readonly perDay: readonly CountedPart[]
}

interface CountedPart {
  readonly of: 'first job' | 'both jobs' | 'tag'
  readonly credits: number
  readonly used: number
}

const unlimited: Limits = {
  ...{ balance: 1_000_000, quotaLeft: Number.POSITIVE_INFINITY, elsewhere: 0, perDay: [] },
  ...{ maxCredits: [null, null], keep: [null, null], spent: [0, 0], ambiguous: [0, 0] },
}

const runIds = ['run 1', 'run 2'] as const
const jobs = ['job 1', 'job 2'] as const
const tag = 'brand'

function aWaiting(chunk: Partial<WaitingChunk> = {}): WaitingChunk {
  const basic = {
    id: '1',
    run: runIds[0],
    priority: 0,
    tags: [],
    mostCredits: 10,
    leastCredits: 1,
    stop: null,
  }
  return { ...basic, ...chunk }
}

function counted({ of, credits, used }: CountedPart): CountedLimit {
  const whose: Record<CountedPart['of'], Pick<PeriodLimit, 'scope' | 'name' | 'jobs'>> = {
    'first job': { scope: 'job', name: jobs[0], jobs: [jobs[0]] },
    'both jobs': { scope: 'folder', name: 'folder', jobs },
    tag: { scope: 'tag', name: tag, jobs },
  }
  const from = Math.floor(noon / dayMs) * dayMs
  const limit: PeriodLimit = { ...whose[of], period: 'day', credits, timezone: 'UTC', elsewhere: [] }
  return { limit, span: { from, until: from + dayMs }, used }
}

function decide(waiting: readonly WaitingChunk[], given: Partial<Limits>) {
  const limits = { ...unlimited, ...given }
  const runs = [1, 2].map((id, index) => budgeted(id, limits.maxCredits[index], limits.keep[index]))
  const periods = periodLimits(limits.perDay.map(counted), runs, () => noon)
  const byRun = new Map(
    runs.map(({ id }, index) => [
      id,
      { spent: limits.spent[index] as number, ambiguous: limits.ambiguous[index] as number },
    ]),
  )
  const before = { byRun, ambiguous: [{ credits: limits.elsewhere, age: 0 }] }
  const budget = creditBudget(runs, before, highestPrice, { monotonic: () => 0 }, periods)
  budget.ask()(account(limits.balance))
  const shared = new Map(runs.map((run, index) => [runIds[index] as string, run]))
  return decideRelease(waiting, { budget, periods, quotaLeft: limits.quotaLeft, runs: shared })
}

describe('A chunk of up to 10 credits, a page of which costs 2', () => {
  const waiting = [aWaiting({ leastCredits: 2, tags: [tag] })]
  testTable<[string, Partial<Limits>, number, string?]>([
    ['no limit', {}, 10],
    ['a balance that covers it', { balance: 10 }, 10],
    ['a balance that covers a part', { balance: 7 }, 7],
    ['a balance of one page', { balance: 2 }, 2],
    ['a balance of less than a page', { balance: 1 }, 0, 'balance'],
    ['a balance that others have reserved', { balance: 10, elsewhere: 9 }, 0, 'balance'],
    ['a balance that is to be kept', { balance: 10, keep: [9, null] }, 0, 'balance'],
    ['a balance of which some is to be kept', { balance: 10, keep: [4, null] }, 6],
    ['a budget of the run', { maxCredits: [5, null] }, 5],
    [
      'a budget of the run that is used',
      { maxCredits: [5, null], spent: [3, 0], ambiguous: [1, 0] },
      0,
      'budget',
    ],
    ['the budget of another run', { maxCredits: [null, 0] }, 10],
    ['a day', { perDay: [{ of: 'first job', credits: 9, used: 6 }] }, 3],
    ['a day that is used', { perDay: [{ of: 'first job', credits: 9, used: 9 }] }, 0, 'budget'],
    ['a day of the folder', { perDay: [{ of: 'both jobs', credits: 9, used: 5 }] }, 4],
    ['a day of a tag', { perDay: [{ of: 'tag', credits: 9, used: 5 }] }, 4],
    ['a day of a tag that is used', { perDay: [{ of: 'tag', credits: 9, used: 8 }] }, 0, 'budget'],
    ['a quota of three calls', { quotaLeft: 3 }, 6],
    ['a quota that is used', { quotaLeft: 0 }, 0, 'quota'],
  ])('%s: is given what is covered, at least a page, or the limit is named', (_, limits, credits, limit) => {
    const { grants, limits: named, reached } = decide(waiting, limits)
    expect(grants).toEqual(credits === 0 ? [] : [{ chunk: '1', credits }])
    expect(named.get(1)).toBe(limit)
    expect(named.size).toBe(limit === undefined ? 0 : 1)
    expect((reached.get(1) ?? []).length > 0).toBe(limit === 'budget')
  })
})

test('A chunk that is not covered keeps smaller ones behind it and those of other runs from nothing', () => {
  const waiting = [
    aWaiting({ id: '1', leastCredits: 5 }),
    aWaiting({ id: '2', mostCredits: 3 }),
    aWaiting({ id: '3', run: runIds[1], mostCredits: 20 }),
    aWaiting({ id: '4', run: 'of nobody here' }),
  ]
  const { grants, limits } = decide(waiting, { maxCredits: [4, null], balance: 20 })
  expect(grants).toEqual([
    { chunk: '2', credits: 3 },
    { chunk: '3', credits: 17 },
  ])
  expect([...limits]).toEqual([[1, 'budget']])
})

test('Whatever waits and whatever limits there are: no limit is exceeded, each chunk gets a page or nothing, and the first what it may', () => {
  const credits = fc.nat(60)
  const pair = <T>(of: fc.Arbitrary<T>) => fc.tuple(of, of)
  const limits: fc.Arbitrary<Limits> = fc.record({
    ...{ balance: fc.nat(150), quotaLeft: fc.oneof(fc.nat(30), fc.constant(Number.POSITIVE_INFINITY)) },
    ...{ maxCredits: pair(fc.option(credits)), keep: pair(fc.option(credits)) },
    ...{ spent: pair(fc.nat(20)), ambiguous: pair(fc.nat(20)), elsewhere: fc.nat(40) },
    perDay: fc.uniqueArray(
      fc.record({
        of: fc.constantFrom<CountedPart['of']>('first job', 'both jobs', 'tag'),
        credits,
        used: fc.nat(30),
      }),
      { selector: ({ of }) => of },
    ),
  })
  const chunk = fc.record({
    run: fc.constantFrom(...runIds),
    tags: fc.constantFrom([], [tag]),
    leastCredits: fc.integer({ min: 1, max: 6 }),
    more: fc.nat(40),
  })
  const atMost = (sum: number, limit: number): void => expect(sum).toBeLessThanOrEqual(Math.max(0, limit))
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), limits, (chunks, limits) => {
      const waiting = chunks.map(({ more, ...one }, index) =>
        aWaiting({ ...one, id: String(index + 1), mostCredits: one.leastCredits + more }),
      )
      const { grants, limits: named } = decide(waiting, limits)
      const given = new Map(grants.map((grant) => [grant.chunk, grant.credits]))
      const sumOf = (which: (chunk: WaitingChunk) => boolean): number =>
        waiting.filter(which).reduce((sum, { id }) => sum + (given.get(id) ?? 0), 0)
      const { balance, elsewhere, maxCredits, spent, ambiguous, keep, quotaLeft, perDay } = limits
      atMost(
        sumOf(() => true),
        balance - elsewhere,
      )
      for (const [index, run] of runIds.entries()) {
        const ofRun = sumOf((one) => one.run === run)
        const left = (maxCredits[index] ?? Infinity) - (spent[index] as number) - (ambiguous[index] as number)
        atMost(ofRun, left)
        // Others may take what this run would leave.
        atMost(ofRun, balance - elsewhere - (keep[index] ?? 0))
      }
      for (const { of, credits, used } of perDay)
        atMost(
          sumOf(
            ({ run, tags }) => of === 'both jobs' || (of === 'tag' ? tags.includes(tag) : run === runIds[0]),
          ),
          credits - used,
        )
      const calls = waiting.reduce(
        (sum, { id, leastCredits }) => sum + Math.floor((given.get(id) ?? 0) / leastCredits),
        0,
      )
      atMost(calls, quotaLeft)
      for (const { id, run, leastCredits, mostCredits } of waiting) {
        const granted = given.get(id)
        if (granted === undefined) expect(named.has(runIds.indexOf(run as 'run 1') + 1)).toBe(true)
        else expect(granted >= leastCredits && granted <= mostCredits).toBe(true)
      }
      expect(given.size).toBe(grants.length)
    }),
    { numRuns: 400 },
  )
})
