import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { highestPrice } from '../../src/catalog/index.ts'
import { creditBudget } from '../../src/ledger/budget.ts'
import { type PeriodLimit, periodLimits } from '../../src/ledger/period-limits.ts'
import type { Task } from '../../src/model/run.ts'
import { periodAt } from '../../src/model/time.ts'
import { aTask } from '../support/tasks.ts'
import { account, budgeted, nothingBefore } from './credit-budgets.ts'

const day = 86_400_000
/** One hour before a day and a month begin. */
const start = Date.UTC(2026, 5, 30, 23)
const perDay: PeriodLimit = {
  ...{ scope: 'job', name: 'job 1', period: 'day', credits: 10, timezone: 'UTC', jobs: ['job 1'] },
  elsewhere: [],
}

/** Limits of two runs, of which so much was used before. */
function limited(limits: readonly PeriodLimit[], used = 0) {
  let now = start
  const counted = limits.map((limit) => ({ limit, span: periodAt(limit.period, now, limit.timezone), used }))
  const runs = [budgeted(1), budgeted(2)]
  const periods = periodLimits(counted, runs, () => now)
  const books = creditBudget(runs, nothingBefore, highestPrice, { monotonic: () => now }, periods)
  books.ask()(account(1_000_000))
  return {
    books,
    now: () => now,
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('a limit for a day', () => {
  test('covers what the ledger, calls in flight and lost calls leave of it', () => {
    const { books } = limited([perDay], 3)
    expect(books.budgetLeft(1)).toBe(7)
    expect(books.budgetLeft(2)).toBe(Number.POSITIVE_INFINITY)
    const [a, b] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 3 })]
    books.reserve(a)
    books.reserve(b)
    expect(books.budgetLeft(1)).toBe(1)
    books.ambiguous(a)
    expect(books.canAffordRetry(a)).toBe(false)
    books.release(a)
    expect(books.budgetLeft(1)).toBe(1)
    books.billed(b)
    expect(books.budgetLeft(1)).toBe(1)
    expect(books.limitReached(1, 2)).toBe('budget')
    expect(books.budgetsReached(1, 2)).toMatchObject([{ limit: perDay, used: 9 }])
  })

  test('counts a call on the day on which it was sent', () => {
    const { books, now, pass } = limited([perDay])
    const [early, late] = [aTask({ id: 1, credits: 4 }), aTask({ id: 2, credits: 3 })]
    for (const task of [early, late]) books.reserve(task)
    const sentEarly = now()
    pass(2 * 3_600_000)
    // Both may yet be sent today, as far as is known here.
    expect(books.budgetLeft(1)).toBe(3)
    books.billed(late, now())
    books.billed(early, sentEarly)
    expect(books.budgetLeft(1)).toBe(7)
  })

  test('does not open anew where the clock is set back', () => {
    const { books, pass } = limited([perDay], 10)
    pass(-2 * day)
    expect(books.budgetLeft(1)).toBe(0)
    const task = aTask({ id: 1 })
    pass(2 * day + 3_600_000)
    expect(books.budgetLeft(1)).toBe(10)
    pass(-2 * 3_600_000)
    books.reserve(task)
    books.billed(task)
    expect(books.budgetLeft(1)).toBe(9)
  })

  test('holds a job that an earlier process submitted once', () => {
    const { books, now, pass } = limited([perDay], 6)
    const task = aTask({ id: 1, credits: 6 })
    books.resume(task, now())
    expect(books.budgetLeft(1)).toBe(4)
    books.billed(task, now())
    expect(books.budgetLeft(1)).toBe(4)
    pass(2 * 3_600_000)
    const older = aTask({ id: 2, credits: 6 })
    books.resume(older, start)
    expect(books.budgetLeft(1)).toBe(4)
    books.billed(older, start)
    expect(books.budgetLeft(1)).toBe(10)
  })
})

test('the limit of a tag binds the queries that have it, and says so', () => {
  const tag: PeriodLimit = { ...perDay, scope: 'tag', name: 'money', jobs: ['job 1', 'job 2'] }
  const { books } = limited([tag], 8)
  expect(books.budgetLeft(1)).toBe(Number.POSITIVE_INFINITY)
  expect(books.sharedLimits()).toEqual([{ runIds: [1, 2], tag: 'money', left: 2 }])
  const tagged = aTask({ id: 1, credits: 2, runId: 2, tags: ['money', 'other'] })
  books.reserve(tagged)
  books.reserve(aTask({ id: 2, credits: 5, tags: ['other'] }))
  expect(books.sharedLimits()).toEqual([{ runIds: [1, 2], tag: 'money', left: 0 }])
  expect(books.limitedTags(1)).toEqual(['money'])
  expect(books.limitReached(1, 1)).toBe('budget')
  expect(books.budgetsReached(1, 1)).toEqual([])
  expect(books.budgetsReached(1, 1, ['money'])).toHaveLength(1)
  books.ambiguous(tagged)
  expect(books.canAffordRetry(tagged)).toBe(false)
})

