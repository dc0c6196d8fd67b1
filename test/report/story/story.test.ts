import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Citation, PageSerp } from '../../../src/report/data.ts'
import type { StoryOptions } from '../../../src/report/story/facts.ts'
import { storiesOf, story } from '../../../src/report/story/story.ts'
import { trendOf } from '../../../src/report/story/trend.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
import { testTable } from '../../support/test-table.ts'
import { aPageOf, aSerp, curve, histories, march } from '../metrics/history.ts'
import { type AKeyword, days, jobOf, out, some, type ToldJob, turn, unknown } from './job.ts'
import { situations } from './situations.ts'

const told = ({ data, target }: ToldJob, language: 'en' | 'de' = 'en', more: Partial<StoryOptions> = {}) =>
  story(data, { target, say: wordsOf(language), ...more })
const sentences = (job: ToldJob, language: 'en' | 'de') =>
  told(job, language).sentences.map(({ text }) => text)

describe('the sentences of a story', () => {
  testTable(situations)('%s', (_, job, english, german) => {
    expect(sentences(job(), 'en')).toEqual(english)
    if (german !== undefined) expect(sentences(job(), 'de')).toEqual(german)
  })

  test('there are a hundred situations, a third of them in German too', () => {
    expect(situations.length).toBeGreaterThanOrEqual(100)
    expect(situations.filter(([, , , german]) => german !== undefined).length).toBeGreaterThanOrEqual(30)
  })

  test('names are marked and cut', () => {
    const query = 'x'.repeat(200)
    const job = jobOf({ keywords: [{ query, own: turn(7, 4) }] })
    const [first] = told(job, 'en', { mark: (name) => `<${name}>` }).sentences
    expect(first?.text).toBe(`“<${'x'.repeat(59)}…>” is at rank 4, up 3 places since 1 March.`)
  })
})

test('volumes that were added from an old file are named as old, where they count', () => {
  const { data, target } = jobOf({ keywords: some(10, { own: 2, rival: 5, volume: 100 }) })
  const dates = ['2025-02-28', '2025-01-31', '2025-02-28', '2025-01-31']
  const keywords = data.history.keywords.map((one, place) => {
    const date = dates[place]
    return date === undefined ? one : { ...one, oldVolume: { source: 'Keyword Planner', date } }
  })
  const old = { data: { ...data, history: { ...data.history, keywords } }, target }
  expect(told({ data, target }).limits).toEqual([])
  expect(told(old).limits).toEqual([
    'The search volumes of 4 keywords are old: from Keyword Planner, of 31 January 2025 and later.',
  ])
  expect(told(old, 'de').limits).toEqual([
    'Die Suchvolumen von 4 Keywords sind alt: aus Keyword Planner, vom 31. Januar 2025 und später.',
  ])
})

test('the lead begins with counted clicks where they cover the period, and says which are counted and which estimated', () => {
  const { data, target } = jobOf({ keywords: some(10, { own: 2, rival: 5, volume: 100 }) })
  const [estimated] = told({ data, target }).sentences
  const counted = { clicks: 1_234, impressions: 20_000, position: 3, clicksBefore: 1_000 }
  const keywords = data.history.keywords.map((one, place) => (place < 2 ? { ...one, counted } : one))
  const withCounted = (before: { from: string; until: string } | null) => ({
    data: {
      ...data,
      history: {
        ...data.history,
        keywords,
        countedClicks: { from: '2026-03-01', until: '2026-03-25', before },
      },
    },
    target,
  })
  expect(told(withCounted(null)).sentences[0]?.text).toBe(
    `Search Console counted 2,470 clicks and 40,000 impressions for 2 of 10 keywords from 1 March to 25 March 2026; what follows is estimated. ${estimated?.text}`,
  )
  expect(told(withCounted({ from: '2026-02-04', until: '2026-02-28' }), 'de').sentences[0]?.text).toContain(
    'Die Search Console zählte 2.470 Klicks und 40.000 Impressionen für 2 von 10 Keywords vom 1. März bis zum 25. März 2026, nach 2.000 in ebenso vielen Tagen davor; was folgt, ist geschätzt.',
  )
  expect(told({ ...withCounted(null), target: 1 }).sentences[0]?.text).not.toContain('counted')

  // The first of the four figures, and what the subject of a message says.
  expect(told(withCounted(null)).cards.map(({ label, about }) => [label, about])).toEqual([
    ['Clicks a month, estimated', '2,470 clicks counted in 25 days'],
    ...['Visibility', 'Top 10', 'Share of voice'].map((label) => [label, '']),
  ])
  expect(told(withCounted(null), 'de').cards[0]?.about).toBe('2.470 Klicks in 25 Tagen gezählt')
  expect(told(withCounted(null)).headline).toBe(estimated?.text)
  expect(told({ ...withCounted(null), target: 1 }).cards[0]?.about).toBe('')
})

