import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultCurve } from '../../../src/report/ctr.ts'
import { story } from '../../../src/report/story/story.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
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

const samples: readonly (readonly [title: string, job: AJob, language?: 'de'])[] = [
  ['forty keywords, three sites', { keywords: drifting(40, { rivals: 2 }) }],
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
  ['in German', { keywords: drifting(40, { seed: 12, rivals: 2 }) }, 'de'],
]

const db = new Database(':memory:')
afterAll(() => db.close())

/** The days that a sentence compares, as rows: one for each keyword and site that was checked on both. */
function load({ data }: ToldJob): void {
  const { history } = data
  db.exec(`
    DROP TABLE IF EXISTS ranks; DROP TABLE IF EXISTS curve;
    CREATE TABLE curve (rank INTEGER PRIMARY KEY, rate REAL);
    CREATE TABLE ranks (keyword INTEGER, query TEXT, kind TEXT, volume INTEGER, site TEXT, now INTEGER, before INTEGER, isNow INTEGER, isBefore INTEGER);
  `)
  const rate = db.prepare('INSERT INTO curve VALUES (?, ?)')
  for (const [place, one] of defaultCurve.rates.entries()) rate.run(place + 1, one)
  const row = db.prepare('INSERT INTO ranks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const rankIn = (cell: number | null | undefined) => (cell != null && cell > 0 ? Math.trunc(cell) : null)
  db.transaction(() => {
    for (const { keyword, target, cells } of history.series) {
      const { query, kind, volume } = history.keywords[keyword] ?? { query: '', kind: '', volume: null }
      // With a tolerance of a week the nearest day that was checked is compared.
      const then = cells.slice(0, -1).find((cell, day) => day <= 7 && cell != null && cell !== 0)
      const last = cells.at(-1)
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
const ordinals = ['', 'first', 'second', 'third']

describe('the sentences of a sample job are those that SQL makes of its rows', () => {
  for (const [title, job, language = 'en'] of samples)
    test(title, () => {
      const all = jobOf(job)
      load(all)
      const said = story(all.data, { target: all.target, say: wordsOf(language) }).sentences.map(
        ({ text }) => text,
      )
      // German numbers with English signs.
      const whole = (language === 'de' ? said.map((text) => text.replaceAll('.', ',')) : said).join(' ')
      const kind = all.data.history.keywords[0]?.kind ?? ''
      const hasVolumes = all.data.history.keywords.every(({ volume }) => volume !== null)
      const metric = kind !== 'organic' ? 'top_ten' : hasVolumes ? 'clicks' : 'visibility'
      const sites = sums(metric, kind)
      const own = sites.find(({ site }) => site === 'acme.com') as Sum
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
        sites.filter(({ value }) => Number(value.toPrecision(3)) > Number(own.value.toPrecision(3))).length
      const isAlike = sites.every(({ keywords }) => keywords === own.keywords)
      if (sites.length > 1 && language === 'en' && isAlike)
        expect(said[0]).toContain(`${ordinals[place]} of `)
      const first = sites.toSorted((a, b) => b.value - a.value)[0]
      if (metric === 'clicks' && said[0]?.includes('behind'))
        expect(said[0]).toContain(`behind ${first?.site} (${digits(first?.value ?? 0)})`)
      if (metric === 'clicks' && isAlike && language === 'en') {
        const seen = sums('visibility', kind)
        const shown = (site: string) =>
          Math.round(((seen.find((one) => one.site === site)?.value ?? 0) * 1000) / own.keywords)
        const visible = 1 + sites.filter(({ site }) => shown(site) > shown('acme.com')).length
        if (visible === place) expect(said[0]).not.toContain('in visibility')
        else expect(said[0]).toContain(`; ${ordinals[visible]} in visibility`)
      }
      const change = own.now - own.before
      if (metric === 'clicks' && / (more|fewer) than /.test(said[0] ?? '')) {
        expect(said[0]).toContain(change > 0 ? 'more than' : 'fewer than')
        const percent = `${Math.round((Math.abs(change) / own.before) * 100)}%`
        expect([percent, digits(change)].some((text) => said[0]?.includes(text))).toBe(true)
      }
      if (metric !== 'clicks') return
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
        } else expect(Math.abs(one?.clicks ?? 0)).toBeLessThanOrEqual(Math.max(own.now, own.before) / 100)
      }
    })
})
