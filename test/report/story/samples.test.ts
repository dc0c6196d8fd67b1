import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultCurve } from '../../../src/report/ctr.ts'
import type { PageData } from '../../../src/report/data.ts'
import type { StoryCard } from '../../../src/report/story/cards.ts'
import { story } from '../../../src/report/story/story.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
import { aSerp } from '../metrics/history.ts'
import {
  type AJob,
  type AKeyword,
  type Cells,
  days,
  jobOf,
  out,
  some,
  type ToldJob,
  turn,
  unknown,
  waves,
} from './job.ts'

/** The same numbers on every machine. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Ranks that drift from day to day, now and then lost or not checked. */
function drifting(
  count: number,
  { seed = 1, length = days, rivals = 1, kind = 'organic', failing = 0 },
): readonly AKeyword[] {
  const next = numbers(seed)
  const cells = (): Cells => {
    let rank = 1 + Math.floor(next() * 20)
    return Array.from({ length }, () => {
      rank = Math.max(1, Math.min(34, rank + Math.round((next() - 0.5) * 4)))
      return next() < failing ? unknown : rank > 30 ? out : rank
    })
  }
  const ofKind = kind === 'organic' ? {} : { kind: kind as 'news', operation: `alpha.${kind}` }
  return Array.from({ length: count }, (_, place) => ({
    query: `${kind} ${place + 1}`,
    ...ofKind,
    volume: 10 + Math.floor(next() * 9000),
    own: cells(),
    ...(rivals > 0 ? { rival: cells() } : {}),
    ...(rivals > 1 ? { other: cells() } : {}),
  }))
}

/** Sites of results; the third one comes to the top. */
const sites = ['a.example', 'b.example', 'harbor.example', 'acme.com']

/** The first results of each keyword on the first and on the last day. */
function withPages(keywords: number, areSteady = false): Partial<PageData> {
  const serps = Array.from({ length: keywords }, (_, keyword) => {
    const first = [keyword % 2, 3, 1 - (keyword % 2), 2]
    const last = keyword % 3 === 0 ? [2, 3, 0, 1] : [0, 1, 3, 2]
    return [
      aSerp(areSteady ? last : first, { keyword, day: 0, targets: { 3: [0] } }),
      aSerp(last, { keyword, day: days - 1, targets: { 3: [0] } }),
    ]
  }).flat()
  return { serps, sites }
}

/** Keywords with competitors of their own each, as of a job with eight targets. */
function withRivals(keywords: readonly AKeyword[], more: number): readonly AKeyword[] {
  const others = Array.from({ length: more }, (_, place) => drifting(keywords.length, { seed: 40 + place }))
  return keywords.map((one, keyword) => ({
    ...one,
    rivals: Object.fromEntries(others.map((all, place) => [`rival-${place}.com`, all[keyword]?.own ?? out])),
  }))
}

const tells = {
  rival: /(\S+) (?:rose|fell) from about ([\d,]+) to ([\d,]+) clicks a month\./,
  site: /(\S+), not tracked, rose from ([\d.]+)% to ([\d.]+)% of the clicks on the first ten results; yours there is ([\d.]+)%\./,
  tag: /The tag (\S+) \((\d+) keywords\) moved more than the whole: (\S+) (?:more|fewer) clicks\./,
  leader: /(\S+) (?:leads|follows) with about ([\d,]+) clicks a month\./,
  turn: /after a (rise|fall) to ([\d,]+) by (\d+) (\w+)/,
  last: /(most|all) of it on the last day/,
  between: /between ([\d,]+) and ([\d,]+) since/,
  parts: /(\d+) keywords (won|lost) about ([\d,]+) clicks(?:, (\d+) (?:won|lost) about ([\d,]+))?\. Biggest/,
  alone:
    /No competitor is tracked\.(?: Of all other sites, (\S+) has the most places: in the top 10 for (\d+) of (\d+) keywords\.)?/,
}

interface SampleOptions {
  readonly language?: 'de'
  /** A sentence that the sample is made for. */
  readonly tells?: keyof typeof tells
  readonly more?: Partial<PageData>
}