/** Any history, any of its targets, any compared day. */
const anything = fc
  .tuple(
    histories(undefined, { min: 1, max: 12 }),
    fc.nat(1),
    fc.option(fc.nat(12)),
    fc.constantFrom('organic', 'news', 'reference'),
  )
  .map(([history, target, back, kind]) => ({
    data: aPageOf(
      { ...history, keywords: history.keywords.map((one) => ({ ...one, kind: kind as 'organic' })) },
      {
        compare: back === null ? null : { day: march(Math.max(0, history.days.length - back)), tolerance: 3 },
        measure: { curve },
      },
    ),
    target: Math.min(target, history.targets.length - 1),
  }))

describe('for any history', () => {
  test('there are one to three whole sentences, four figures, five steps at most; the same each time', () => {
    fc.assert(
      fc.property(anything, (job) => {
        for (const language of ['en', 'de'] as const) {
          const one = told(job, language)
          expect(one.sentences.length).toBeGreaterThanOrEqual(1)
          expect(one.sentences.length).toBeLessThanOrEqual(3)
          expect(one.cards.length).toBeLessThanOrEqual(4)
          expect(one.steps.length).toBeLessThanOrEqual(5)
          const texts = [...one.sentences.map(({ text }) => text), ...one.limits, one.nothing]
          for (const text of texts) {
            expect(text).not.toMatch(/NaN|undefined|null|Infinity|Invalid|\s\s|\.\.|,\./)
            expect(text).toMatch(/^\S.*\.$/)
          }
          expect(new Set(one.sentences.map(({ text }) => text)).size).toBe(one.sentences.length)
          expect(JSON.stringify(told(job, language).sentences)).toBe(JSON.stringify(one.sentences))
        }
      }),
    )
  })

  test('worse is never better: the sign, the way and the word of a change agree with its number', () => {
    fc.assert(
      fc.property(anything, (job) => {
        for (const { change } of told(job).cards) {
          if (change === null) continue
          if (change.way === 'better') expect(change.text).toMatch(/^▲ .*[1-9]/)
          if (change.way === 'worse') expect(change.text).toMatch(/^▼ .*[1-9]/)
        }
        for (const { way, clicks } of told(job).moves)
          if (clicks !== null && clicks !== 0) expect(clicks > 0).toBe(way === 'up' || way === 'entered')
      }),
    )
  })

  test('only web results have clicks, visibility and share of voice', () => {
    fc.assert(
      fc.property(anything, (job) => {
        const kinds = new Set(job.data.history.keywords.map(({ kind }) => kind))
        if (kinds.has('organic')) return
        const one = told(job)
        expect(one.cards.map(({ metric }) => metric)).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/clicks|visibility|share_of_voice/)]),
        )
        expect([...one.moves, ...one.steps].every(({ clicks }) => clicks === null)).toBe(true)
        expect(one.sentences.map(({ text }) => text).join()).not.toMatch(/clicks|visibility/i)
      }),
    )
  })
})

