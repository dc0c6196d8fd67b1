import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ComparedSerp,
  diffSerps,
  type SerpDiff,
  type SnapshotResult,
} from '../../../src/report/diff/serp-diff.ts'

/** Results one a letter, from a rank on; a capital letter has another title than the small one. */
function letters(text: string, first = 1): readonly SnapshotResult[] {
  return [...text].map((letter, index) => ({
    rank: first + index,
    key: letter.toLowerCase(),
    title: letter,
    link: `https://${letter.toLowerCase()}.example/`,
    snippet: null,
  }))
}

/** A look at these without a gap. */
const looked = (text: string): ComparedSerp => ({
  results: letters(text),
  unbrokenDepth: text.length,
  resultsEnded: false,
})
const ended = (text: string): ComparedSerp => ({ ...looked(text), resultsEnded: true })
/** A look with a page of ten missing in between. */
const broken = (text: string, below: string): ComparedSerp => ({
  ...looked(text),
  results: [...letters(text), ...letters(below, text.length + 11)],
})

/** A diff in short: `+c3` entered at 3, `-b2` left from 2, `a1>2` moved, `!a` changed. */
function brief({ entered, left, moved, changed }: SerpDiff): string {
  return [
    ...entered.map(({ key, rank }) => `+${key}${rank}`),
    ...left.map(({ key, rank }) => `-${key}${rank}`),
    ...moved.map(({ before, after }) => `${after.key}${before.rank}>${after.rank}`),
    ...changed.map(({ after }) => `!${after.key}`),
  ].join(' ')
}

interface Expected {
  readonly told: string
  readonly deep: number
  readonly same: number
  /** Of from and to. */
  readonly notCompared?: readonly [number, number]
  readonly turnover: number | null
}

describe('between two looks', () => {
  test.each<[string, ComparedSerp, ComparedSerp, Expected]>([
    ['nothing changed', looked('abc'), looked('abc'), { told: '', deep: 3, same: 3, turnover: 0 }],
    [
      'one came, one went, the rest moved down',
      looked('abcd'),
      looked('xabc'),
      { told: '+x1 -d4 a1>2 b2>3 c3>4', deep: 4, same: 0, turnover: 1 / 4 },
    ],
    [
      'a title changed where it stood, and another that moved',
      looked('abc'),
      looked('Acb'.replace('c', 'C')),
      { told: 'c3>2 b2>3 !a !c', deep: 3, same: 0, turnover: 0 },
    ],
    [
      'the later one looked less deep: what lies below is nobody’s loss',
      looked('abcdef'),
      looked('bax'),
      { told: '+x3 -c3 b2>1 a1>2', deep: 3, same: 0, notCompared: [3, 0], turnover: 1 / 3 },
    ],
    [
      'the later one looked deeper: what lies below is no gain',
      looked('ab'),
      looked('abcd'),
      { told: '', deep: 2, same: 2, notCompared: [0, 2], turnover: 0 },
    ],
    [
      'it came up from below where the other looked, and its old rank is known',
      looked('abcde'),
      looked('ea'),
      { told: '-b2 e5>1 a1>2', deep: 2, same: 0, notCompared: [2, 0], turnover: 1 / 2 },
    ],
    [
      'the results ended on the first day: everything below is new',
      ended('ab'),
      looked('abcd'),
      { told: '+c3 +d4', deep: 4, same: 2, turnover: 1 / 2 },
    ],
    [
      'the results ended on both days, at different depths',
      ended('abcd'),
      ended('ab'),
      { told: '-c3 -d4', deep: 4, same: 2, turnover: 1 / 2 },
    ],
    [
      'there were none, and then some',
      ended(''),
      looked('ab'),
      { told: '+a1 +b2', deep: 2, same: 0, turnover: 1 },
    ],
    ['there were none on both days', ended(''), ended(''), { told: '', deep: 0, same: 0, turnover: null }],
    [
      'the first page was not looked at on one of them',
      { ...broken('', 'ab'), unbrokenDepth: 0 },
      looked('ax'),
      { told: 'a11>1', deep: 0, same: 0, notCompared: [1, 1], turnover: null },
    ],
    [
      'there is a gap: below it only what both saw is told',
      broken('ab', 'cd'),
      looked('abxyzc'),
      { told: 'c13>6', deep: 2, same: 2, notCompared: [1, 3], turnover: 0 },
    ],
    [
      'one comes twice on a day: its best rank counts',
      { ...looked('aba'), unbrokenDepth: 2 },
      looked('ba'),
      { told: 'b2>1 a1>2', deep: 2, same: 0, turnover: 0 },
    ],
  ])('%s', (_, from, to, { told, deep, same, notCompared = [0, 0], turnover }) => {
    const diff = diffSerps(from, to)
    expect(brief(diff)).toBe(told)
    expect(diff).toMatchObject({
      comparedDepth: deep,
      same,
      notCompared: { from: notCompared[0], to: notCompared[1] },
      turnover,
    })
  })

  test('a snippet that changed, came or went is a change, and a text is told as it was and is', () => {
    const withSnippet = (snippet: string | null): ComparedSerp => ({
      ...looked('a'),
      results: [{ rank: 1, key: 7, title: 'a', link: null, snippet }],
    })
    for (const [before, after] of [
      ['x', 'y'],
      [null, 'y'],
      ['x', null],
    ] as const)
      expect(diffSerps(withSnippet(before), withSnippet(after)).changed).toMatchObject([
        { before: { snippet: before }, after: { snippet: after } },
      ])
  })

  test('turnover is that of the first ten, whatever becomes of those below and of their order', () => {
    const turnover = (to: string) => diffSerps(looked('abcdefghijkl'), looked(to)).turnover
    expect(turnover('jihgfedcbaxy')).toBe(0)
    expect(turnover('abcdefghikjl')).toBe(1 / 10)
    expect(turnover('xyzdefghijab')).toBe(3 / 10)
  })

  test('keys that are numbers and keys that are text are not mixed up', () => {
    const keyed = (key: string | number): ComparedSerp => ({
      ...looked('a'),
      results: [{ rank: 1, key, title: null, link: null, snippet: null }],
    })
    expect(brief(diffSerps(keyed(1), keyed('1')))).toBe('+11 -11')
  })
})

