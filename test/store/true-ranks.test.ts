import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Result } from '../../src/model/result.ts'
import type { EndKind } from '../../src/rank/paging.ts'
import { backfillTargets } from '../../src/run/derive.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { understood, webPage, work } from './answers.ts'
import { aStore, noon, plan, type TempStore } from './build.ts'

const targets = [aTarget('x.example')]

/** Results of a page, numbered as a service may: from 1 on every page, on over the pages, or not at all. */
const schemes: Readonly<Record<string, (place: number, before: number) => number | null>> = {
  restart: (place) => place + 1,
  'count on': (place, before) => before + place + 1,
  none: () => null,
  nonsense: (place, before) => 99 - 7 * place - before,
}

const links = fc.constantFrom(
  ...[null, 'https://a.example/', 'https://A.example/#top', 'https://a.example', 'https://b.example/?q=1'],
  ...['https://b.example/', 'https://c.example/x', 'https://c.example/x#y', 'https://x.example/', 'no link'],
  ...['https://x.example/deep', 'http://x.example/'],
)
const pages = fc.array(fc.option(fc.array(links, { minLength: 1, maxLength: 13 }), { freq: 6 }), {
  minLength: 1,
  maxLength: 4,
})

const same = (link: string): string => {
  if (!URL.canParse(link)) return link
  const url = new URL(link)
  url.hash = ''
  return url.href
}

test('ranks are 1 + the distinct results before, however the service numbers its results', async () => {
  const temp = await aStore()
  let example = 0
  await fc.assert(
    fc.asyncProperty(pages, fc.constantFrom(...Object.keys(schemes)), async (pages, scheme) => {
      // Pages that repeat another end the paging.
      fc.pre(
        new Set(pages.map((page) => JSON.stringify(page?.map((link) => link && same(link))))).size ===
          pages.length,
      )
      example += 1
      const query = { text: `${example}`, pages: pages.length }
      const run = await plan(temp.store, { job: { name: `${example}`, targets }, queries: [query] })
      await work(temp.store, run, ({ page }) => {
        const before = pages.slice(0, page - 1).flatMap((one) => one ?? []).length
        const results = pages[page - 1]?.map((link, place): Result => {
          const position = schemes[scheme]?.(place, before) ?? null
          return aResult('organic', { position, title: `${page}.${place}`, link })
        })
        return results === undefined ? null : understood(results)
      })
      const seen = new Set<string>()
      const ranks = new Map<string, number>()
      const expected = pages.flatMap((page, index) => {
        const lost = Array.from({ length: page === null ? 10 : 0 }, (_, n) => `lost ${index} ${n}`)
        for (const name of lost) seen.add(name)
        return (page ?? []).map((link, place) => {
          const name = link === null ? `${index} ${place}` : same(link)
          seen.add(name)
          if (!ranks.has(name)) ranks.set(name, seen.size)
          return ranks.get(name)
        })
      })
      const stored = temp.sql<{ rank: number }>(
        'SELECT rank FROM organic_results WHERE run_id = ? ORDER BY page, place',
        run.id,
      )
      expect(stored.map(({ rank }) => rank)).toEqual(expected)
      const own = [...ranks].filter(([name]) => name.includes('//x.example/'))
      const [row] = temp.sql<Record<string, unknown>>(
        'SELECT rank, url, urls FROM rankings WHERE run_id = ?',
        run.id,
      )
      expect(row?.rank ?? null).toBe(own[0]?.[1] ?? null)
      expect(JSON.parse(String(row?.urls ?? '[]'))).toEqual(own.map(([url, rank]) => ({ rank, url })))
    }),
    { numRuns: 60 },
  )
})

/** Results by the letters of their sites, with `X` for a deeper page of `x.example`. */
const page = (text: string, says: Parameters<typeof webPage>[1] = {}) => {
  const { results, ...rest } = webPage(text, says)
  return {
    ...rest,
    results: results.map((result) =>
      result.title === 'X' ? { ...result, link: 'https://x.example/deep' } : result,
    ),
  }
}

async function collected(
  pages: readonly (string | null)[],
  job: Partial<JobSettings> = {},
  asked = pages.length,
) {
  const temp = await aStore()
  const run = await plan(temp.store, { job: { targets, ...job }, queries: [{ pages: asked }] })
  await work(temp.store, run, ({ page: number }) => answered(pages, number))
  await temp.store.finishRun(run.id, 'completed', noon)
  return { ...temp, run }
}