describe('what is steady', () => {
  const floors = { shown: 0.001, unknown: 0.01 }
  const levels = (...all: readonly number[]) => all.map((level, place) => ({ day: march(place + 1), level }))
  const of = (...all: readonly number[]) =>
    trendOf(levels(...all), { since: march(1), delta: (all.at(-1) ?? 0) - (all[0] ?? 0), floors })

  testTable<
    [string, readonly number[], boolean, ReturnType<typeof of>['last'], 'up' | 'down' | null, boolean]
  >([
    ['nothing', [0.2, 0.2, 0.2, 0.2, 0.2, 0.2], false, null, null, true],
    ['a steady decline', [0.2, 0.19, 0.18, 0.17, 0.16, 0.15], true, null, null, false],
    ['the last day alone', [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.1], false, 'all', null, false],
    ['the first day alone', [0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], false, null, null, false],
    ['two days less than six: the ends', [0.2, 0.2, 0.2, 0.2, 0.1], true, null, null, false],
    [
      'down and back',
      [0.205, 0.2, 0.2, 0.17, 0.168, 0.168, 0.17, 0.2, 0.2, 0.205],
      false,
      null,
      'down',
      true,
    ],
    ['up and back', [0.2, 0.2, 0.2, 0.3, 0.31, 0.3, 0.2, 0.2, 0.2], false, null, 'up', true],
    ['one day between', [0.2, 0.2, 0.2, 0.2, 0.1, 0.2, 0.2, 0.2, 0.2], false, null, null, true],
    ['swings of the same size', [0.2, 0.22, 0.2, 0.22, 0.2, 0.22, 0.2, 0.22], false, null, null, true],
    [
      'a little at each end',
      [0.2, 0.22, 0.21, 0.19, 0.21, 0.23, 0.21, 0.22, 0.23, 0.24],
      false,
      null,
      null,
      true,
    ],
    [
      'a step beyond all swings on the last day',
      [0.2, 0.21, 0.2, 0.21, 0.22, 0.23, 0.23, 0.23, 0.18],
      false,
      'all',
      null,
      false,
    ],
    [
      'most of a swing on the last day',
      [0.2, 0.22, 0.2, 0.22, 0.2, 0.21, 0.21, 0.24],
      false,
      null,
      null,
      true,
    ],
    [
      'most of a swing after the first day',
      [0.24, 0.21, 0.2, 0.22, 0.2, 0.22, 0.2, 0.2],
      false,
      null,
      null,
      true,
    ],
  ])('%s', (_, all, isMoved, last, turned, isSwing) => {
    const trend = of(...all)
    expect([trend.isMoved, trend.last, trend.turn?.way ?? null, trend.isSwing]).toEqual([
      isMoved,
      last,
      turned,
      isSwing,
    ])
  })

  test('a line begins at the compared day, and so at the figure that a change is of', () => {
    const own = [1, 1, 1, ...Array(days - 3).fill(4)]
    const compare = { day: march(4), tolerance: 0 }
    const [card] = told(jobOf({ keywords: some(10, { own, volume: 100 }), compare })).cards
    expect(card?.trend.length).toBe(days - 3)
    expect(card?.trend[0]).toBe(card?.trend.at(-1))
    expect(card?.change).toEqual({ text: '=', way: 'same' })
  })
})

describe('the four figures', () => {
  const cardsOf = (keywords: readonly AKeyword[], citations: readonly Citation[] = []) =>
    told(jobOf({ keywords }, { citations })).cards.map(({ metric, value, change, about }) =>
      [metric, value, change === null ? '' : `${change.text} ${change.way}`, about].join(' | '),
    )

  test('are clicks, visibility, the top 10 and share of voice where there are volumes', () => {
    expect(cardsOf(some(10, { own: turn(9, 2), volume: 1234 }))).toEqual([
      'clicks | 1,940 | ▲ 1,590 better | ',
      'visibility | 55.1% | ▲ 45.3 points better | ',
      'top_ten | 10 of 10 | = same | ',
      'share_of_voice | 15.7% | ▲ 12.9 points better | ',
    ])
  })

  test('have no clicks without volumes, and nothing of the click curve for news', () => {
    expect(cardsOf(some(10, { own: 2 })).map((text) => text.split(' ')[0])).toEqual([
      'visibility',
      'top_ten',
      'top_three',
      'ranked',
    ])
    expect(
      cardsOf(some(10, { own: 2, volume: 900, kind: 'news', operation: 'alpha.news' })).map(
        (text) => text.split(' ')[0],
      ),
    ).toEqual(['top_ten', 'top_three', 'ranked'])
  })

  test('have AI citations where the job asks them, with who else is cited', () => {
    const answer = { kind: 'reference', operation: 'alpha.ai', rival: 1 } as const
    const keywords = [
      ...some(5, { own: 2, volume: 100 }),
      { ...answer, own: 1 },
      ...some(5, { ...answer, own: out }),
    ]
    const citations = Array.from({ length: 6 }, (_, place) => ({
      keyword: 5 + place,
      day: days - 1,
      references: 4,
      cited: [{ target: 1, indexes: [0] }],
    }))
    expect(cardsOf(keywords, citations)[3]).toBe('cited | 1 of 6 | = same | also cited: rival.com in 6')
  })

  test('a change within the usual swing is grey', () => {
    const waves = Array.from({ length: days }, (_, day) => [3, 6, 2, 5, 4][day % 5] ?? 3)
    expect(cardsOf(some(10, { own: waves, volume: 100 }))[0]).toMatch(/[▲▼] \d+% same/)
  })
})