describe('with a depth', () => {
  test.each<[number, string, number]>([
    [1, '+x1 -a1', 0],
    [2, '+x1 -a1 f6>2 b2>3', 0],
    [3, '+x1 -a1 f6>2 b2>3 c3>5', 0],
    [4, '+x1 -a1 f6>2 b2>3 c3>5', 1],
    [5, '+x1 -a1 f6>2 b2>3 c3>5 e5>6', 1],
  ])('of %i only what stands among so many on either day is told', (depth, told, same) => {
    const diff = diffSerps(looked('abcdef'), looked('xfbdce'), depth)
    expect(brief(diff)).toBe(told)
    expect(diff).toMatchObject({ comparedDepth: depth, same, turnover: 1 / 6 })
  })

  test('nothing is said of what lies below it, nor counted', () => {
    expect(diffSerps(looked('abcd'), looked('abxy'), 2)).toMatchObject({
      entered: [],
      left: [],
      same: 2,
      notCompared: { from: 0, to: 0 },
    })
  })
})

describe('of any two looks', () => {
  const texts = fc
    .uniqueArray(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), { maxLength: 24 })
    .chain((chosen) =>
      fc.tuple(...chosen.map((letter) => fc.boolean().map((up) => (up ? letter.toUpperCase() : letter)))),
    )
    .map((all) => all.join(''))
  const serp: fc.Arbitrary<ComparedSerp> = fc
    .record({ text: texts, gap: fc.option(fc.nat({ max: 24 })), isEnd: fc.boolean() })
    .map(({ text, gap, isEnd }) =>
      gap === null || gap >= text.length
        ? { ...looked(text), resultsEnded: isEnd }
        : broken(text.slice(0, gap), text.slice(gap)),
    )
  const depth = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined })
  const keys = (results: readonly SnapshotResult[]) => results.map(({ key }) => key).sort()

  test('with itself nothing is told', () => {
    fc.assert(
      fc.property(serp, depth, (one, most) => {
        const diff = diffSerps(one, one, most)
        expect(brief(diff)).toBe('')
        expect(diff.notCompared).toEqual({ from: 0, to: 0 })
        expect(diff.same).toBe(one.results.filter(({ rank }) => rank <= (most ?? rank)).length)
        expect(diff.turnover ?? 0).toBe(0)
      }),
    )
  })

  test('the other way round who came has gone, and moves are turned', () => {
    fc.assert(
      fc.property(serp, serp, depth, (from, to, most) => {
        const [there, back] = [diffSerps(from, to, most), diffSerps(to, from, most)]
        expect(back.entered).toEqual(there.left)
        expect(back.left).toEqual(there.entered)
        const turned = (pairs: SerpDiff['moved']) =>
          pairs.map(({ before, after }) => `${after.key} ${before.rank} ${after.rank}`).sort()
        expect(turned(back.moved.map(({ before, after }) => ({ before: after, after: before })))).toEqual(
          turned(there.moved),
        )
        expect(keys(back.changed.map(({ after }) => after))).toEqual(
          keys(there.changed.map(({ after }) => after)),
        )
        expect({ same: back.same, turnover: back.turnover, deep: back.comparedDepth }).toEqual({
          same: there.same,
          turnover: there.turnover,
          deep: there.comparedDepth,
        })
        expect(back.notCompared).toEqual({ from: there.notCompared.to, to: there.notCompared.from })
      }),
    )
  })

  test('every result of both is told once: came, went, stayed, or is not compared', () => {
    fc.assert(
      fc.property(serp, serp, (from, to) => {
        const diff = diffSerps(from, to)
        const touched = new Set([...diff.moved, ...diff.changed].map(({ after }) => after.key))
        const stayed = touched.size + diff.same
        expect(diff.entered.length + stayed + diff.notCompared.to).toBe(to.results.length)
        expect(diff.left.length + stayed + diff.notCompared.from).toBe(from.results.length)
      }),
    )
  })

  test('who came or went is where the other looked and did not see it', () => {
    fc.assert(
      fc.property(serp, serp, (from, to) => {
        const diff = diffSerps(from, to)
        for (const [results, side, other] of [
          [diff.entered, to, from],
          [diff.left, from, to],
        ] as const)
          for (const { key, rank } of results) {
            expect(other.results.some((one) => one.key === key)).toBe(false)
            for (const one of [side, other]) expect(one.resultsEnded || rank <= one.unbrokenDepth).toBe(true)
          }
      }),
    )
  })
})
