import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AnsweredObservation,
  confirmedStart,
  judgePair,
} from '../../src/unattended/alerts/query-rules.ts'
import { testTable } from '../support/test-table.ts'
import { acme, aRule, aWatchedQuery, observationsOf, rankStory, told } from './build.ts'

const drop = aRule({ when: 'drop', by: 3 })
const gain = aRule({ when: 'gain', by: 3 })
const entered = aRule({ when: 'entered', top: 10 })
const left = aRule({ when: 'left', top: 10 })
const lost = aRule({ when: 'lost' })

describe('confirm', () => {
  // B is the observation before, x one that says it, - one that does not, ? one that cannot be compared.
  const says = (before: string, now: string) =>
    now === '?' || before === '?' ? null : before === 'B' && now === 'x'
  testTable<[string, number, boolean]>([
    ['B x', 1, true],
    ['B -', 1, false],
    ['B x x', 1, false],
    ['B ? x', 1, true],
    ['x', 1, false],
    ['B x', 2, false],
    ['B x x', 2, true],
    ['B x - x', 2, true],
    ['B x ? - ? x', 2, true],
    ['B x -', 2, false],
    ['B x - - x', 2, false],
    ['B x x x', 2, false],
    ['B x x', 3, false],
    ['B x x x', 3, true],
    ['B x - x x', 3, false],
  ])('%s with confirm: %i begins: %s', (written, confirm, begins) => {
    expect(confirmedStart(written.split(' '), says, confirm) !== null).toBe(begins)
  })
})

/** Observations, and what the rules tell. */
testTable<[string, string]>([
  ['5', ''],
  ['5 7', ''],
  ['5 8', '2: drop open 5→8'],
  ['8 5', '2: gain open 8→5'],
  ['8 15', '2: drop open 8→15, left open 8→15'],
  ['15 8', '2: gain open 15→8, entered open 15→8'],
  ['5 -30', '2: drop open 5→null, left open 5→null, lost open 5→null'],
  ['-30 5', '2: gain open null→5, entered open null→5'],
  // A shallower observation: eleven or worse is a drop, but the ranks behind were not looked at.
  ['5 -10', '2: drop open 5→null'],
  ['9 -10', ''],
  ['25 -10 24', ''],
  ['25 -10 -30', '3: drop open 25→null, lost open 25→null'],
  ['-30 -10 5', '3: gain open null→5, entered open null→5'],
  ['-10 15', ''],
  ['-30 -30', ''],
  // Until it is back within 3 of 5 nothing more is sent.
  ['5 9 14 20 8', '2: drop open 5→9; 3: left open 9→14; 5: left over 9→8, gain open 20→8, entered open 20→8'],
  ['5 9 7', '2: drop open 5→9; 3: drop over 5→7'],
  ['5 9 7 12', '2: drop open 5→9; 3: drop over 5→7; 4: drop open 7→12, left open 7→12'],
  ['5 6 7 8 9', ''],
  [
    '12 9 10 11',
    '2: gain open 12→9, entered open 12→9; 3: gain over 12→10; 4: entered over 12→11, left open 10→11',
  ],
  [
    '5 -30 -30 6',
    '2: drop open 5→null, left open 5→null, lost open 5→null; 4: drop over 5→6, left over 5→6, lost over 5→6, gain open null→6, entered open null→6',
  ],
  [
    '-30 5 -10 -30',
    '2: gain open null→5, entered open null→5; 3: drop open 5→null; 4: gain over null→null, entered over null→null, left open 5→null, lost open 5→null',
  ],
  // Eight shallower ones in a row are what is compared from then on.
  ['-30 5 -10 -10 -10 -10 -10 -10 -10', '2: gain open null→5, entered open null→5; 3: drop open 5→null'],
  [
    '-30 5 -10 -10 -10 -10 -10 -10 -10 -10',
    '2: gain open null→5, entered open null→5; 3: drop open 5→null; 10: gain over null→null, entered over null→null',
  ],
])('the observations %s are told', (observations, expected) => {
  const news = rankStory([drop, gain, entered, left, lost], observationsOf(observations))
  const parts = (text: string) =>
    text.split('; ').map((run) => [
      run.slice(0, 2),
      run
        .slice(3)
        .split(', ')
        .map((one) => one.trim())
        .sort(),
    ])
  expect(parts(told(news))).toEqual(parts(expected))
})