const samples: readonly (readonly [title: string, job: AJob, options?: SampleOptions])[] = [
  ['forty keywords, three sites', { keywords: drifting(40, { rivals: 2 }) }, { tells: 'between' }],
  ['one target', { keywords: drifting(40, { seed: 2, rivals: 0 }) }],
  ['many keywords', { keywords: drifting(5_000, { seed: 3, rivals: 2, length: 9 }), length: 9 }],
  ['a month', { keywords: drifting(60, { seed: 4, length: 31 }), length: 31, from: '2026-10-31' }],
  ['the first day', { keywords: drifting(40, { seed: 5, length: 1 }), length: 1 }],
  ['nothing ranks', { keywords: some(40, { own: out, rival: 3, volume: 100 }) }],
  ['failures', { keywords: drifting(80, { seed: 6, failing: 0.2 }) }],
  ['mixed kinds', { keywords: [...drifting(30, { seed: 7 }), ...drifting(20, { seed: 8, kind: 'news' })] }],
  ['without volumes', { keywords: drifting(40, { seed: 9 }).map((one) => ({ ...one, volume: null })) }],
  ['news alone', { keywords: drifting(40, { seed: 10, kind: 'news' }) }],
  [
    'a great rise',
    { keywords: [...drifting(20, { seed: 11 }), ...some(10, { own: turn(9, 1), rival: 4, volume: 9000 })] },
  ],
  [
    'two markets of each keyword',
    {
      keywords: drifting(20, { seed: 13 }).flatMap((one) =>
        ['us', 'gb'].map((gl) => ({ ...one, params: { gl } })),
      ),
    },
  ],
  ['few keywords', { keywords: drifting(4, { seed: 14, rivals: 2 }) }],
  ['in German', { keywords: drifting(40, { seed: 12, rivals: 2 }) }, { language: 'de' }],
  ['eight targets', { keywords: withRivals(drifting(40, { seed: 15, rivals: 1 }), 6) }],
  [
    'a rival that rose',
    { keywords: some(20, { own: 4, rival: turn(9, 2), other: 12, volume: 700 }) },
    { tells: 'rival' },
  ],
  [
    'a site that is not tracked',
    { keywords: some(12, { own: 5, volume: 900 }) },
    { tells: 'site', more: withPages(12) },
  ],
  [
    'a tag that moved more',
    {
      keywords: [
        ...some(20, { own: 3, volume: 400 }),
        ...some(6, { own: turn(2, 6), volume: 700, tags: ['money'] }),
        ...some(6, { own: turn(8, 3), volume: 900, tags: ['brand'] }),
      ],
    },
    { tells: 'tag' },
  ],
  [
    'a rise on the last day',
    { keywords: some(20, { own: turn(7, 3, 1), rival: 5, volume: 700 }) },
    { tells: 'last' },
  ],
  [
    'a fall and a recovery',
    { keywords: drifting(60, { seed: 4, length: 31 }), length: 31 },
    { tells: 'turn' },
  ],
  [
    'no competitor, and the results',
    { keywords: some(12, { own: 2, volume: 900 }) },
    { tells: 'alone', more: withPages(12, true) },
  ],
  ['swings', { keywords: some(20, { own: waves(3, 6, 2, 5, 3), volume: 700 }) }, { tells: 'between' }],
  [
    'swings, and as many new keywords',
    {
      keywords: [
        ...some(20, { own: waves(3, 6, 2, 5, 3), volume: 700 }),
        ...some(20, { own: turn(null, 2, 3), volume: 900 }),
      ],
    },
  ],
  ['won and lost', { keywords: drifting(40, { seed: 21 }) }, { tells: 'parts' }],
  ['a leader', { keywords: some(30, { own: 6, rival: 9, volume: 500 }) }, { tells: 'leader' }],
]

const db = new Database(':memory:')
afterAll(() => db.close())

