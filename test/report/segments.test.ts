import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { headline } from '../../src/report/headline.ts'
import { keywordStatuses } from '../../src/report/history/keyword-status.ts'
import type { RankHistory } from '../../src/report/history/rank-history.ts'
import { headlineMetrics } from '../../src/report/metrics/index.ts'
import { type Scorecard, scorecards, segments } from '../../src/report/summary.ts'
import { aHistory, curve, histories } from './metrics/history.ts'

const measure = { curve }

function cardsOf(history: RankHistory): readonly Scorecard[] {
  return scorecards(ownStatuses(history), 'tag', measure)
}

function ownStatuses(history: RankHistory) {
  return keywordStatuses(history, null).filter(({ series }) => series.target === 0)
}

describe('scorecards', () => {
  test('have a group for each tag and one for keywords without tags, which comes last', () => {
    const history = aHistory([
      { query: 'a', tags: ['shoes', 'money'], cells: [5, 1] },
      { query: 'b', tags: ['money', 'money'], cells: [2, 30] },
      { query: 'c', cells: [7, 7] },
    ])
    const told = cardsOf(history).map(({ name, statuses, topTen, figures: { visibility } }) => [
      ...[name, statuses.length, topTen, visibility.value, visibility.cohort?.delta],
    ])
    expect(told).toEqual([
      // 0.5 of 1 now, 0.2 of 1 before
      ['money', 2, 1, 0.5, 0.3],
      ['shoes', 1, 1, 1, 1],
      [null, 1, 1, 0, 0],
    ])
  })

  test('by locale have the language, the country and the place of a search', () => {
    const history = aHistory([
      { query: 'a', params: { gl: 'us', hl: 'en', location: 'Austin' }, cells: [1] },
      { query: 'b', params: { gl: 'us', hl: 'en' }, cells: [2] },
      { query: 'c', cells: [3] },
    ])
    const cards = scorecards(ownStatuses(history), 'locale', measure)
    expect(cards.map(({ name }) => name)).toEqual(['en-us', 'en-us · Austin', null])
  })

  test('of keywords with one tag at most add up to the figures of all keywords', () => {
    const singles = histories().map((history) => ({
      ...history,
      keywords: history.keywords.map((one) => ({ ...one, tags: one.tags.slice(0, 1) })),
    }))
    fc.assert(
      fc.property(singles, (history) => {
        const cards = cardsOf(history)
        const whole = headline(ownStatuses(history), measure)
        const sum = (of: (card: Scorecard) => number): number =>
          cards.reduce((all, card) => all + of(card), 0)
        expect(sum(({ coverage }) => coverage.expected)).toBe(ownStatuses(history).length)
        for (const { name } of headlineMetrics)
          for (const term of ['numerator', 'denominator', 'uncounted'] as const)
            expect(sum(({ figures }) => figures[name][term] ?? 0)).toBeCloseTo(whole[name][term] ?? 0)
      }),
    )
  })

  test('say of a tag what the other forms of the report say', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const own = segments(history, measure).filter(({ target }) => target === history.targets[0])
        const first = own.filter(({ tag }, place) => own.findIndex((one) => one.tag === tag) === place)
        const figures = first.map((one) => [one.tag, one.figures])
        expect(cardsOf(history).map((card) => [card.name, card.figures])).toEqual(figures)
      }),
    )
  })
})