testTable<[Parameters<typeof aRule>[0], string, string]>([
  [{ when: 'drop', by: 3, top: 20 }, '25 29', ''],
  [{ when: 'drop', by: 3, top: 20 }, '20 29', '2: drop open 20→29'],
  [{ when: 'drop' }, '5 6', '2: drop open 5→6'],
  [{ when: 'gain', by: 3, top: 10 }, '25 15 9', '3: gain open 15→9'],
  [{ when: 'lost', top: 10 }, '11 -30', ''],
  [{ when: 'lost', top: 10 }, '10 -30 25', '2: lost open 10→null; 3: lost over 10→25'],
  // At the edge of the depth it may be one rank: two observations must say it, or it fell by enough.
  [{ when: 'lost' }, '10/10 -10', ''],
  [{ when: 'lost' }, '10/10 -10 10/10', ''],
  [{ when: 'lost' }, '10/10 -10 -10', '3: lost open 10→null'],
  [{ when: 'lost' }, '10/10 -10 10/10 -10', '4: lost open 10→null'],
  [{ when: 'lost' }, '9/10 -10', '2: lost open 9→null'],
  [{ when: 'lost', by: 1 }, '10/10 -10', '2: lost open 10→null'],
  [{ when: 'lost', by: 3 }, '9/10 -10', ''],
  [{ when: 'lost', by: 3 }, '9/10 -10 -10 9/10', '3: lost open 9→null; 4: lost over 9→9'],
  [{ when: 'lost', by: 3 }, '8/10 -10 -10', '2: lost open 8→null'],
  [{ when: 'lost', confirm: 3 }, '10/10 -10 -10 -10', '4: lost open 10→null'],
  [{ when: 'left', top: 10, by: 3 }, '9 11', ''],
  [{ when: 'left', top: 10, by: 3 }, '9 11 13', '3: left open 9→13'],
  [{ when: 'left', top: 10, by: 3 }, '9 12', '2: left open 9→12'],
  [{ when: 'left', top: 10, by: 3 }, '9 11 9 10', ''],
  [{ when: 'drop', by: 3, confirm: 2 }, '5 9 5 6', ''],
  [{ when: 'drop', by: 3, confirm: 2 }, '5 9 5 9', '4: drop open 5→9'],
  [{ when: 'drop', by: 3, confirm: 2 }, '5 9 12 6', '3: drop open 5→12; 4: drop over 5→6'],
  [{ when: 'drop', by: 3, confirm: 3 }, '5 9 9 5 9', ''],
  [{ when: 'lost', confirm: 2 }, '5 -30 -10 -30', '4: lost open 5→null'],
  [
    { when: 'url-changed' },
    '5a 6a 5b 5b 4a',
    '3: url-changed open https://acme.com/a→https://acme.com/b; 5: url-changed over https://acme.com/a→https://acme.com/a',
  ],
  [{ when: 'url-changed' }, '5a -30 5b', '3: url-changed open https://acme.com/a→https://acme.com/b'],
  [
    { when: 'url-changed' },
    '5a 5b -30 5c',
    '2: url-changed open https://acme.com/a→https://acme.com/b; 4: url-changed over https://acme.com/a→https://acme.com/c, url-changed open https://acme.com/b→https://acme.com/c',
  ],
  [{ when: 'url-changed', confirm: 2 }, '5a 5b 5a 5c', ''],
  [
    { when: 'url-changed', confirm: 2 },
    '5a 5b 5a 5b',
    '4: url-changed open https://acme.com/a→https://acme.com/b',
  ],
  [
    { when: 'url-changed' },
    '5a 5b 5a 5b 5a',
    '2: url-changed open https://acme.com/a→https://acme.com/b; 3: url-changed over https://acme.com/a→https://acme.com/a',
  ],
  [{ when: 'url-changed', top: 3 }, '5a 5b', ''],
  // Page A is page a with a token.
  [{ when: 'url-changed' }, '5a 5A 5a', ''],
  [
    { when: 'url-changed' },
    '5b 5A 5a 5b',
    '2: url-changed open https://acme.com/b→https://acme.com/a?srsltid=A; 4: url-changed over https://acme.com/b→https://acme.com/b',
  ],
])('%j, observations %s', (rule, observations, expected) => {
  expect(told(rankStory([aRule(rule)], observationsOf(observations)))).toBe(expected)
})

testTable<[string, string]>([
  ['1 -30 -30 2', '2: citation-lost open 1→null; 4: citation-lost over 1→2, citation-won open null→2'],
  ['-30 3 2', '2: citation-won open null→3'],
  ['1 9', ''],
])('citations %s are told', (observations, expected) => {
  const rules = [aRule({ when: 'citation-lost' }), aRule({ when: 'citation-won' }), lost, drop]
  expect(told(rankStory(rules, observationsOf(observations), { cites: true }))).toBe(expected)
})

