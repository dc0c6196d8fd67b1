import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLink } from '../../src/model/url.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { aResult } from '../catalog/results.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'
import { answer, understood, webPage } from './answers.ts'
import { aStore, firstTask, lease, plan } from './build.ts'

/** The links of one page, and what the store makes of them. */
async function storedLinks(links: readonly (string | null)[]) {
  const { store, sql } = await aStore()
  const run = await plan(store, { queries: [{}] })
  const task = await firstTask(store, run)
  await answer(store, task, run, understood(links.map((link) => aResult('organic', { link }))))
  return sql<{ link: string | null; rank: number; domain: string | null; site: string | null }>(
    'SELECT link, rank, domain, site FROM organic_results ORDER BY place',
  )
}

test('what a result says is stored once, over pages and runs', async () => {
  const { store, sql } = await aStore()
  for (let day = 0; day < 3; day++) {
    const run = await plan(store, { queries: [{ text: 'a' }, { text: 'b' }] })
    for (const task of await lease(store, run.id)) {
      const same = { title: 'Desks', snippet: 'Desks', source: 'Acme', link: 'https://acme.com/' }
      await answer(store, task, run, understood([aResult('organic', same), aResult('organic', same)]))
    }
  }
  const said = { title: 'Desks', snippet: 'Desks', source: 'Acme', link_id: 1 }
  expect(sql('SELECT title, snippet, source, link_id FROM items')).toEqual([said])
  expect(sql('SELECT link FROM links')).toEqual([{ link: 'https://acme.com/' }])
  expect(sql('SELECT host, site FROM hosts')).toEqual([{ host: 'acme.com', site: 'acme.com' }])
  expect(sql('SELECT count(*) AS n FROM results')).toEqual([{ n: 12 }])
})

test('what a result says is found again by the next process', async () => {
  const { store, path, sql } = await aStore()
  const says = webPage('ab')
  for (const one of [store, await openStore(path)]) {
    const run = await plan(one, { queries: [{}] })
    const [task] = await lease(one, run.id)
    if (task !== undefined) await answer(one, task, run, says)
    if (one !== store) await one[Symbol.asyncDispose]()
  }
  expect(sql('SELECT count(*) AS n FROM items')).toEqual([{ n: 2 }])
  expect(sql('SELECT count(*) AS n FROM links')).toEqual([{ n: 2 }])
})

describe('two results are the same where their links are equal after WHATWG parsing, without the fragment and tokens', () => {
  testTable<[string, string, boolean]>([
    ['https://acme.com/a', 'https://acme.com/a#b', true],
    ['https://acme.com/a#b', 'https://acme.com/a#c', true],
    ['https://acme.com', 'https://acme.com/', true],
    ['https://ACME.com/', 'https://acme.com/', true],
    ['https://acme.com:443/', 'https://acme.com/', true],
    ['https://acme.com/a/../b', 'https://acme.com/b', true],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/', true],
    ['https://acme.com/é', 'https://acme.com/%C3%A9', true],
    [' https://acme.com/ ', 'https://acme.com/', true],
    ['https://acme.com/?', 'https://acme.com/?#x', true],
    ['https://acme.com/a', 'https://acme.com/a?srsltid=AfmBOop1', true],
    ['https://acme.com/a?srsltid=AfmBOop1', 'https://acme.com/a?srsltid=AfmBOoq2', true],
    ['https://acme.com/?id=7&utm_source=news&UTM_Medium=x', 'https://acme.com/?gclid=1&id=7&fbclid=2', true],
    ['https://acme.com/a?msclkid=1#:~:text=oak%20desk', 'https://acme.com/a', true],
    ['//acme.com/a?srsltid=AfmBOop1', '//acme.com/a', true],
    ['https://acme.com/?id=7&utm_source=news', 'https://acme.com/?id=8&utm_source=news', false],
    ['https://acme.com/?utm=1', 'https://acme.com/', false],
    ['https://acme.com/a', 'https://acme.com/a/', false],
    ['https://acme.com/a', 'https://acme.com/A', false],
    ['https://acme.com/?a=1', 'https://acme.com/?a=2', false],
    ['https://acme.com/', 'https://www.acme.com/', false],
    ['http://acme.com/', 'https://acme.com/', false],
    ['no link', 'no link', true],
    ['no link', 'no link#x', false],
  ])('%s and %s: %s', async (a, b, same) => {
    const rows = await storedLinks([a, b])
    expect(rows.map(({ rank }) => rank)).toEqual(same ? [1, 1] : [1, 2])
    expect(rows.map(({ link }) => link)).toEqual([a, b])
  })

  test('results without a link are never the same', async () => {
    expect((await storedLinks([null, null])).map(({ rank }) => rank)).toEqual([1, 2])
  })
})

