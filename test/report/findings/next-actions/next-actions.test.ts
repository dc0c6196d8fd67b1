import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Citation } from '../../../../src/report/data.ts'
import { factsOf } from '../../../../src/report/findings/facts.ts'
import type { NextAction } from '../../../../src/report/findings/next-actions/action.ts'
import { nextActions } from '../../../../src/report/findings/next-actions/find.ts'
import { nothingToDo } from '../../../../src/report/findings/next-actions/nothing.ts'
import { nothingText, reasonsOf } from '../../../../src/report/findings/next-actions/say.ts'
import type { ComparisonDay } from '../../../../src/report/history/movement.ts'
import { wordsOf } from '../../../../src/report/words/words.ts'
import { testTable } from '../../../support/test-table.ts'
import { curve, histories, march } from '../../metrics/history.ts'
import { type AJob, type AKeyword, jobOf, out, some, turn, unknown } from '../job.ts'

const links = ['https://acme.com/a', 'https://acme.com/b', 'https://www.acme.com/a?x=1']
const answer = { kind: 'reference', operation: 'alpha.ai' } as const

/** Two pages in turn, from the first day on. */
const backAndForth: AKeyword['links'] = [
  [0, 0],
  [5, 1],
  [9, 0],
  [12, 1],
]

interface Case {
  readonly keywords: readonly AKeyword[]
  readonly cited?: readonly { readonly target: number; readonly indexes: readonly number[] }[]
  readonly target?: string
  readonly length?: number
  readonly compare?: ComparisonDay
}

function actionsOf({ cited, ...job }: Case): readonly NextAction[] {
  const facts = jobOf({ ...job, links })
  const { history } = facts
  const last = history.days.length - 1
  const references = history.keywords.flatMap((one, keyword) => (one.kind === 'reference' ? [keyword] : []))
  const all = jobOf({ ...job, links, keywords: job.keywords.filter(({ kind }) => kind === 'reference') })
  const citations = references.map(
    (keyword): Citation => ({ keyword, day: last, references: 4, cited: cited ?? [] }),
  )
  const statuses = all.own.map((status, place) => ({
    ...status,
    series: { ...status.series, keyword: references[place] as number },
  }))
  return nextActions(facts, { statuses, citations })
}

const inWords = (all: readonly NextAction[], language: 'en' | 'de') =>
  all.map((one) => {
    const clicks = one.clicks === null ? '' : ` [${Math.round(one.clicks)}]`
    return `${one.status.keyword.query}: ${reasonsOf(one, wordsOf(language))}${clicks}`
  })

type Situation = readonly [title: string, given: Case, english: readonly string[], german?: readonly string[]]