test('a rule watches own targets and all queries, or those that it names', () => {
  const observations = observationsOf('5 9')
  const watching = (only: { tags?: string[]; targets?: string[] }) =>
    told(
      rankStory([{ ...drop, for: { tags: null, targets: null, ...only } }], observations, {
        tags: ['money', 'a'],
      }),
    )
  expect(watching({ tags: ['money'] })).not.toBe('')
  expect(watching({ tags: ['other'] })).toBe('')
  expect(watching({ targets: ['Acme'] })).not.toBe('')
  expect(watching({ targets: ['acme.com'] })).not.toBe('')
  expect(watching({ targets: ['rival.com'] })).toBe('')
})

testTable([
  ['drop', '5 9 6', 'Acme is back at 6 for "standing desk"; it had dropped from 5'],
  ['gain', '9 5 8', 'Acme is back at 8 for "standing desk"; it had risen from 9'],
  [
    'gain',
    '-30 5 -30',
    'Acme is back outside the top 30 for "standing desk"; it had risen from outside the results',
  ],
] as const)('a %s that is over is told in a sentence: %s', (when, seen, expected) => {
  const observations = observationsOf(seen)
  const pair = { query: aWatchedQuery(), target: acme }
  const rule = aRule({ when, by: 3 })
  const began = judgePair(rule, { ...pair, observations: observations.slice(0, -1) }, null, String)
  const over = judgePair(
    rule,
    { ...pair, observations },
    { before: began?.before ?? null, now: null },
    String,
  )
  expect(over?.text).toBe(expected)
})

describe('for any observations and any rule', () => {
  const anyObservation: fc.Arbitrary<AnsweredObservation> = fc.oneof(
    fc.record({
      rank: fc.integer({ min: 1, max: 30 }),
      depth: fc.constant(30),
      pages: fc.constant(3),
      link: fc.integer({ min: 97, max: 99 }),
    }),
    fc.constantFrom(10, 20, 30).map((depth) => ({ rank: null, depth, pages: depth / 10, link: null })),
  )
  const anyRule = fc
    .record({
      when: fc.constantFrom('drop', 'gain', 'entered', 'left', 'lost', 'url-changed'),
      by: fc.integer({ min: 1, max: 6 }),
      top: fc.integer({ min: 1, max: 30 }),
      confirm: fc.integer({ min: 1, max: 3 }),
    } as const)
    .map((rule) => aRule(rule))
  const observations = fc.array(anyObservation, { maxLength: 20 })

  test('an alert begins, is over, begins again: never twice the same', () => {
    fc.assert(
      fc.property(observations, anyRule, (seen, rule) => {
        const states = rankStory([rule], seen)
          .flat()
          .map((one) => one.split(' ')[1])
        for (const [index, state] of states.entries()) expect(state).toBe(index % 2 === 0 ? 'open' : 'over')
      }),
    )
  })

  test('days without an answer change nothing', () => {
    fc.assert(
      fc.property(observations, anyRule, fc.array(fc.nat({ max: 19 })), (seen, rule, gaps) => {
        const withGaps: (AnsweredObservation | null)[] = [...seen]
        for (const gap of gaps) withGaps.splice(gap, 0, null)
        expect(rankStory([rule], withGaps).flat()).toEqual(rankStory([rule], seen).flat())
      }),
    )
  })

  test('the first observation, and one like the one before, begins nothing', () => {
    fc.assert(
      fc.property(observations, anyRule, (seen, rule) => {
        const twice = seen.flatMap((one) => [one, one])
        // What falls too little must be seen twice.
        const by = rule.when === 'left' || rule.when === 'lost' ? 1 : rule.by
        const news = rankStory([{ ...rule, by, confirm: 1 }], twice)
        expect(news[0] ?? []).toEqual([])
        for (const [index, said] of news.entries()) {
          if (index % 2 === 0) continue
          // A deeper look may be the ninth from the end now: what waited for another as deep as that may be over.
          const [ninth, ...eight] = twice.slice(Math.max(0, index - 8), index + 1)
          const isForgotten =
            eight.length === 8 &&
            eight.every(({ rank, depth }) => rank === null && depth < (ninth?.depth ?? 0))
          const other = isForgotten ? said.filter((one) => one.split(' ')[1] !== 'over') : said
          expect(other).toEqual([])
        }
      }),
    )
  })

  test('left and lost never come from a shallower observation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
        anyRule,
        (ranks, rule) => {
          const seen = ranks.map((rank): AnsweredObservation => ({ rank, depth: 30, pages: 3, link: 97 }))
          const shallow: AnsweredObservation = { rank: null, depth: 20, pages: 2, link: null }
          const news = rankStory([{ ...rule, when: rule.by === 1 ? 'left' : 'lost' }], [...seen, shallow])
          expect(news.at(-1)).toEqual([])
        },
      ),
    )
  })
})
