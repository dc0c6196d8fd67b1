import { describe, expect, test } from 'vitest'
import { simulatedHistory } from '../../bench/simulated-history.ts'
import { backtest } from '../../src/run/backtest.ts'

const week = 7 * 86_400_000

describe('over a simulated year at depth 100', () => {
  test.each(['even', 'short', 'overlap'] as const)(
    'with %s pages no policy says for certain what is not so, and smart sees every change in the top 10 on its day',
    (shape) => {
      const history = simulatedHistory({ keywords: 4, days: 365, pages: 10, shape })
      const { outcomes, looks, leftOut } = backtest(history, { until: 'own', deepEveryMs: week })
      expect([looks, leftOut]).toEqual([4 * 365, 0])
      const [all, , smart] = outcomes
      expect(outcomes.map(({ wrong, topChangesMissed }) => [wrong, topChangesMissed])).toEqual([
        [0, 0],
        [0, 0],
        [0, 0],
      ])
      expect(smart?.topChanges).toBeGreaterThan(100)
      expect(all?.pages).toBe(4 * 365 * 10)
      // Short pages cost more: the first ten results then stand on two of them.
      expect((smart?.pages ?? 0) / (all?.pages ?? 0)).toBeLessThan(shape === 'short' ? 0.36 : 0.26)
    },
  )
})
