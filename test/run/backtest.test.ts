import { describe, expect, test } from 'vitest'
import { backtest, type Day } from '../../src/run/backtest.ts'
import { aTarget } from './build.ts'
import { day, history, storedQuery } from './histories.ts'

const ten = 'abcdefghij'
const weekly = { until: 'own', deepEveryMs: 7 * day } as const

/** Three pages of ten, with `x` in this place; without it where that is null. */
function withX(rank: number | null): readonly string[] {
  const others = `${ten}klmnopqrstABCDEFGHIK`
  const line = rank === null ? others : `${others.slice(0, rank - 1)}x${others.slice(rank - 1, -1)}`
  return [0, 10, 20].map((from) => line.slice(from, from + 10))
}

const figures = (
  histories: readonly (readonly Day[])[],
  settings: Parameters<typeof backtest>[1] = weekly,
): Readonly<Record<string, unknown>> => {
  const { outcomes, ...counted } = backtest(histories, settings)
  return { ...counted, ...Object.fromEntries(outcomes.map(({ policy, ...outcome }) => [policy, outcome])) }
}

const none = { missed: 0, estimated: 0, wrong: 0, topChanges: 0, topChangesMissed: 0 }

describe('what each policy would have cost and missed', () => {
  test('of a target that stays on the second page', () => {
    expect(figures([history([withX(11), withX(12), withX(11)])])).toEqual({
      ...{ looks: 3, leftOut: 0 },
      all: { ...none, pages: 9, credits: 18, ranked: 3 },
      'until-found': { ...none, pages: 6, credits: 12, ranked: 3 },
      smart: { ...none, pages: 6, credits: 12, ranked: 3 },
    })
  })

  test('of a target that stays on the third', () => {
    // Smart goes straight to it from the second day on, and does not see what lies between.
    expect(figures([history([withX(25), withX(25), withX(25)])])).toEqual({
      ...{ looks: 3, leftOut: 0 },
      all: { ...none, pages: 9, credits: 18, ranked: 3 },
      'until-found': { ...none, pages: 9, credits: 18, ranked: 3 },
      smart: { ...none, pages: 3 + 2 + 2, credits: 14, ranked: 3, estimated: 2 },
    })
  })

  test('of a target that enters the first ten and leaves them', () => {
    const changes = { ...none, topChanges: 3, ranked: 4 }
    expect(figures([history([withX(12), withX(9), withX(8), withX(21)])])).toEqual({
      ...{ looks: 4, leftOut: 0 },
      all: { ...changes, pages: 12, credits: 24 },
      'until-found': { ...changes, pages: 2 + 1 + 1 + 3, credits: 14 },
      // From the first page outward.
      smart: { ...changes, pages: 2 + 1 + 1 + 3, credits: 14 },
    })
  })

  test('of a target that leaves results of fewer than ten, which everybody sees', () => {
    const changes = { ...none, topChanges: 2, ranked: 2, pages: 3, credits: 6 }
    expect(figures([history([['abx'], ['abc'], ['xab']])])).toEqual({
      ...{ looks: 3, leftOut: 0 },
      ...{ all: changes, 'until-found': changes, smart: changes },
    })
  })

  test('of a target that is never there, which smart leaves alone more and more', () => {
    const days = Array.from({ length: 10 }, () => withX(null))
    const { all, smart } = figures([history(days)])
    expect(all).toEqual({ ...none, pages: 30, credits: 60, ranked: 0 })
    // In depth on days 0, 1, 2, 3, 5 and 9, the first page on the four others.
    expect(smart).toEqual({ ...none, pages: 6 * 3 + 4, credits: 44, ranked: 0 })
  })

  test('of a target that returns while it is left alone', () => {
    const days = [0, 1, 2, 3].map(() => withX(null))
    expect(figures([history([...days, withX(22)])]).smart).toEqual({
      ...none,
      ...{ pages: 4 * 3 + 1, credits: 26, ranked: 1, missed: 1 },
    })
    expect(figures([history([...days, withX(3)])]).smart).toEqual({
      ...none,
      ...{ pages: 4 * 3 + 1, credits: 26, ranked: 1, topChanges: 1 },
    })
  })

  test('of several queries together, each with a memory of its own', () => {
    const one = history([withX(25), withX(25)])
    expect(figures([one, one, one])).toMatchObject({
      looks: 6,
      smart: { pages: 3 * 5, credits: 30, ranked: 6, estimated: 3 },
    })
  })
})

describe('looks of which not every page is stored', () => {
  test('are left out, and counted', () => {
    const [first, second, third] = history([withX(25), ['!failed', 'k', 'x'], withX(25)])
    expect(figures([[first, second, third] as Day[]])).toMatchObject({
      ...{ looks: 2, leftOut: 1 },
      all: { pages: 6, ranked: 2, wrong: 0 },
    })
  })

  test('are all of a job that stopped at the target', () => {
    const end = { because: 'every target was found', kind: 'found' } as const
    const days = history([['abx']], { maxPages: 3, end })
    expect(figures([days])).toMatchObject({ looks: 0, leftOut: 1, all: { pages: 0 }, smart: { pages: 0 } })
  })
})

describe('whose ranks count', () => {
  const days = (): readonly Day[] => {
    const targets = [aTarget('x.example'), aTarget('b.example', { own: false })].map((target, id) => ({
      ...target,
      id,
    }))
    return [{ startedAt: 0, credits: 1, query: storedQuery(withX(15), { targets }) }]
  }

  test('those of the own targets', () => {
    expect(figures([days()])).toMatchObject({ all: { ranked: 1 }, 'until-found': { pages: 2, ranked: 1 } })
  })

  test('those of competitors, too, where the job waits for them', () => {
    expect(figures([days()], { ...weekly, until: 'all' })).toMatchObject({ all: { ranked: 2 } })
  })

  test('whatever the job says of its own paging', () => {
    const settings = { ...weekly, paging: 'until-found', depth: 1 }
    expect(figures([history([withX(25)])], settings)).toEqual(figures([history([withX(25)])]))
  })
})
