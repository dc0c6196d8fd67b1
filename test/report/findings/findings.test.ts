import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Language } from '../../../src/model/settings/presentation.ts'
import { factsOf } from '../../../src/report/findings/facts.ts'
import { findings, linkOf } from '../../../src/report/findings/find.ts'
import type { Finding, Trend } from '../../../src/report/findings/finding.ts'
import { isInGroup } from '../../../src/report/findings/groups.ts'
import { sentenceOf } from '../../../src/report/findings/say.ts'
import { isNews, shareFloors, usualChange } from '../../../src/report/findings/spread.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
import { testTable } from '../../support/test-table.ts'
import { curve, histories, march } from '../metrics/history.ts'
import { jobOf, some, turn, unknown } from './job.ts'
import { situations } from './situations.ts'

const sentences = (all: readonly Finding[], language: Language): readonly string[] =>
  all.map((one) => sentenceOf(one, wordsOf(language)))

describe('the sentences above the figures', () => {
  testTable(situations)('%s', (_, facts, english, german) => {
    const all = findings(facts())
    expect(sentences(all, 'en')).toEqual(english)
    if (german !== undefined) expect(sentences(all, 'de')).toEqual(german)
  })

  test('there are sixty situations at least, a dozen of them in German', () => {
    expect(situations.length).toBeGreaterThanOrEqual(60)
    expect(situations.filter(([, , , german]) => german !== undefined).length).toBeGreaterThanOrEqual(12)
  })

  test('names are marked and cut', () => {
    const query = 'x'.repeat(200)
    const [one] = findings(jobOf({ keywords: [{ query, own: turn(7, 4) }] }))
    const mark = (name: string) => `<${name}>`
    expect(sentenceOf(one as Finding, wordsOf('en'), mark)).toBe(
      `“<${'x'.repeat(59)}…>” is at rank 4, up 3 places in 28 days.`,
    )
  })
})

/** Any history, any of its targets, any compared day. */
const anything = fc
  .tuple(histories(undefined, { min: 1, max: 12 }), fc.nat(1), fc.option(fc.nat(12)), fc.boolean())
  .map(([history, target, back, isReference]) => ({
    history: isReference
      ? { ...history, keywords: history.keywords.map((one) => ({ ...one, kind: 'reference' as const })) }
      : history,
    target: Math.min(target, history.targets.length - 1),
    compare: back === null ? null : { day: march(Math.max(0, history.days.length - back)), tolerance: 3 },
    measure: { curve },
  }))

describe('for any history', () => {
  test('there are one to five sentences, without holes, the same each time', () => {
    fc.assert(
      fc.property(anything, ({ history, ...more }) => {
        const all = findings(factsOf(history, more))
        expect(all.length).toBeGreaterThanOrEqual(1)
        expect(all.length).toBeLessThanOrEqual(5)
        for (const language of ['en', 'de'] as const)
          for (const sentence of sentences(all, language)) {
            expect(sentence).not.toMatch(/NaN|undefined|null|Infinity|Invalid|\s\s|\.\.|,\./)
            expect(sentence).toMatch(/^\S.*\.$/)
          }
        expect(new Set(sentences(all, 'en')).size).toBe(all.length)
        expect(findings(factsOf(history, more))).toEqual(all)
      }),
    )
  })

  test('a change is told with its own sign, and is not zero', () => {
    fc.assert(
      fc.property(anything, ({ history, ...more }) => {
        for (const finding of findings(factsOf(history, more))) {
          const trend: Trend | null = 'trend' in finding ? finding.trend : null
          if (trend?.state !== 'moved') continue
          const sentence = sentenceOf(finding, wordsOf('en'))
          const isRank = finding.kind === 'average' || finding.kind === 'low ranks'
          const words = isRank ? ['worse', 'better'] : ['up|rose|more', 'down|fell|fewer']
          expect(sentence).toMatch(new RegExp(`\\b(${words[trend.delta > 0 ? 0 : 1]})\\b`))
          expect(sentence).not.toMatch(/\b0\.0 (points|better|worse)\b|\b0 (more|fewer)\b/)
        }
      }),
    )
  })

  test('a sentence that counts keywords opens as many', () => {
    fc.assert(
      fc.property(anything, ({ history, ...more }) => {
        const facts = factsOf(history, more)
        for (const finding of findings(facts)) {
          const link = linkOf(finding)
          if (link.to !== 'group') continue
          const found = facts.own.filter((status) => isInGroup(link.group, status)).length
          if (finding.kind === 'not checked' || finding.kind === 'many not checked')
            expect(found).toBe(finding.unknown)
          if (finding.kind === 'crossings') expect(found).toBe(Math.max(finding.entered, finding.left))
          if (finding.kind === 'day not checked') expect(found).toBe(finding.keywords - finding.checked)
        }
      }),
    )
  })
})

describe('what is steady', () => {
  testTable<[number, readonly (number | null)[], boolean]>([
    [0.029, [0.1, 0.11, 0.1, 0.11, 0.1, 0.11], false],
    [0.031, [0.1, 0.11, 0.1, 0.11, 0.1, 0.11], true],
    [-0.031, [0.1, 0.11, 0.1, 0.11, 0.1, 0.11], true],
    // One great step does not make steps usual.
    [0.2, [0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3], true],
    // A steady decline is no noise: its days are small beside their sum.
    [-0.05, [0.15, 0.14, 0.13, 0.12, 0.11, 0.1], true],
    // Days that are not known are skipped.
    [0.031, [0.1, null, 0.11, 0.1, null, 0.11, 0.1, 0.11], true],
    // What cannot be shown is steady.
    [0.0009, [0.1, 0.1, 0.1, 0.1, 0.1, 0.1], false],
    // Too few days to know what is usual: one point is told.
    [0.009, [0.1, 0.2], false],
    [0.01, [0.1, 0.2], true],
  ])('a change of %d after %j', (delta, values, expected) => {
    expect(isNews(delta, usualChange(values), shareFloors)).toBe(expected)
  })

  test('nothing is told as a change where most keywords are not known on one of the days', () => {
    const keywords = [...some(4, { own: turn(9, 1) }), ...some(8, { own: turn(unknown, 4) })]
    const [first] = findings(jobOf({ keywords }))
    expect(first).toMatchObject({ kind: 'visibility', trend: { state: 'none' } })
  })
})