const links = ['https://acme.com/a', 'https://acme.com/b', 'https://www.acme.com/a?x=1']
/** Two pages in turn, from the first day on. */
const inTurn: AKeyword['links'] = [
  [0, 0],
  [5, 1],
  [9, 0],
  [12, 1],
]
const base = some(5, { own: 1, volume: 100 })

describe('what to do next', () => {
  const stepsOf = (
    keywords: readonly AKeyword[],
    more: Partial<Parameters<typeof jobOf>[1]> = {},
    language: 'en' | 'de' = 'en',
  ) =>
    told(jobOf({ keywords, links }, more), language).steps.map(
      ({ what, reason, clicks }) => `${what}: ${reason}${clicks === null ? '' : ` [${Math.round(clicks)}]`}`,
    )

  testTable<[string, readonly AKeyword[], readonly string[]]>([
    ['nothing moves', base, []],
    [
      'what fell is recovered',
      [...base, { query: 'desk', own: turn(2, 9), volume: 1000 }],
      ['Recover “desk”: fell from 2 to 9 [129]'],
    ],
    [
      'a fall is told although the keyword is within reach',
      [...base, { query: 'desk', own: turn(5, 8), volume: 1000 }],
      ['Recover “desk”: fell from 5 to 8 [40]'],
    ],
    [
      'what left the results as well',
      [...base, { query: 'desk', own: turn(7, out), volume: 1000 }],
      ['Recover “desk”: dropped out of the top 30, was 7 [40]'],
    ],
    [
      'what is within reach is pushed',
      [...base, { query: 'desk', own: turn(9, 4), volume: 1000 }],
      ['Push “desk” into the top 3: at rank 4, was 9 [30]'],
    ],
    [
      'under a hundredth of the clicks is nothing',
      [...base, { query: 'desk', own: turn(9, 10), volume: 10 }],
      [],
    ],
    [
      'a page that is not meant is fixed',
      [...base, { query: 'desk', own: 2, volume: 1000, url: 'https://acme.com/b', links: [[0, 0]] }],
      ['Fix “desk”: /a ranks instead of /b [157]'],
    ],
    [
      'two pages that swap are fixed',
      [...base, { query: 'desk', own: 2, volume: 1000, links: inTurn }],
      ['Fix “desk”: /b and /a rank in turn (2 changes) [157]'],
    ],
    [
      'a rank that a rival comes near to is defended',
      [...base, { query: 'desk', own: 2, rival: turn(12, 3), volume: 1000 }],
      ['Defend “desk”: rival.com came from 12 to 3, right behind your 2 [47]'],
    ],
    [
      'markets of a keyword are one row',
      [
        ...base,
        { query: 'desk', params: { gl: 'us' }, own: turn(2, 9), volume: 1000 },
        { query: 'desk', params: { gl: 'gb' }, own: turn(2, 5), volume: 1000 },
      ],
      ['Recover “desk”: US: fell from 2 to 9; GB: fell from 2 to 5 [214]'],
    ],
  ])('%s', (_, keywords, expected) => {
    expect(stepsOf(keywords)).toEqual(expected)
  })

  test('two pages for keywords that one page can serve are to be one', () => {
    const keyword = (query: string, page: number) => ({
      query,
      own: 2,
      volume: 9000,
      links: [[page, page]] as const,
    })
    const keywords = [
      keyword('adjustable desk', 1),
      keyword('desk lamp', 0),
      keyword('sit stand desk', 0),
      keyword('standing desk', 0),
    ]
    const { data, target } = jobOf({ keywords, links })
    const reasons = (clusters: readonly (readonly number[])[], language: 'en' | 'de' = 'en') =>
      told({ target, data: { ...data, history: { ...data.history, clusters } } }, language).steps.map(
        ({ what, reason }) => `${what}: ${reason}`,
      )
    expect(reasons([[3, 0, 2]])).toEqual([
      'Fix “standing desk”: 3 keywords with the same results, one page; /a and /b compete',
    ])
    expect(reasons([[3, 0, 2]], 'de')[0]).toContain(
      '3 Keywords mit gleichen Ergebnissen, eine Seite; /a und /b stehen sich im Weg',
    )
    // One page ranks for all.
    expect(reasons([[3, 1, 2]])).toEqual([])
  })

  test('another target of your own is no rival', () => {
    const { data, target } = jobOf({
      keywords: some(10, { own: turn(2, 9), rival: turn(out, 3), volume: 1000 }),
    })
    const targets = data.history.targets.map((one) => ({ ...one, own: true }))
    const job = { target, data: { ...data, history: { ...data.history, targets } } }
    const { sentences, moves, steps } = told(job)
    expect(
      JSON.stringify([sentences, steps.map(({ reason }) => reason), moves.map(({ passed }) => passed)]),
    ).not.toMatch(/rival|sites|passed/)
  })

  test('losses come before chances that are less than twice as large; the last row is for a better chance', () => {
    const loss = { query: 'loss', own: turn(2, 9), volume: 1000 }
    const chance = (volume: number) => ({ query: 'chance', own: 4, volume })
    const first = (volume: number) => stepsOf([...base, loss, chance(volume)])[0]
    expect(first(8_000)).toContain('loss')
    expect(first(9_500)).toContain('chance')
    const losses = Array.from({ length: 6 }, (_, place) => ({ ...loss, query: `loss ${place}` }))
    const verbs = (volume: number) =>
      stepsOf([...base, ...losses, chance(volume)]).map((row) => row.split(' ')[0])
    expect(verbs(6_000)).toEqual(['Recover', 'Recover', 'Recover', 'Recover', 'Push'])
    expect(verbs(2_000)).toEqual(Array(5).fill('Recover'))
  })

  test('a chance stands from 4 to 10, did not fall, and puts nothing at stake', () => {
    const row = (own: AKeyword['own']) =>
      told(jobOf({ keywords: [...base, { query: 'desk', own: own ?? 1, volume: 1000 }] })).steps
    for (const rank of [3, 11, 14, 20]) expect(row(rank)).toEqual([])
    for (const rank of [4, 10]) expect(row(rank).map(({ verb }) => verb)).toEqual(['push'])
    expect(row(turn(9, 10)).map(({ verb }) => verb)).not.toContain('push')
    expect(row(5)[0]?.stake).toBe('could bring about 38 clicks a month')
    expect(row(turn(2, 9))[0]?.stake).toBe('about 129 clicks a month at stake')
  })

  test('each market has its own page', () => {
    const market = (gl: string, page: number): AKeyword => ({
      query: 'desk',
      params: { gl },
      own: turn(2, 9),
      volume: 1000,
      links: [[0, page]],
    })
    const pages = (...all: readonly AKeyword[]) =>
      told(jobOf({ keywords: [...base, ...all], links })).steps[0]?.pages.map(({ where, page }) => [
        where,
        page,
      ])
    expect(pages(market('us', 0), market('gb', 1))).toEqual([
      ['US', 'https://acme.com/a'],
      ['GB', 'https://acme.com/b'],
    ])
    expect(pages(market('us', 0), market('gb', 0))).toEqual([['', 'https://acme.com/a']])
  })

  test('most clicks first, five at most, chances never before what fell', () => {
    const keywords = [
      ...some(9, { own: 4, volume: 90_000 }),
      { query: 'fell a little', own: turn(8, 10), volume: 400_000 },
      { query: 'fell far', own: turn(1, 30), volume: 90_000 },
    ].map((one, place) => ({ query: `keyword ${place}`, ...one }))
    const steps = stepsOf(keywords)
    expect(steps.length).toBe(5)
    expect(steps[0]).toContain('Recover “fell far”')
    expect(steps.join()).toContain('fell a little')
  })

  describe('who passed is named with both ranks: who was behind or not there, and came up ahead', () => {
    const sites = ['me', 'a.example', 'b.example', 'c.example']
    const serp = (day: number, ...found: readonly number[]) => aSerp(found, { keyword: 5, day })
    const desk = { query: 'desk', own: turn(2, 9), volume: 1000 }
    const me = 0
    testTable<[string, AKeyword, readonly PageSerp[], string]>([
      [
        'a site that was there all the time and fell took nothing, although it stands at the old rank',
        desk,
        [serp(0, 1, me, 2, 3), serp(28, 3, 1, 2)],
        ', passed by c.example (4 → 1)',
      ],
      [
        'the one that gained most clicks',
        desk,
        [serp(0, 1, me, 2, 3, 3, 3), serp(28, 2, 1, 3)],
        ', passed by b.example (3 → 1)',
      ],
      [
        'a site that was not among the first ten',
        desk,
        [serp(0, 1, me, 3, 3, 3), serp(28, 2)],
        ', passed by b.example (outside the top 5 → 1)',
      ],
      [
        'a site that stayed where it was is ahead now, but took nothing',
        desk,
        [serp(0, 1, me, 2), serp(28, 1, 1, 2)],
        '',
      ],
      ['nobody who was ahead already', { ...desk, own: turn(3, 9) }, [serp(0, 1, 2, me), serp(28, 2, 1)], ''],
      [
        'nobody where the own rank of then was not on the page',
        { ...desk, own: turn(7, 9) },
        [serp(0, 1, 2, 3), serp(28, 3, 2, 1)],
        '',
      ],
      [
        'a competitor, however deep',
        { ...desk, own: turn(7, 9), rival: turn(out, 3) },
        [],
        ', passed by rival.com (not found → 3)',
      ],
      ['no competitor that fell as well', { ...desk, rival: turn(4, 6) }, [], ''],
      ['no competitor that was ahead', { ...desk, rival: 1 }, [], ''],
    ])('%s', (_, keyword, serps, passed) => {
      expect(stepsOf([...base, keyword], { serps, sites })[0]?.replace(/ \[\d+\]$/, '')).toBe(
        `Recover “desk”: fell from ${(keyword.own as number[])[0]} to ${(keyword.own as number[]).at(-1)}${passed}`,
      )
    })

    test('the greatest loss says so, too, and in German', () => {
      const job = jobOf({ keywords: [...base, desk] }, { sites, serps: [serp(0, 1, me, 3), serp(28, 2)] })
      expect(sentences(job, 'en')[1]).toBe(
        'Biggest loss: “desk” 2 → 9, about 129 clicks, passed by b.example (outside the top 3 → 1).',
      )
      expect(sentences(job, 'de')[1]).toBe(
        'Größter Verlust: „desk“ 2 → 9, etwa 129 Klicks, überholt von b.example (außerhalb der Top 3 → 1).',
      )
    })
  })

  test('an answer that cites rivals alone is to be won', () => {
    const keywords = [
      ...base,
      { query: 'desk', kind: 'reference', operation: 'alpha.ai', own: out, rival: 1 } as const,
    ]
    const citations = [{ keyword: 5, day: days - 1, references: 4, cited: [{ target: 1, indexes: [0] }] }]
    expect(stepsOf(keywords, { citations })).toEqual([
      'Get cited for “desk”: the AI answer cites rival.com and not you',
    ])
  })

  test('in German', () => {
    const keywords = [...base, { query: 'tisch', own: turn(2, out), volume: 1000 }]
    expect(stepsOf(keywords, {}, 'de')).toEqual([
      '„tisch“ zurückholen: aus den Top 30 gefallen, zuvor Platz 2 [157]',
    ])
  })

  test('for a competitor there is nothing, and otherwise it says why', () => {
    const told = (keywords: readonly AKeyword[], target?: string) => {
      const job = jobOf({ keywords, ...(target === undefined ? {} : { target }) })
      return story(job.data, { target: job.target, say: wordsOf('en') })
    }
    expect(told([{ own: turn(2, 9), rival: turn(1, 8), volume: 100 }], 'rival.com').steps).toEqual([])
    expect(told(base).nothing).toBe(
      'No keyword stands out: no fall, chance or wrong page is worth 1% of the clicks.',
    )
    expect(told(some(150, { own: turn(2, 3), volume: 100 })).nothing).toContain(
      'Start with the largest of the 150 falls.',
    )
    expect(told(some(5, { own: out, volume: 10, url: 'https://acme.com/x' })).nothing).toContain(
      'Check first that search engines have indexed the pages meant for “keyword 1” (10 searches a month, /x)',
    )
  })
})