testTable<[string, string | null, string | null]>([
  ['https://www.shop.acme.co.uk/x', 'www.shop.acme.co.uk', 'acme.co.uk'],
  ['https://Bücher.example/', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['https://acme.github.io/', 'acme.github.io', 'acme.github.io'],
  ['https://acme.com.:8443/', 'acme.com', 'acme.com'],
  ['http://127.0.0.1/', '127.0.0.1', null],
  ['http://localhost/', 'localhost', null],
  ['mailto:a@acme.com', null, null],
  ['/relative', null, null],
  ['/url?q=https://acme.com/', 'acme.com', 'acme.com'],
  ['www.acme.com/x', null, null],
  ['javascript:void 0', null, null],
  ['data:text/html,acme.com', null, null],
  ['//Shop.acme.com/x', 'shop.acme.com', 'acme.com'],
  ['\n //acme.com./x', 'acme.com', 'acme.com'],
  ['// acme.com', null, null],
  ['///acme.com/x', null, null],
  ['//', null, null],
  ['\n\thttps://acme.com/x \u0000', 'acme.com', 'acme.com'],
  ['https://acme.com:99999/', null, null],
])('the link %s has the domain %s and the site %s', async (link, domain, site) => {
  expect(await storedLinks([link])).toEqual([{ link, rank: 1, domain, site }])
})

testTable([
  ['https://acme.com/a', '//acme.com/a'],
  ['//acme.com/a', '//ACME.com/a'],
  ['//acme.com/a', '//acme.com/a#b'],
  ['www.acme.com/a', 'https://www.acme.com/a'],
])('%s and %s are two results, for one of them is no whole link', async (a, b) => {
  expect((await storedLinks([a, b, a])).map(({ rank }) => rank)).toEqual([1, 2, 1])
})

test('a host is told as often as it comes', () => {
  const hosts = Array.from({ length: 30_000 }, () => parseLink('https://bücher.example/')?.host)
  expect(new Set(hosts)).toEqual(new Set(['xn--bcher-kva.example']))
})

describe('any text is read back', () => {
  /** Stores results with these titles and links; answers what the views show of them. */
  async function roundTrip(texts: readonly string[]): Promise<readonly (string | null)[]> {
    const { store, sql } = await aStore()
    const run = await plan(store, { queries: [{}] })
    const task = await firstTask(store, run)
    const results = texts.map((title) => aResult('organic', { title, snippet: `${title}!`, link: title }))
    await answer(store, task, run, understood(results))
    const rows = sql<{ title: string; snippet: string; link: string }>(
      'SELECT title, snippet, link FROM organic_results ORDER BY place',
    )
    for (const { title, snippet, link } of rows) {
      expect(snippet).toBe(`${title}!`)
      expect(link).toBe(title)
    }
    return rows.map(({ title }) => title)
  }

  test('as it was, whatever characters are in it', async () => {
    const texts = fc.sample(anyText(), { numRuns: 300, seed: 7 })
    const odd = ['\u0000', 'a\u0000b', "'", '"; DROP TABLE results; --', '\ufeff', '😀', '\r\n', '%s', ' x ']
    expect(await roundTrip([...odd, ...texts])).toEqual([...odd, ...texts])
  })

  test('with the replacement character for half a character', async () => {
    expect(await roundTrip(['a\ud800', 'a\ud801', '\udc00b'])).toEqual(['a\ufffd', 'a\ufffd', '\ufffdb'])
  })
  test('as the same row by every process, also where it is huge or holds half a character', async () => {
    const { store, path, sql } = await aStore()
    const texts = ['a\u0000b', 'a\u0000c', '\ud83d', 'x'.repeat(3_000_000), `${'x'.repeat(3_000_000)}y`]
    const says = understood(
      texts.map((text) => aResult('organic', { title: text, link: `https://a.com/${text}` })),
    )
    for (const one of [store, await openStore(path)]) {
      const run = await plan(one, { queries: [{ text: 'a' }, { text: 'b' }] })
      for (const task of await lease(one, run.id)) await answer(one, task, run, says)
      if (one !== store) await one[Symbol.asyncDispose]()
    }
    expect(sql('SELECT count(*) AS n FROM items')).toEqual([{ n: 5 }])
    const stored = texts.map((text) => `https://a.com/${text.toWellFormed()}`)
    const named = sql<{ link: string }>('SELECT DISTINCT link FROM organic_results').map(({ link }) => link)
    expect(new Set(named)).toEqual(new Set(stored))
    expect((await checkDatabase(path)).findings).toEqual([])
  })

  test('by programs that take text at its word', async () => {
    const { store, sql } = await aStore()
    const run = await plan(store, { queries: [{ operation: 'alpha.videos' }] })
    const half = 'v\ud800'
    const dated = { date: half, publishedAt: null, precision: null, channel: half, duration: half }
    const video = aResult('video', { video: { ...dated, durationSeconds: null, videoId: half } })
    await answer(store, await firstTask(store, run), run, {
      ...understood([video], { notice: half, aiMarkdown: half, aiBlocks: [half] }),
      malformed: [half],
    })
    expect(sql('SELECT hex(video_id) AS video_id, date, channel, duration FROM video_results')).toEqual([
      { video_id: '76EFBFBD', date: 'v\ufffd', channel: 'v\ufffd', duration: 'v\ufffd' },
    ])
    expect(sql('SELECT notice, ai_markdown, ai_blocks, malformed_items FROM answers')).toEqual([
      {
        notice: 'v\ufffd',
        ai_markdown: 'v\ufffd',
        ai_blocks: '["v\\ud800"]',
        malformed_items: '["v\\ud800"]',
      },
    ])
  })
})

describe('the domain of a redirect is that of the page it leads on to, as matching has it', () => {
  const wrapped = 'https://www.google.com/url?q=https%3A%2F%2Fshop.acme.com%2Fdesks&sa=U'
  const spam = 'https://spam.example/out?url=https://acme.com/'

  test('where the redirect is one, with its host or without', async () => {
    const stored = await storedLinks([wrapped, '/url?q=https%3A%2F%2Facme.com', spam, '/url?q=desks'])
    expect(stored.map(({ link, domain, site }) => [link, domain, site])).toEqual([
      [wrapped, 'shop.acme.com', 'acme.com'],
      ['/url?q=https%3A%2F%2Facme.com', 'acme.com', 'acme.com'],
      [spam, 'spam.example', 'spam.example'],
      ['/url?q=desks', null, null],
    ])
  })

  test('also where it was stored as one of the redirect itself, when it comes again', async () => {
    const { store, sql, exec, path } = await aStore()
    const says = understood([aResult('organic', { link: wrapped })])
    const first = await plan(store, { queries: [{}] })
    await answer(store, await firstTask(store, first), first, says)
    exec("INSERT INTO hosts (host) VALUES ('www.google.com'); UPDATE links SET host_id = last_insert_rowid()")
    await using next = await openStore(path)
    const second = await plan(next, { queries: [{}] })
    await answer(next, await firstTask(next, second), second, says)
    expect(sql('SELECT DISTINCT domain FROM organic_results')).toEqual([{ domain: 'shop.acme.com' }])
  })
})