function answered(pages: readonly (string | null)[], number: number) {
  const text = pages[number - 1] ?? null
  if (text === null) return null
  return page(text.replace('$', ''), text.endsWith('$') ? { hasNextPage: false } : {})
}

describe('all of a target that ranks', () => {
  testTable<[string, readonly (string | null)[], readonly unknown[] | null]>([
    ['once', ['abx'], [{ rank: 3, url: 'https://x.example/' }]],
    ['nowhere', ['abc'], null],
    [
      'twice, on pages that follow each other',
      ['aXb', 'cx'],
      [
        { rank: 2, url: 'https://x.example/deep' },
        { rank: 5, url: 'https://x.example/' },
      ],
    ],
    ['twice, the same link', ['axb', 'cx'], [{ rank: 2, url: 'https://x.example/' }]],
    [
      'below a page that was lost',
      ['ab', null, 'xX'],
      [
        { rank: 13, url: 'https://x.example/' },
        { rank: 14, url: 'https://x.example/deep' },
      ],
    ],
  ])('%s, is listed best first', async (_, pages, urls) => {
    const { sql } = await collected(pages)
    const [row] = sql<{ urls: string | null; url: string | null }>('SELECT url, urls FROM rankings')
    expect(JSON.parse(row?.urls ?? 'null')).toEqual(urls)
    expect(row?.url).toBe((urls?.[0] as { url: string } | undefined)?.url ?? null)
  })
})

testTable<[EndKind, readonly string[], string, string | null]>([
  ['depth', ['abx', 'cd', 'ef'], 'absent', 'exact'],
  ['ended', ['abx', 'cd$'], 'absent', 'exact'],
  ['broke', ['abx', 'abx'], 'unknown', null],
])('a target that is new to pages whose end is `%s` is %3$s', async (kind, pages, state, exactness) => {
  const temp = await collected(pages, {}, 3)
  expect(temp.sql('SELECT paging_kind FROM run_queries')).toEqual([{ paging_kind: kind }])
  await backfillTargets(temp.store, { name: 'acme', targets: [...targets, aTarget('z.example')] }, null)
  expect(temp.sql("SELECT state, exactness FROM rankings WHERE target = 'z.example'")).toEqual([
    { state, exactness },
  ])
})

describe('a deeper plan of a run', () => {
  const deeper = async (
    pages: readonly (string | null)[],
    paging: JobSettings['paging'],
    now: readonly string[],
  ) => {
    const { run, ...temp } = await collected(pages, { paging }, 2)
    const queries = [{ pages: 4 }]
    const again = await plan(temp.store, { job: { targets, paging }, queries, continues: run.id })
    const asked: number[] = []
    await work(temp.store, again, ({ page: number }) => {
      asked.push(number)
      return answered(now, number)
    })
    return { asked, kind: kindOf(temp), ranks: temp.sql('SELECT state, rank FROM rankings') }
  }
  const kindOf = ({ sql }: Pick<TempStore, 'sql'>) =>
    sql<{ kind: EndKind }>('SELECT paging_kind AS kind FROM run_queries')[0]?.kind

  testTable<[string, JobSettings['paging'], readonly (string | null)[], readonly number[], EndKind]>([
    ['goes on behind as much as was asked for', 'all', ['ab', 'cd'], [3, 4], 'depth'],
    ['goes on until the target is found', 'until-found', ['ab', 'cd'], [3], 'found'],
    ['goes on as smart does', 'smart', ['ab', 'cd'], [3], 'found'],
    ['asks for nothing behind the last page', 'all', ['ab', 'cd$'], [], 'ended'],
    ['asks for nothing behind an empty page', 'smart', ['ab', ''], [], 'ended'],
    ['asks for nothing where pages repeat', 'all', ['ab', 'ab'], [], 'broke'],
    ['asks for nothing where the target was found', 'until-found', ['ab', 'x'], [], 'found'],
    ['asks for nothing where smart found it', 'smart', ['x'], [], 'found'],
    ['goes on behind a page that failed', 'all', ['ab', null], [3, 4], 'depth'],
  ])('%s', async (_, paging, pages, asked, kind) => {
    expect(await deeper(pages, paging, ['ab', 'cd', 'ex', 'fg'])).toMatchObject({ asked, kind })
  })
})