test('what moved is one list by clicks, with who passed whom', () => {
  const job = jobOf({
    keywords: [
      ...some(4, { own: 3, rival: 5, volume: 10 }),
      { query: 'won', own: turn(9, 1), rival: 4, volume: 900 },
      { query: 'lost', own: turn(2, 8), rival: 5, volume: 5000 },
      { query: 'in', own: turn(out, 10), volume: 100 },
      { query: 'out', own: turn(10, out), volume: 200 },
    ],
  })
  expect(
    told(job).moves.map(({ way, name, from, to, clicks, passed }) => [
      way,
      name,
      from,
      to,
      Math.round(clicks ?? 0),
      passed,
    ]),
  ).toEqual([
    ['down', '“lost”', '2', '8', -625, 'rival.com is ahead now'],
    ['up', '“won”', '9', '1', 231, 'rival.com is behind now'],
    ['left', '“out”', '10', 'not found', -5, null],
    ['entered', '“in”', 'not found', '10', 3, null],
  ])
})

describe('a day on which some keywords could not be checked', () => {
  const keywords = [
    ...some(6, { own: turn(3, 7) }).map((one, place) => ({ query: `whole ${place}`, ...one })),
    { query: 'late', own: [unknown, 10, ...Array.from({ length: days - 2 }, () => 7)] },
    { query: 'gone now', own: [1, ...Array.from({ length: days - 2 }, () => 1), unknown] },
    { query: 'a hole', own: Array.from({ length: days }, (_, day) => (day === 12 ? unknown : 1)) },
  ]
  const job = jobOf({ keywords })
  const { sentences: told3, cards: shown, moves: moved } = told(job)
  const [visibility] = shown

  test('leaves sentence, cards and chart of the same two observations', () => {
    const [first = 0, last = 0] = [visibility?.trend[0] ?? 0, visibility?.trend.at(-1) ?? 0]
    const points = (Math.abs(last - first) * 100).toFixed(1)
    expect(visibility?.change?.text).toBe(`▼ ${points} points`)
    expect(told3[0]?.text).toContain(`${points} points less than on 1 March`)
  })

  test('is no dent in a line', () => {
    expect(visibility?.trend[12]).toBe(visibility?.trend[11])
  })

  test('says of a keyword which day it is compared with', () => {
    expect(moved.find(({ name }) => name === '“late”')).toMatchObject({ since: 'since 2 March', from: '10' })
    expect(moved.filter(({ since }) => since !== null)).toHaveLength(1)
    expect(told3[1]?.text).toContain('“late” 10 → 7 (since 2 March)')
  })
})