const situations: readonly Situation[] = [
  ['nothing moves', { keywords: some(3, { own: 1, volume: 100 }) }, []],
  [
    'a competitor',
    { keywords: [{ own: turn(2, 9), rival: turn(1, 8), volume: 100 }], target: 'rival.com' },
    [],
  ],
  ['the first day', { keywords: [{ own: 1, volume: 100 }], length: 1 }, []],
  ['not known', { keywords: [{ own: turn(2, unknown), volume: 100 }] }, []],
  [
    'fell out of the top 3',
    {
      keywords: [
        { own: turn(2, 3.5), volume: 100 },
        { own: turn(1, 4), volume: 1000 },
      ],
    },
    ['keyword 2: Fell out of the top 3: from rank 1 to 4. [205]'],
    ['keyword 2: Aus den Top 3 gefallen: von Platz 1 auf 4. [205]'],
  ],
  [
    'fell out of the top 10',
    { keywords: [{ own: turn(7, 18), volume: 1000 }] },
    ['keyword 1: Fell out of the top 10: from rank 7 to 18. [40]'],
  ],
  [
    'fell out of the results',
    { keywords: [{ own: turn(7, out), volume: 1000 }] },
    ['keyword 1: Fell out of the top 10: it was at rank 7 and is no longer found. [40]'],
    ['keyword 1: Aus den Top 10 gefallen: vorher auf Platz 7, jetzt nicht mehr gefunden. [40]'],
  ],
  ['fell, but not out', { keywords: [{ own: turn(1, 3), volume: 1000 }] }, []],
  ['fell below the top 10', { keywords: [{ own: turn(18, out), volume: 1000 }] }, []],
  [
    'without a volume',
    { keywords: [{ own: turn(7, 18) }] },
    ['keyword 1: Fell out of the top 10: from rank 7 to 18.'],
  ],
  [
    'without a volume after those with one',
    { keywords: [{ own: turn(1, 18) }, { own: turn(10, 18), volume: 80 }] },
    [
      'keyword 2: Fell out of the top 10: from rank 10 to 18. [2]',
      'keyword 1: Fell out of the top 3: from rank 1 to 18.',
    ],
  ],
  ['less than one click at stake', { keywords: [{ own: turn(10, 18), volume: 10 }] }, []],
  [
    'within reach, without a volume after those with one',
    { keywords: [{ own: 4, volume: 1000 }, { own: 4 }, { own: 15, volume: 100 }, { own: 16, volume: 1000 }] },
    [
      'keyword 1: Rank 4, as before. The top 3 would bring about 30 more clicks a month. [30]',
      'keyword 3: Rank 15, as before. The top 3 would bring about 11 more clicks a month. [11]',
      'keyword 2: Rank 4, as before. The top 3 is within reach.',
    ],
    [
      'keyword 1: Platz 4, wie zuvor. Platz 3 brächte etwa 30 Klicks mehr im Monat. [30]',
      'keyword 3: Platz 15, wie zuvor. Platz 3 brächte etwa 11 Klicks mehr im Monat. [11]',
      'keyword 2: Platz 4, wie zuvor. Die Top 3 sind in Reichweite.',
    ],
  ],
  [
    'within reach on the first day, without volumes',
    { keywords: [{ own: 16 }, { own: 12 }, { own: 4 }], length: 1 },
    ['keyword 2: Rank 12. The top 3 is within reach.', 'keyword 3: Rank 4. The top 3 is within reach.'],
  ],
  [
    'within reach, with another rank before',
    {
      keywords: [
        { own: turn(5, 9), volume: 10_000 },
        { own: turn(out, 8), volume: 1000 },
        { own: turn(unknown, 8), volume: 100 },
      ],
    },
    [
      'keyword 1: Rank 9, was 5. The top 3 would bring about 820 more clicks a month. [820]',
      'keyword 2: Rank 8. The top 3 would bring about 78 more clicks a month. [78]',
      'keyword 3: Rank 8. The top 3 would bring about 8 more clicks a month. [8]',
    ],
    [
      'keyword 1: Platz 9, zuvor 5. Platz 3 brächte etwa 820 Klicks mehr im Monat. [820]',
      'keyword 2: Platz 8. Platz 3 brächte etwa 78 Klicks mehr im Monat. [78]',
      'keyword 3: Platz 8. Platz 3 brächte etwa 8 Klicks mehr im Monat. [8]',
    ],
  ],
  ['within reach for less than a click', { keywords: [{ own: 4, volume: 10 }] }, []],
  [
    'another page than intended',
    { keywords: [{ own: 1, volume: 100, url: links[1] as string, links: [[0, 0]] }] },
    ['keyword 1: /a ranks instead of /b. [28]'],
    ['keyword 1: Statt /b ist /a platziert. [28]'],
  ],
  [
    'the intended page',
    { keywords: [{ own: 1, volume: 100, url: links[0] as string, links: [[0, 0]] }] },
    [],
  ],
  [
    'pages of other hosts',
    { keywords: [{ own: 1, volume: 100, url: 'https://acme.de/a', links: [[0, 0]] }] },
    ['keyword 1: acme.com/a ranks instead of acme.de/a. [28]'],
  ],
  [
    'two pages in turn',
    {
      keywords: [
        {
          own: 2,
          volume: 100,
          links: backAndForth,
        },
      ],
    },
    ['keyword 1: Two of your pages rank in turn (2 changes): /b and /a. [16]'],
    ['keyword 1: Zwei Ihrer Seiten wechseln sich ab (2 Wechsel): /b und /a. [16]'],
  ],
  [
    'two pages that were in turn long before',
    {
      length: 60,
      compare: { day: march(32), tolerance: 3 },
      keywords: [
        {
          own: 2,
          volume: 100,
          links: backAndForth,
        },
      ],
    },
    [],
  ],
  [
    'a page that changed once',
    {
      keywords: [
        {
          own: 2,
          volume: 100,
          links: [
            [0, 0],
            [5, 1],
          ],
        },
      ],
    },
    [],
  ],
  [
    'a competitor passed',
    { keywords: [{ own: 3, rival: turn(5, 1), volume: 100 }] },
    ['keyword 1: rival.com passed you and is at rank 1. [18]'],
    ['keyword 1: rival.com hat Sie überholt und steht auf Platz 1. [18]'],
  ],
  [
    'two competitors passed',
    { keywords: [{ own: 3, rival: turn(5, 2), other: turn(8, 1), volume: 100 }] },
    ['keyword 1: other.com passed you and is at rank 1; 1 more passed you too. [18]'],
  ],
  ['a competitor was ahead before', { keywords: [{ own: 3, rival: turn(2, 1), volume: 100 }] }, []],
  ['a competitor passed far down', { keywords: [{ own: 28, rival: turn(out, 25), volume: 100 }] }, []],
  [
    'fell and was passed',
    { keywords: [{ own: turn(2, 9), rival: 4, volume: 1000 }] },
    ['keyword 1: Fell out of the top 3: from rank 2 to 9. Also: rival.com passed you. [129]'],
  ],
  [
    'an answer cites a competitor only',
    { keywords: [{ ...answer, own: out, rival: 1, volume: 100 }], cited: [{ target: 1, indexes: [1] }] },
    ['keyword 1: The AI answer cites rival.com and not you.'],
    ['keyword 1: Die KI-Antwort zitiert rival.com, Sie aber nicht.'],
  ],
  [
    'an answer cites both',
    {
      keywords: [{ ...answer, own: 1, rival: 1 }],
      cited: [
        { target: 0, indexes: [1] },
        { target: 1, indexes: [2] },
      ],
    },
    [],
  ],
  ['an answer cites none', { keywords: [{ ...answer, own: out, rival: out }] }, []],
  [
    'an answer to a keyword that has a row',
    {
      keywords: [
        { query: 'oak desk', own: turn(7, 18), rival: 20, volume: 1000 },
        { query: 'oak desk', ...answer, own: out, rival: 1 },
      ],
      cited: [{ target: 1, indexes: [1] }],
    },
    [
      'oak desk: Fell out of the top 10: from rank 7 to 18. Also: the AI answer cites rival.com and not you. [40]',
    ],
  ],
  [
    'an answer elsewhere',
    {
      keywords: [
        { query: 'oak desk', own: turn(7, 18), rival: 20, volume: 1000, params: { gl: 'us' } },
        { query: 'oak desk', ...answer, own: out, rival: 1, params: { gl: 'de' } },
      ],
      cited: [{ target: 1, indexes: [1] }],
    },
    [
      'oak desk: Fell out of the top 10: from rank 7 to 18. [40]',
      'oak desk: The AI answer cites rival.com and not you.',
    ],
  ],
]