describe('whatever is sent, lost and billed, in whatever order and over midnights', () => {
  type Step =
    | { readonly do: 'send'; readonly run: 1 | 2; readonly credits: number; readonly tags: readonly string[] }
    | { readonly do: 'leave'; readonly which: number }
    | { readonly do: 'end'; readonly which: number; readonly how: 'billed' | 'free' | 'lost' | 'retried' }
    | { readonly do: 'pass'; readonly ms: number }
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        run: fc.constantFrom(1 as const, 2 as const),
        credits: fc.constantFrom(1, 1, 3),
        tags: fc.subarray(['a', 'b']),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(9) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        which: fc.nat(9),
        how: fc.constantFrom('billed' as const, 'free' as const, 'lost' as const, 'retried' as const),
      }),
    },
    fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(60_000, 4 * 3_600_000, 20 * 3_600_000),
    }),
  )
  const both = ['job 1', 'job 2']
  const limits: readonly PeriodLimit[] = [
    perDay,
    { ...perDay, period: 'month', credits: 25, timezone: 'Asia/Tokyo' },
    { ...perDay, scope: 'folder', name: '/jobs', credits: 13, timezone: 'America/New_York', jobs: both },
    { ...perDay, scope: 'tag', name: 'a', credits: 6, jobs: both },
    { ...perDay, scope: 'tag', name: 'b', period: 'month', credits: 15, jobs: both },
  ]

  test('no limit is exceeded in any of its periods', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const { books, now, pass } = limited(limits)
        const leased: Task[] = []
        const sent: { task: Task; at: number }[] = []
        /** What may have been billed, as the ledger has it. */
        const charged: { task: Task; at: number }[] = []
        let nextId = 1
        const room = ({ runId, tags = [] }: Task): number =>
          Math.min(
            books.availableFor(runId),
            ...books
              .sharedLimits()
              .filter((one) => one.runIds.includes(runId) && (one.tag === null || tags.includes(one.tag)))
              .map(({ left }) => left),
          )
        for (const one of steps) {
          if (one.do === 'pass') pass(one.ms)
          else if (one.do === 'send') {
            const task = aTask({ id: nextId++, runId: one.run, credits: one.credits, tags: one.tags })
            if (room(task) < task.credits) continue
            books.reserve(task)
            leased.push(task)
          } else if (one.do === 'leave') {
            const [task] = leased.splice(one.which % Math.max(1, leased.length), 1)
            if (task !== undefined) sent.push({ task, at: now() })
          } else {
            const [call] = sent.splice(one.which % Math.max(1, sent.length), 1)
            if (call === undefined) continue
            const { task, at } = call
            if (one.how !== 'free') charged.push(call)
            if (one.how === 'billed') books.billed(task, at)
            else if (one.how !== 'free') books.ambiguous(task, at)
            if (one.how === 'retried' && books.canAffordRetry(task)) sent.push({ task, at: now() })
            else books.release(task)
          }
          for (const limit of limits) {
            const sums = new Map<number, number>()
            for (const { task, at } of [...charged, ...sent]) {
              const counts =
                limit.jobs.includes(`job ${task.runId}`) &&
                (limit.scope !== 'tag' || task.tags?.includes(limit.name) === true)
              const { from } = periodAt(limit.period, at, limit.timezone)
              if (counts) sums.set(from, (sums.get(from) ?? 0) + task.credits)
            }
            for (const sum of sums.values()) expect(sum).toBeLessThanOrEqual(limit.credits)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('where all calls ended, what is left is what the ledger leaves', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<Step>({ do: 'pass', ms: day / 8 }, { do: 'leave', which: 0 })),
        (steps) => {
          const { books, now, pass } = limited([perDay])
          const charged: number[] = []
          let id = 0
          for (const one of steps) {
            if (one.do === 'pass') pass(one.ms)
            else if (books.budgetLeft(1) > 0) {
              const task = aTask({ id: ++id })
              books.reserve(task)
              books.billed(task, now())
              charged.push(now())
            }
          }
          const { from } = periodAt('day', now(), 'UTC')
          expect(books.budgetLeft(1)).toBe(perDay.credits - charged.filter((at) => at >= from).length)
        },
      ),
    )
  })
})