describe('sites outside the job', () => {
  const sites = ['me', 'gains.example', 'also.example', 'lost.example']
  const pages = (keyword: number) => [
    aSerp([3, 0, 1, 2], { keyword, day: 0 }),
    aSerp([1, 2, 0], { keyword, day: days - 1 }),
  ]
  const more = { sites, serps: Array.from({ length: 6 }, (_, keyword) => pages(keyword)).flat() }

  test('are told of where they gained, each by one story of a report', () => {
    const { data } = jobOf({ keywords: some(6, { own: 5, rival: 6, volume: 100 }) }, more)
    const targets = data.history.targets.map((one) => ({ ...one, own: true }))
    const both = storiesOf(
      { ...data, history: { ...data.history, targets } },
      { say: wordsOf('en'), mark: (name) => name },
    ).map(({ sentences: all }) => all.map(({ text }) => text).join(' '))
    expect(both[0]).toContain('gains.example, not tracked, rose from ')
    expect(both[1]).toContain('also.example, not tracked, rose from ')
    expect(both.join()).not.toContain('lost.example')
  })

  test('are named where nothing ranks and no competitor has a place', () => {
    expect(
      sentences(
        jobOf(
          { keywords: some(6, { own: out, rival: out }) },
          { sites, serps: more.serps.filter(({ day }) => day > 0) },
        ),
        'en',
      ),
    ).toEqual([
      'None of the 6 keywords is in the top 30. None was on 1 March either.',
      'Of all other sites, gains.example has the most places: in the top 10 for 6 of 6 keywords.',
    ])
  })
})