/** Jobs without anything to do next, with what is told instead. */
const idle: readonly (readonly [title: string, job: AJob, english: string, german?: string])[] = [
  [
    'nothing moves',
    { keywords: some(3, { own: 1 }) },
    'Nothing stands out: no keyword fell out of the top 3 or 10, and none ranks close behind the top 3.',
    'Nichts fällt auf: Kein Suchbegriff ist aus den Top 3 oder 10 gefallen, und keiner steht knapp hinter den Top 3.',
  ],
  [
    'few searches',
    { keywords: [{ own: turn(2, 4), volume: 1 }] },
    'Nothing stands out: no keyword fell out of the top 3 or 10, and none ranks close behind the top 3 with a click a month or more at stake.',
    'Nichts fällt auf: Kein Suchbegriff ist aus den Top 3 oder 10 gefallen, und keiner steht knapp hinter den Top 3, jeweils ab einem Klick im Monat, um den es geht.',
  ],
  [
    'nothing to compare with',
    { keywords: [{ own: 16 }, { own: 20 }], length: 1 },
    'No keyword ranks close behind the top 3. What fell is told once there is a day to compare with.',
    'Kein Suchbegriff steht knapp hinter den Top 3. Was gefallen ist, steht hier, sobald es einen Tag zum Vergleichen gibt.',
  ],
  [
    'nothing checked',
    { keywords: some(3, { own: turn(1, unknown) }) },
    'Nothing could be checked.',
    'Nichts konnte geprüft werden.',
  ],
  [
    'nothing ranks',
    {
      keywords: [
        { own: out, volume: 20 },
        { own: out, url: links[0] as string },
        { query: 'oak desk', own: out, volume: 6670, url: links[1] as string },
        { query: 'oak desk', own: out, volume: 5000, params: { gl: 'de' } },
        { own: out, volume: 300 },
        { own: out, volume: 10 },
      ],
    },
    'Nothing ranks, so there is no rank to improve. Look first at the pages meant for “oak desk” (6,670 searches a month, /b), “keyword 5” (300 searches a month) and “keyword 1” (20 searches a month).',
    'Kein Suchbegriff hat eine Position, deshalb lässt sich noch keine verbessern. Zuerst lohnt ein Blick auf die Seiten für „oak desk“ (6.670 Suchen im Monat, /b), „keyword 5“ (300 Suchen im Monat) und „keyword 1“ (20 Suchen im Monat).',
  ],
  [
    'nothing ranks, without volumes',
    { keywords: [{ own: out }, { own: out, url: links[0] as string }] },
    'Nothing ranks, so there is no rank to improve. Look first at the pages meant for “keyword 2” (/a).',
    'Kein Suchbegriff hat eine Position, deshalb lässt sich noch keine verbessern. Zuerst lohnt ein Blick auf die Seiten für „keyword 2“ (/a).',
  ],
  [
    'nothing ranks, without volumes and pages',
    { keywords: [{ own: out }] },
    'Nothing ranks, so there is no rank to improve. Look first whether each keyword has a page that search engines can find.',
    'Kein Suchbegriff hat eine Position, deshalb lässt sich noch keine verbessern. Zuerst lohnt die Frage, ob es zu jedem eine Seite gibt, die Suchmaschinen finden können.',
  ],
  [
    'AI answers only',
    { keywords: [{ ...answer, own: 1 }] },
    'Nothing stands out: no AI answer cites a competitor without citing you.',
    'Nichts fällt auf: Keine KI-Antwort zitiert einen Wettbewerber und Sie nicht.',
  ],
]