/** The days that a sentence compares, as rows: one for each keyword and site that was checked on both. */
function load({ data }: ToldJob): void {
  const { history } = data
  const lastDay = history.days.length - 1
  db.exec(`
    DROP TABLE IF EXISTS ranks; DROP TABLE IF EXISTS curve; DROP TABLE IF EXISTS tags; DROP TABLE IF EXISTS results; DROP TABLE IF EXISTS cells;
    CREATE TABLE cells (keyword INTEGER, site TEXT, day TEXT, rank INTEGER);
    CREATE TABLE tags (keyword INTEGER, tag TEXT);
    CREATE TABLE results (keyword INTEGER, isNow INTEGER, rank INTEGER, site TEXT);
    CREATE TABLE curve (rank INTEGER PRIMARY KEY, rate REAL);
    CREATE TABLE ranks (keyword INTEGER, query TEXT, kind TEXT, volume INTEGER, site TEXT, now INTEGER, before INTEGER, isNow INTEGER, isBefore INTEGER);
  `)
  const rate = db.prepare('INSERT INTO curve VALUES (?, ?)')
  for (const [place, one] of defaultCurve.rates.entries()) rate.run(place + 1, one)
  const row = db.prepare('INSERT INTO ranks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const tag = db.prepare('INSERT INTO tags VALUES (?, ?)')
  for (const [keyword, { tags }] of history.keywords.entries()) for (const one of tags) tag.run(keyword, one)
  const result = db.prepare('INSERT INTO results VALUES (?, ?, ?, ?)')
  for (const { keyword, day, results } of data.serps)
    for (const [rank, , , site] of results)
      result.run(keyword, Number(day === lastDay), rank, sites[site ?? -1])
  const cell = db.prepare('INSERT INTO cells VALUES (?, ?, ?, ?)')
  const rankIn = (cell: number | null | undefined) => (cell != null && cell > 0 ? Math.trunc(cell) : null)
  db.transaction(() => {
    for (const { keyword, target, cells } of history.series) {
      const { query, kind, volume } = history.keywords[keyword] ?? { query: '', kind: '', volume: null }
      // With a tolerance of a week the nearest day that was checked is compared.
      const then = cells.slice(0, -1).find((cell, day) => day <= 7 && cell != null && cell !== 0)
      const last = cells.at(-1)
      for (const [day, one] of cells.entries())
        if (rankIn(one) !== null)
          cell.run(keyword, history.targets[target]?.label, history.days[day], rankIn(one))
      row.run(
        ...[keyword, query, kind, volume, history.targets[target]?.label, rankIn(last), rankIn(then)],
        ...[Number(last != null && last !== 0), Number(then !== undefined)],
      )
    }
  })()
}

interface Sum {
  readonly site: string
  readonly value: number
  readonly now: number
  readonly before: number
  readonly keywords: number
}

const terms = {
  clicks: 'r.volume * COALESCE(c.rate, 0)',
  visibility: 'COALESCE(c.rate, 0) / (SELECT rate FROM curve WHERE rank = 1)',
  top_ten: 'COALESCE(c.rank <= 10, 0)',
}

/** The sums of each site, on the last day, and over the keywords that were checked on both days. */
function sums(metric: keyof typeof terms, kind: string): readonly Sum[] {
  const of = (day: 'now' | 'before', where: string) =>
    `SELECT r.site, COUNT(*) AS keywords, SUM(${terms[metric]}) AS value FROM ranks r LEFT JOIN curve c ON c.rank = r.${day} WHERE r.kind = '${kind}' AND ${where} GROUP BY r.site`
  return db
    .prepare<[], Sum>(
      `SELECT w.site, w.keywords, w.value, n.value AS now, b.value AS before FROM (${of('now', 'r.isNow')}) w
       LEFT JOIN (${of('now', 'r.isNow AND r.isBefore')}) n ON n.site = w.site LEFT JOIN (${of('before', 'r.isNow AND r.isBefore')}) b ON b.site = w.site`,
    )
    .all()
}

/** How many keywords of a site were checked on both days. */
function common(site: string): number {
  const query = db.prepare<[string], { n: number }>(
    'SELECT COUNT(*) AS n FROM ranks WHERE site = ? AND isNow AND isBefore',
  )
  return query.get(site)?.n ?? 0
}

/** The clicks of the own site on each day, of the keywords that were checked on both days. */
function clicksByDay(): readonly { readonly day: string; readonly clicks: number }[] {
  return db
    .prepare<[], { day: string; clicks: number }>(
      `SELECT d.day, SUM(r.volume * COALESCE(c.rate, 0)) AS clicks FROM cells d
       JOIN ranks r ON r.keyword = d.keyword AND r.site = d.site LEFT JOIN curve c ON c.rank = d.rank
       WHERE d.site = 'acme.com' AND r.kind = 'organic' AND r.isNow AND r.isBefore GROUP BY d.day ORDER BY d.day`,
    )
    .all()
}

/** How many keywords won clicks and how many lost some, with the clicks. */
function partsOfChange() {
  return db
    .prepare<[], { keywords: number; clicks: number }>(
      `WITH changed AS (
         SELECT r.volume * (COALESCE(n.rate, 0) - COALESCE(b.rate, 0)) AS clicks FROM ranks r
         LEFT JOIN curve n ON n.rank = r.now LEFT JOIN curve b ON b.rank = r.before
         WHERE r.kind = 'organic' AND r.site = 'acme.com' AND r.isNow AND r.isBefore)
       SELECT COUNT(clicks) AS keywords, COALESCE(SUM(clicks), 0) AS clicks
       FROM (SELECT 1 AS way UNION ALL SELECT -1) w LEFT JOIN changed ON SIGN(clicks) = w.way GROUP BY w.way ORDER BY w.way DESC`,
    )
    .all()
}

/** The share of a site of the clicks on the results of a day, in percent. */
function shareOf(site: string, isNow: boolean): string {
  const all = db
    .prepare<[string, number], { share: number }>(
      `SELECT SUM(clicks * (site = ?)) / SUM(clicks) AS share FROM (
         SELECT p.site, r.volume * COALESCE(c.rate, 0) AS clicks FROM results p JOIN curve c ON c.rank = p.rank
         JOIN ranks r ON r.keyword = p.keyword AND r.site = 'acme.com' WHERE p.isNow = ?)`,
    )
    .get(site, Number(isNow))
  return ((all?.share ?? 0) * 100).toFixed(1)
}

/** The tag whose clicks changed by most, with how many keywords it has, and how they changed in percent. */
function greatestTag() {
  return db
    .prepare<[], { tag: string; keywords: number; now: number; before: number }>(
      `SELECT t.tag, COUNT(*) AS keywords, SUM(r.volume * COALESCE(n.rate, 0)) AS now, SUM(r.volume * COALESCE(b.rate, 0)) AS before
       FROM tags t JOIN ranks r ON r.keyword = t.keyword AND r.site = 'acme.com'
       LEFT JOIN curve n ON n.rank = r.now LEFT JOIN curve b ON b.rank = r.before
       GROUP BY t.tag ORDER BY ABS(SUM(r.volume * (COALESCE(n.rate, 0) - COALESCE(b.rate, 0)))) DESC LIMIT 1`,
    )
    .get()
}

/** The keyword that won or lost most clicks, over those of its markets that went the same way. */
function greatest(way: '>' | '<') {
  return db
    .prepare<[], { query: string; ranks: string; clicks: number }>(
      `SELECT query, GROUP_CONCAT(ranks, '|') AS ranks, SUM(clicks) AS clicks FROM (
         SELECT r.keyword, r.query, COALESCE(r.before, '.*') || ' → ' || COALESCE(r.now, '.*') AS ranks,
           r.volume * (COALESCE(n.rate, 0) - COALESCE(b.rate, 0)) AS clicks
         FROM ranks r LEFT JOIN curve n ON n.rank = r.now LEFT JOIN curve b ON b.rank = r.before
         WHERE r.kind = 'organic' AND r.site = 'acme.com' AND r.isNow AND r.isBefore)
       WHERE clicks ${way} 0 GROUP BY query ORDER BY ROUND(ABS(SUM(clicks)), 6) DESC, MIN(keyword) LIMIT 1`,
    )
    .get()
}

const digits = (value: number) => Math.round(Number(Math.abs(value).toPrecision(3))).toLocaleString('en-US')
const ordinals = ['', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth']

describe('the sentences of a sample job are those that SQL makes of its rows', () => {
  for (const [title, job, { language = 'en', tells: made, more = {} } = {}] of samples)
    test(title, () => {
      const all = jobOf(job, more)
      load(all)
      const { sentences, cards: toldCards } = story(all.data, { target: all.target, say: wordsOf(language) })
      const said = sentences.map(({ text }) => text)
      // German numbers with English signs.
      const whole = (language === 'de' ? said.map((text) => text.replaceAll('.', ',')) : said).join(' ')
      const kind = all.data.history.keywords[0]?.kind ?? ''
      const hasVolumes = all.data.history.keywords.every(({ volume }) => volume !== null)
      const metric = kind !== 'organic' ? 'top_ten' : hasVolumes ? 'clicks' : 'visibility'
      const tracked = sums(metric, kind)
      const own = tracked.find(({ site }) => site === 'acme.com') as Sum
      const ranked = db
        .prepare<[], { n: number }>("SELECT COUNT(now) AS n FROM ranks WHERE site = 'acme.com'")
        .get()?.n
      if (ranked === 0) {
        expect(whole).toContain(`None of the ${own.keywords} keywords is in the top 30.`)
        return
      }
      const figure = {
        clicks: digits(own.value),
        visibility: `${((own.value / own.keywords) * 100).toFixed(1)}%`,
        top_ten: `${own.value} of ${own.keywords} keywords`,
      }[metric]
      expect(said[0]?.replaceAll('.', ',')).toContain(figure.replaceAll('.', ','))
      const place =
        1 +
        tracked.filter(({ value }) => Number(value.toPrecision(3)) > Number(own.value.toPrecision(3))).length
      const isAlike = tracked.every(({ keywords }) => keywords === own.keywords)
      if (tracked.length > 1 && language === 'en' && isAlike)
        expect(said[0]).toContain(`${ordinals[place]} of `)
      const [first, second] = tracked.toSorted((a, b) => b.value - a.value)
      if (metric === 'clicks' && said[0]?.includes('behind'))
        expect(said[0]).toContain(`behind ${first?.site} (${digits(first?.value ?? 0)})`)
      const change = own.now - own.before
      if (metric === 'clicks' && / (more|fewer) than /.test(said[0] ?? '')) {
        expect(said[0]).toContain(change > 0 ? 'more than' : 'fewer than')
        const percent = `${Math.round((Math.abs(change) / own.before) * 100)}%`
        expect([percent, digits(change)].some((text) => said[0]?.includes(text))).toBe(true)
      }
      if (metric !== 'clicks') return
      // The line of the card begins and ends with what the sentence compares.
      const [{ trend, change: shown }] = toldCards as [StoryCard]
      if (shown !== null && own.keywords === common('acme.com')) {
        expect(trend.at(-1)).toBeCloseTo(own.value, 6)
        expect(trend[0]).toBeCloseTo(own.before, 6)
      }
      if (made !== undefined) expect(whole).toMatch(tells[made])
      const [, rival, from, to] = tells.rival.exec(whole) ?? []
      const moved = tracked.find(({ site }) => site === rival)
      if (rival !== undefined)
        expect([from, to]).toEqual([digits(moved?.before ?? 0), digits(moved?.now ?? 0)])
      const [, leading, amount] = tells.leader.exec(whole) ?? []
      if (leading !== undefined)
        expect([leading, amount]).toEqual(
          [first?.site === 'acme.com' ? second : first].map((one) => [one?.site, digits(one?.value ?? 0)])[0],
        )
      const [, site, ...shares] = tells.site.exec(whole) ?? []
      if (site !== undefined)
        expect(shares).toEqual([shareOf(site, false), shareOf(site, true), shareOf('acme.com', true)])
      const [, way, turned, date, month] = tells.turn.exec(whole) ?? []
      const byDay = clicksByDay()
      // Days on which some were not checked count as if all had been.
      const isWhole = all.data.history.series.every(({ cells }) => !cells.includes(unknown))
      if (turned !== undefined && isWhole) {
        const place = byDay.findIndex(
          ({ day }) => day === new Date(`${date} ${month} 2026 UTC`).toISOString().slice(0, 10),
        )
        expect(digits(byDay[place]?.clicks ?? 0)).toBe(turned)
        // What a reader of the chart finds as its highest or lowest day.
        const between = byDay.slice(1, -1).map(({ clicks }) => clicks)
        expect(byDay[place]?.clicks).toBe(Math[way === 'rise' ? 'max' : 'min'](...between))
      }
      const [, howMuch] = tells.last.exec(whole) ?? []
      if (howMuch !== undefined) {
        const [before, last] = byDay.slice(-2).map(({ clicks }) => clicks) as [number, number]
        expect((last - before) / change).toBeGreaterThanOrEqual(howMuch === 'all' ? 0.95 : 0.5)
        // It is more than the usual swing, which is grey.
        expect(toldCards[0]?.change?.way).toBe(change > 0 ? 'better' : 'worse')
      }
      const [, low, high] = tells.between.exec(whole) ?? []
      if (low !== undefined && isWhole) {
        const all = byDay.map(({ clicks }) => clicks)
        expect([low, high]).toEqual([digits(Math.min(...all)), digits(Math.max(...all))])
      }
      const parts = tells.parts.exec(whole)
      if (parts !== null) {
        const [up, down] = partsOfChange()
        const inOrder = parts[2] === 'won' ? [up, down] : [down, up]
        expect(parts[2]).toBe(change < 0 ? 'lost' : 'won')
        expect([parts[1], parts[3], parts[4], parts[5]]).toEqual(
          inOrder.flatMap((one) =>
            one?.keywords ? [String(one.keywords), digits(one.clicks)] : [undefined, undefined],
          ),
        )
        expect((up?.clicks ?? 0) + (down?.clicks ?? 0)).toBeCloseTo(change, 6)
      }
      const alone = tells.alone.exec(whole)
      if (alone !== null) {
        expect(tracked.length).toBe(1)
        const places = db
          .prepare<[], { site: string; places: number; all: number }>(
            `SELECT p.site, COUNT(DISTINCT p.keyword) AS places, (SELECT COUNT(DISTINCT keyword) FROM results) AS "all"
             FROM results p JOIN curve c ON c.rank = p.rank WHERE p.isNow AND p.site <> 'acme.com' GROUP BY p.site ORDER BY places DESC, SUM(c.rate) DESC LIMIT 1`,
          )
          .get()
        expect(alone.slice(1)).toEqual(
          places === undefined
            ? [undefined, undefined, undefined]
            : [places.site, String(places.places), String(places.all)],
        )
      }
      const [, tag, some, size] = tells.tag.exec(whole) ?? []
      if (tag !== undefined) {
        const one = greatestTag()
        const part = Math.abs((one?.now ?? 0) - (one?.before ?? 0)) / (one?.before ?? 1)
        expect([tag, some, size]).toEqual([one?.tag, String(one?.keywords), `${Math.round(part * 100)}%`])
        expect(whole).toContain(`${size} ${(one?.now ?? 0) > (one?.before ?? 0) ? 'more' : 'fewer'} clicks`)
      }
      if (own.keywords < 5) {
        expect(said[0]).toMatch(change > 0 ? /^Better: about / : /^Worse: about /)
        for (const { query } of all.data.history.keywords) expect(whole).toContain(query)
        return
      }
      for (const [way, word] of [
        ['>', /biggest win|größter Gewinn/i],
        ['<', /biggest loss|größter Verlust/i],
      ] as const) {
        const one = greatest(way)
        const told = word.test(whole)
        if (job.length === 1) expect(told).toBe(false)
        else if (told) {
          for (const ranks of one?.ranks.split('|') ?? [])
            expect(whole).toMatch(
              new RegExp(`${one?.query}[“”][^“„]* ${ranks}[^“„]*, (about|etwa) ${digits(one?.clicks ?? 0)} `),
            )
          // What to do next says the same of the greatest loss.
          const [fell] = story(all.data, { target: all.target, say: wordsOf(language) }).steps.filter(
            ({ verb, what }) => verb === 'recover' && what.includes(one?.query ?? ''),
          )
          if (way === '<' && fell !== undefined)
            expect(fell.clicks).toBeCloseTo(Math.abs(one?.clicks ?? 0), 6)
        } else expect(Math.abs(one?.clicks ?? 0)).toBeLessThanOrEqual(Math.max(own.value, own.before) / 100)
      }
    })
})