describe('nothing to do next', () => {
  testTable(idle)('%s', (_, job, english, german) => {
    const facts = jobOf(job)
    expect(nextActions(facts, { statuses: [], citations: [] })).toEqual([])
    const [text, inGerman] = (['en', 'de'] as const).map((language) =>
      nothingText(nothingToDo(facts), wordsOf(language), (name) => name),
    )
    expect(text).toBe(english)
    if (german !== undefined) expect(inGerman).toBe(german)
  })
})

describe('what to do next', () => {
  testTable(situations)('%s', (_, given, english, german) => {
    const all = actionsOf(given)
    expect(inWords(all, 'en')).toEqual(english)
    if (german !== undefined) expect(inWords(all, 'de')).toEqual(german)
  })

  test('eight rows at most, the most clicks first', () => {
    const keywords = Array.from({ length: 20 }, (_, place) => ({ own: 5, volume: 1000 * (1 + place) }))
    const all = actionsOf({ keywords })
    expect(all.map(({ status }) => status.keyword.volume)).toEqual(
      [20, 19, 18, 17, 16, 15, 14, 13].map((thousands) => thousands * 1000),
    )
  })

  test('four chances at most, where other keywords have lost clicks', () => {
    const chances = Array.from({ length: 10 }, () => ({ own: 5, volume: 10_000 }))
    const losses = Array.from({ length: 5 }, () => ({ own: turn(2, 25), volume: 10 }))
    const kinds = actionsOf({ keywords: [...chances, ...losses] }).map(({ reasons: [first] }) => first?.kind)
    expect(kinds).toEqual([
      ...Array.from({ length: 4 }, () => 'within reach'),
      ...Array.from({ length: 4 }, () => 'fell out'),
    ])
  })

  test('any history gives at most eight rows without holes, a keyword once, the most clicks first', () => {
    fc.assert(
      fc.property(histories(undefined, { min: 1, max: 12 }), fc.option(fc.nat(12)), (history, back) => {
        const compare =
          back === null ? null : { day: march(Math.max(0, history.days.length - back)), tolerance: 3 }
        const facts = factsOf(history, { target: 0, compare, measure: { curve } })
        const all = nextActions(facts, { statuses: [], citations: [] })
        expect(all.length).toBeLessThanOrEqual(8)
        expect(new Set(all.map(({ status }) => status.series.keyword)).size).toBe(all.length)
        const known = all.map(({ clicks }) => clicks ?? 0)
        expect(known).toEqual(known.toSorted((a, b) => b - a))
        for (const one of all)
          for (const language of ['en', 'de'] as const) {
            expect(reasonsOf(one, wordsOf(language))).not.toMatch(/NaN|undefined|null|Infinity|\s\s|\.\./)
            expect(one.clicks ?? 0).toBeGreaterThanOrEqual(0)
          }
        expect(nextActions(facts, { statuses: [], citations: [] })).toEqual(all)
      }),
    )
  })
})
