import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Understood } from '../../src/model/result.ts'
import type { RowView } from '../../src/store/store.ts'
import { aTarget } from '../plan/build.ts'
import {
  answer,
  aResult,
  aStore,
  begin,
  fail,
  hour,
  lease,
  noon,
  plan,
  settlement,
  type TempStore,
  understood,
  webPage,
  work,
} from './build.ts'

const installed = spawnSync('sqlite3', ['--version']).status === 0

/** Rows as anybody reads them: with the plain sqlite3 program where it is installed. */
function rowsOf({ path, sql }: TempStore, query: string): readonly Record<string, unknown>[] {
  if (!installed) return sql(query)
  // Whatever the time zone of whoever reads.
  const env = { ...process.env, TZ: 'America/New_York' }
  const said = execFileSync('sqlite3', ['-readonly', '-json', path, query], { encoding: 'utf8', env })
  return said === '' ? [] : JSON.parse(said)
}

const shared = [
  ...['run_id', 'job', 'query', 'operation', 'engine', 'gl', 'hl', 'location', 'page', 'fetched_at'],
  ...['rank', 'position', 'title', 'link', 'domain', 'site', 'source', 'snippet'],
]

describe('the public views have the columns that were promised, in their order', () => {
  test.each<[string, readonly string[]]>([
    [
      'runs',
      [
        ...['run_id', 'job', 'started_at', 'finished_at', 'finish_reason', 'tasks_planned', 'tasks_done'],
        ...['tasks_failed', 'credits_spent', 'credits_ambiguous'],
      ],
    ],
    ['tasks', ['task_id', 'run_id', 'query', 'operation', 'page', 'state', 'cause']],
    [
      'calls',
      [
        ...['call_id', 'run_id', 'task_id', 'operation', 'sent_at', 'finished_at', 'http_status', 'outcome'],
        ...['billed', 'credits', 'latency_ms', 'error'],
      ],
    ],
    [
      'answers',
      [
        ...[
          'run_id',
          'job',
          'query',
          'operation',
          'page',
          'fetched_at',
          'total_results',
          'time_taken',
          'notice',
        ],
        ...['has_next_page', 'next_page', 'search_parameters', 'knowledge_graph', 'ai_markdown', 'ai_blocks'],
      ],
    ],
    ['organic_results', [...shared, 'displayed_link', 'snippet_matched', 'params']],
    ['news_results', [...shared, 'date', 'published_at', 'params']],
    [
      'video_results',
      [...shared, 'date', 'published_at', 'channel', 'duration', 'duration_seconds', 'video_id', 'params'],
    ],
    ['image_results', [...shared, 'image_url', 'thumbnail', 'image_width', 'image_height', 'params']],
    ['ai_references', [...shared, 'reference_index', 'params']],
    ['suggestions', [...shared, 'suggestion', 'params']],
    ['related_searches', [...shared, 'related_query', 'params']],
    [
      'rankings',
      [
        ...['job', 'query', 'target', 'operation', 'gl', 'hl', 'location', 'tags', 'date', 'observed_at'],
        ...['state', 'rank', 'exactness', 'depth', 'url', 'title', 'run_id'],
      ],
    ],
  ])('%s', async (view, columns) => {
    const temp = await aStore()
    const names = rowsOf(temp, `SELECT name FROM pragma_table_info('${view}') ORDER BY cid`)
    expect(names.map(({ name }) => name).slice(0, columns.length)).toEqual(columns)
    expect(rowsOf(temp, `SELECT * FROM ${view}`)).toEqual([])
  })

  test('and there are no others', async () => {
    const temp = await aStore()
    expect(rowsOf(temp, "SELECT name FROM sqlite_schema WHERE type = 'view'")).toHaveLength(12)
  })
})

/** Keeps one answer to one query and answers the file. */
async function stored(operation: string, says: Understood, params: Record<string, string | number> = {}) {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: [{ operation, params, labels: { team: 'a' } }] })
  const [task] = await lease(temp.store, run.id)
  if (task === undefined) throw new Error('no task')
  await answer(temp.store, task, run, says)
  return temp
}

const iso = new Date(noon).toISOString()
const common = { run_id: 1, job: 'acme', query: 'standing desk', page: 1, fetched_at: iso }

describe('every kind of result is shown with everything that was sent', () => {
  test('organic', async () => {
    const says = understood([
      aResult('organic', {
        position: 11,
        title: 'Desks',
        link: 'https://www.acme.co.uk/desks#top',
        source: 'Acme',
        snippet: 'All desks',
        displayedLink: 'acme.co.uk › desks',
        snippetMatched: ['desks', 'all "desks"'],
      }),
      aResult('organic'),
    ])
    const temp = await stored('alpha.search', says, { gl: 'uk', hl: 'en', location: 'Leeds', num: 20 })
    const place = {
      ...common,
      operation: 'alpha.search',
      engine: 'alpha',
      gl: 'uk',
      hl: 'en',
      location: 'Leeds',
    }
    expect(rowsOf(temp, 'SELECT * FROM organic_results')).toMatchObject([
      {
        ...place,
        rank: 1,
        position: 11,
        title: 'Desks',
        link: 'https://www.acme.co.uk/desks#top',
        domain: 'www.acme.co.uk',
        site: 'acme.co.uk',
        source: 'Acme',
        snippet: 'All desks',
        displayed_link: 'acme.co.uk › desks',
        snippet_matched: '["desks","all \\"desks\\""]',
        params: '{"gl":"uk","hl":"en","location":"Leeds","num":20}',
      },
      {
        ...place,
        rank: 2,
        position: null,
        title: null,
        link: null,
        domain: null,
        site: null,
        source: null,
        snippet: null,
        displayed_link: null,
        snippet_matched: null,
      },
    ])
  })

  test('news', async () => {
    const published = '2026-03-01T09:00:00.000Z'
    const temp = await stored(
      'alpha.news',
      understood([
        aResult('news', {
          title: 'A',
          news: { date: '3 hours ago', publishedAt: published, precision: 'hour' },
        }),
        aResult('news', { title: 'B', news: { date: 'some day', publishedAt: null, precision: null } }),
        aResult('news', { title: 'C' }),
      ]),
    )
    expect(
      rowsOf(temp, 'SELECT title, rank, gl, hl, location, date, published_at FROM news_results'),
    ).toEqual([
      {
        title: 'A',
        rank: 1,
        gl: null,
        hl: null,
        location: null,
        date: '3 hours ago',
        published_at: published,
      },
      { title: 'B', rank: 2, gl: null, hl: null, location: null, date: 'some day', published_at: null },
      { title: 'C', rank: 3, gl: null, hl: null, location: null, date: null, published_at: null },
    ])
  })

  test('videos', async () => {
    const video = {
      date: 'Mar 1, 2025',
      publishedAt: '2025-03-01T00:00:00.000Z',
      precision: 'day' as const,
      channel: 'Acme TV',
      duration: '1:02:03',
      durationSeconds: 3723,
      videoId: 'abc123',
    }
    const temp = await stored('alpha.videos', understood([aResult('video', { title: 'V', video })]))
    expect(rowsOf(temp, 'SELECT * FROM video_results')).toMatchObject([
      {
        ...common,
        rank: 1,
        title: 'V',
        date: 'Mar 1, 2025',
        published_at: '2025-03-01T00:00:00.000Z',
        channel: 'Acme TV',
        duration: '1:02:03',
        duration_seconds: 3723,
        video_id: 'abc123',
      },
    ])
  })

  test('images', async () => {
    const image = { imageUrl: 'https://img.acme.com/a.png', thumbnail: 'https://t/', width: 640, height: 480 }
    const says = understood([
      aResult('image', { position: 1, link: 'https://acme.com/', image }),
      aResult('image'),
    ])
    const temp = await stored('gamma.images', says)
    expect(rowsOf(temp, 'SELECT * FROM image_results')).toMatchObject([
      {
        ...common,
        operation: 'gamma.images',
        engine: 'gamma',
        rank: 1,
        link: 'https://acme.com/',
        domain: 'acme.com',
        image_url: 'https://img.acme.com/a.png',
        thumbnail: 'https://t/',
        image_width: 640,
        image_height: 480,
      },
      { rank: 2, image_url: null, thumbnail: null, image_width: null, image_height: null },
    ])
  })

  test('AI references, whose index is no position', async () => {
    const says = understood([
      aResult('reference', { position: 0, title: 'A', link: 'https://a.example/', source: 'a' }),
      aResult('reference', { position: 7, title: 'B', link: 'https://b.example/' }),
    ])
    const temp = await stored('alpha.ai', says)
    expect(rowsOf(temp, 'SELECT rank, position, reference_index, title, source FROM ai_references')).toEqual([
      { rank: 1, position: null, reference_index: 0, title: 'A', source: 'a' },
      { rank: 2, position: null, reference_index: 7, title: 'B', source: null },
    ])
  })

  test('suggestions, whose text is no title', async () => {
    const says = understood([
      aResult('suggestion', { title: 'desk lamp' }),
      aResult('suggestion', { title: 'desk mat' }),
    ])
    const temp = await stored('alpha.autocomplete', says)
    expect(rowsOf(temp, 'SELECT rank, title, suggestion FROM suggestions')).toEqual([
      { rank: 1, title: null, suggestion: 'desk lamp' },
      { rank: 2, title: null, suggestion: 'desk mat' },
    ])
  })

  test('related searches, which count for themselves beside the web results', async () => {
    const says = understood([
      aResult('organic', { title: 'A' }),
      aResult('related', { title: 'oak desk' }),
      aResult('organic', { title: 'B' }),
      aResult('related', { title: 'desk lamp' }),
    ])
    const temp = await stored('alpha.search', says)
    expect(rowsOf(temp, 'SELECT rank, title, related_query FROM related_searches')).toEqual([
      { rank: 1, title: null, related_query: 'oak desk' },
      { rank: 2, title: null, related_query: 'desk lamp' },
    ])
    expect(rowsOf(temp, 'SELECT rank, title FROM organic_results')).toEqual([
      { rank: 1, title: 'A' },
      { rank: 2, title: 'B' },
    ])
  })

  test('the facts of an answer', async () => {
    const facts = {
      totalResults: 123_456_789_012,
      timeTaken: 0.31,
      notice: 'Some results were removed',
      hasNextPage: true,
      nextPage: 2,
      searchParameters: { q: 'standing desk', page: 1 },
      knowledgeGraph: { title: 'Desk', attributes: { Height: '120 cm' } },
      aiMarkdown: '# Desks\n',
      aiBlocks: [{ type: 'paragraph', snippet: 'x' }],
    }
    const says = { ...understood([], facts), malformed: [17, 'x'] }
    const [row] = rowsOf(await stored('alpha.search', says), 'SELECT * FROM answers')
    expect(row).toMatchObject({
      ...common,
      operation: 'alpha.search',
      total_results: 123_456_789_012,
      time_taken: 0.31,
      notice: 'Some results were removed',
      has_next_page: 1,
      next_page: 2,
      search_parameters: '{"q":"standing desk","page":1}',
      knowledge_graph: '{"title":"Desk","attributes":{"Height":"120 cm"}}',
      ai_markdown: '# Desks\n',
      ai_blocks: '[{"type":"paragraph","snippet":"x"}]',
      malformed_items: '[17,"x"]',
    })
  })

  test('nothing where nothing was sent', async () => {
    const [row] = rowsOf(await stored('alpha.search', understood([])), 'SELECT * FROM answers')
    const silent = [
      'total_results',
      'time_taken',
      'notice',
      'has_next_page',
      'next_page',
      'search_parameters',
    ]
    const others = ['knowledge_graph', 'ai_markdown', 'ai_blocks']
    for (const name of [...silent, ...others]) expect(row).toHaveProperty(name, null)
  })
})

describe('an answer that is read again', () => {
  async function readTwice(normalisers: readonly [number, number]) {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ operation: 'alpha.news' }] })
    const [task] = await lease(temp.store, run.id)
    if (task === undefined) throw new Error('no task')
    const news = { date: 'today', publishedAt: null, precision: null }
    await answer(temp.store, task, run, understood([aResult('news', { title: 'old', news })]))
    const [stored] = temp.sql<{ answer_id: number }>('SELECT answer_id FROM answers')
    temp.exec(`UPDATE answers_ SET normaliser = ${normalisers[0]}`)
    await temp.store.understand({
      taskId: task.id,
      runId: run.id,
      queryId: task.queryId,
      outcome: {
        done: {
          answerId: stored?.answer_id ?? 0,
          normaliser: normalisers[1],
          understood: understood([
            aResult('news', { title: 'new', news }),
            aResult('news', { title: 'more' }),
          ]),
        },
      },
      follow: () => ({ ranks: [], observations: [], paging: null }),
    })
    return rowsOf(temp, 'SELECT title, date FROM news_results ORDER BY rank')
  }

  test('by the same normaliser stays as it was', async () => {
    expect(await readTwice([1, 1])).toEqual([{ title: 'old', date: 'today' }])
  })

  test('by a newer one is stored anew, details and all', async () => {
    expect(await readTwice([1, 2])).toEqual([
      { title: 'new', date: 'today' },
      { title: 'more', date: null },
    ])
  })
})

describe('ranks over the pages of a query', () => {
  async function ranks(pages: readonly (string | null)[], settings: Partial<JobSettings> = {}) {
    const temp = await aStore()
    const run = await plan(temp.store, { job: settings, queries: [{ depth: pages.length * 10 }] })
    await work(temp.store, run, ({ page }) => {
      const letters = pages[page - 1]
      return letters == null ? null : webPage(letters)
    })
    return rowsOf(temp, 'SELECT page, position, title, rank FROM organic_results ORDER BY page, place').map(
      ({ page, position, title, rank }) => `${page}.${position} ${title} ${rank}`,
    )
  }

  test.each<[string, readonly (string | null)[], readonly string[]]>([
    ['that count on', ['ab', 'cd'], ['1.1 a 1', '1.2 b 2', '2.1 c 3', '2.2 d 4']],
    ['that overlap', ['abc', 'bcd'], ['1.1 a 1', '1.2 b 2', '1.3 c 3', '2.1 b 2', '2.2 c 3', '2.3 d 4']],
    ['of which one was lost', ['ab', null, 'ca'], ['1.1 a 1', '1.2 b 2', '3.1 c 13', '3.2 a 1']],
    ['of which the first was lost', [null, 'ab'], ['2.1 a 11', '2.2 b 12']],
  ])('%s', async (_, pages, rows) => {
    expect(await ranks(pages)).toEqual(rows)
  })

  test('are put right when a lost page comes in a later try', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 20 }] })
    await work(temp.store, run, ({ page }) => (page === 1 ? null : webPage('ab')))
    const shown = () => rowsOf(temp, 'SELECT title, rank FROM organic_results ORDER BY page, place')
    expect(shown()).toEqual([
      { title: 'a', rank: 11 },
      { title: 'b', rank: 12 },
    ])
    expect(await temp.store.retryFailed(run.id)).toBe(1)
    await work(temp.store, run, () => webPage('xb'))
    expect(shown()).toEqual([
      { title: 'x', rank: 1 },
      { title: 'b', rank: 2 },
      { title: 'a', rank: 3 },
      { title: 'b', rank: 2 },
    ])
  })
})

describe('the pages that follow from an answer', () => {
  const tasks = ({ sql }: TempStore) =>
    sql<{ task: string }>(
      "SELECT page || ' ' || state || coalesce(': ' || cause, '') AS task FROM tasks ORDER BY page",
    ).map(({ task }) => task)

  test('are passed over where the results ended, with the reason', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 40 }] })
    const [first] = await lease(temp.store, run.id)
    if (first === undefined) throw new Error('no task')
    const effect = await answer(temp.store, first, run, webPage('ab', { hasNextPage: false }))
    expect(effect).toEqual({ added: 0, skipped: 3 })
    const because = 'skipped: the service has no next page'
    expect(tasks(temp)).toEqual(['1 done', `2 ${because}`, `3 ${because}`, `4 ${because}`])
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ planned: 1, done: 1, pending: 0 })
  })

  test('are added one by one where nobody knows how many it takes', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ operation: 'gamma.search', depth: 5 }] })
    const effects = []
    for (const letters of ['ab', 'bc', 'cde']) {
      // A depth of 5 needs no more than one page of five; the plan was made for more.
      temp.exec('UPDATE run_queries SET pages = 9')
      const [task] = await lease(temp.store, run.id)
      if (task !== undefined) effects.push(await answer(temp.store, task, run, webPage(letters)))
    }
    expect(effects).toEqual([
      { added: 1, skipped: 0 },
      { added: 1, skipped: 0 },
      { added: 0, skipped: 0 },
    ])
    expect(tasks(temp)).toEqual(['1 done', '2 done', '3 done'])
  })

  test('stop as soon as every own target was found', async () => {
    const temp = await aStore()
    const targets = [aTarget('c.example'), aTarget('a.example'), aTarget('z.example', { own: false })]
    const run = await plan(temp.store, { job: { paging: 'until-found', targets }, queries: [{ depth: 50 }] })
    await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'ab' : 'cd'))
    expect(tasks(temp)).toEqual(['1 done', '2 done'])
  })

  test('wait for competitors, too, where the job says so', async () => {
    const temp = await aStore()
    const targets = [aTarget('a.example'), aTarget('z.example', { own: false })]
    const job = { paging: 'until-found', until: 'all', targets } as const
    const run = await plan(temp.store, { job, queries: [{ depth: 30 }] })
    await work(temp.store, run, ({ page }) => webPage(['ab', 'cd', 'ef'][page - 1] ?? ''))
    expect(tasks(temp)).toEqual(['1 done', '2 done', '3 done'])
  })

  test('are passed over where a page was refused for a reason that they share', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 30 }] })
    const [first] = await lease(temp.store, run.id)
    if (first === undefined) throw new Error('no task')
    expect(await fail(temp.store, first, run, 'rejected')).toEqual({ added: 0, skipped: 2 })
    expect(tasks(temp)).toEqual(['1 failed: Oops', '2 skipped: page 1 failed', '3 skipped: page 1 failed'])
    expect(await temp.store.failures(run.id)).toEqual([
      { taskId: first.id, operation: 'alpha.search', query: 'standing desk', page: 1, cause: 'Oops' },
    ])
  })
})

describe('observations', () => {
  const targets = [aTarget('c.example', { label: 'Acme' }), aTarget('z.example', { own: false })]

  async function observed(pages: readonly (string | null)[]) {
    const temp = await aStore()
    const queries = [{ depth: pages.length * 10, tags: ['money', 'top'], params: { gl: 'us' } }]
    const run = await plan(temp.store, { job: { targets }, queries, date: '2026-02-28' })
    await work(temp.store, run, ({ page }) => {
      const letters = pages[page - 1]
      return letters == null ? null : webPage(letters)
    })
    await temp.store.finishRun(run.id, 'completed_with_failures', noon + hour)
    return temp
  }

  const brief = 'SELECT target, state, rank, exactness, depth FROM rankings ORDER BY target'

  test('are one row for each query and target, with the page that ranks', async () => {
    const temp = await observed(['ab', 'cd'])
    expect(rowsOf(temp, 'SELECT * FROM rankings ORDER BY target')).toMatchObject([
      {
        job: 'acme',
        query: 'standing desk',
        target: 'Acme',
        operation: 'alpha.search',
        gl: 'us',
        hl: null,
        location: null,
        tags: 'money;top',
        date: '2026-02-28',
        observed_at: iso,
        state: 'ranked',
        rank: 3,
        exactness: 'exact',
        depth: 4,
        url: 'https://c.example/',
        title: 'c',
        run_id: 1,
        own: 1,
      },
      {
        target: 'z.example',
        state: 'absent',
        rank: null,
        exactness: 'exact',
        url: null,
        title: null,
        own: 0,
      },
    ])
  })

  test.each<[string, readonly (string | null)[], readonly unknown[]]>([
    [
      'below a lost page are estimated, and absence there is unknown',
      ['ab', null, 'cd'],
      [
        ['Acme', 'ranked', 13, 'estimated', 4],
        ['z.example', 'unknown', null, null, 4],
      ],
    ],
    [
      'of a query that failed altogether are unknown',
      [null],
      [
        ['Acme', 'unknown', null, null, 0],
        ['z.example', 'unknown', null, null, 0],
      ],
    ],
    [
      'on a page above a lost one are exact',
      ['ac', null],
      [
        ['Acme', 'ranked', 2, 'exact', 2],
        ['z.example', 'unknown', null, null, 2],
      ],
    ],
  ])('%s', async (_, pages, rows) => {
    const shown = rowsOf(await observed(pages), brief)
    expect(shown.map((row) => Object.values(row))).toEqual(rows)
  })

  test('count web results only, not the related searches beside them', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{ depth: 20 }] })
    const related = aResult('related', { title: 'oak desk' })
    await work(temp.store, run, ({ page }) => {
      const { results, ...says } = webPage(page === 1 ? 'ab' : 'dc')
      return { ...says, results: [related, ...results, related] }
    })
    expect(rowsOf(temp, brief).map((row) => Object.values(row))).toEqual([
      ['Acme', 'ranked', 4, 'exact', 4],
      ['z.example', 'absent', null, 'exact', 4],
    ])
  })

  test('of targets that only one query has are made for that query alone', async () => {
    const temp = await aStore()
    const own = [aTarget('b.example')]
    const run = await plan(temp.store, {
      job: { targets },
      queries: [{ text: 'q', targets: own }, { text: 'r' }],
    })
    await work(temp.store, run, () => webPage('ab'))
    const rows = rowsOf(temp, 'SELECT query, target, state FROM rankings ORDER BY query, target')
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
      'q Acme absent',
      'q b.example ranked',
      'q z.example absent',
      'r Acme absent',
      'r z.example absent',
    ])
  })

  test('are unknown for what was never sent when the run ends, and stay what they are elsewhere', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{ text: 'q' }, { text: 'r' }] })
    const [q] = await lease(temp.store, run.id, { limit: 1 })
    if (q === undefined) throw new Error('no task')
    await answer(temp.store, q, run, webPage('abc'))
    await temp.store.finishRun(run.id, 'interrupted', noon + hour)
    const rows = rowsOf(
      temp,
      'SELECT query, target, state, rank, observed_at FROM rankings ORDER BY query, target',
    )
    const later = new Date(noon + hour).toISOString()
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['q', 'Acme', 'ranked', 3, iso],
      ['q', 'z.example', 'absent', null, iso],
      ['r', 'Acme', 'unknown', null, later],
      ['r', 'z.example', 'unknown', null, later],
    ])
  })

  test('that were unknown become known when the run goes on', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{}] })
    await temp.store.finishRun(run.id, 'interrupted', noon)
    await plan(temp.store, { job: { targets }, queries: [{}], continues: run.id })
    await work(temp.store, run, () => webPage('abc'))
    expect(rowsOf(temp, brief).map(({ state }) => state)).toEqual(['ranked', 'absent'])
  })
})

describe('instants in the views', () => {
  test('are ISO 8601 in UTC to the millisecond, for any instant', async () => {
    const temp = await aStore()
    const instants = [
      0,
      1,
      999,
      1000,
      noon,
      ...fc.sample(fc.integer({ min: 0, max: 4e12 }), { numRuns: 500, seed: 1 }),
    ]
    await Promise.all(
      instants.map((sentAt) =>
        temp.store.beginCall({
          runId: null,
          taskId: null,
          operation: 'usage',
          credits: 0,
          sentAt,
          keyHash: 'k',
        }),
      ),
    )
    const shown = rowsOf(temp, 'SELECT sent_at FROM calls ORDER BY call_id').map(({ sent_at }) => sent_at)
    expect(shown).toEqual(instants.map((instant) => new Date(instant).toISOString()))
  })
})

describe('rows for exports', () => {
  async function twoRuns() {
    const temp = await aStore()
    for (const [name, day] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const queries = [
        { text: 'b', depth: 20, labels: { team: name } },
        { text: 'a', operation: 'beta.search' },
      ]
      const run = await plan(temp.store, { job: { name }, queries })
      await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'xy' : 'z'), Date.UTC(2026, 2, day))
    }
    return temp
  }
  const links = async (temp: TempStore, filter: Parameters<TempStore['store']['rows']>[1]) =>
    [...temp.store.rows('organic_results', filter)].map(
      ({ run_id, query, title }) => `${run_id}${query}${title}`,
    )

  test('come in the order in which tasks were planned, page and place', async () => {
    expect(await links(await twoRuns(), {})).toEqual([
      '1bx',
      '1by',
      '1bz',
      '1ax',
      '1ay',
      '2bx',
      '2by',
      '2bz',
      '2ax',
      '2ay',
    ])
  })

  test.each<[Parameters<TempStore['store']['rows']>[1], readonly string[]]>([
    [{ job: 'two', query: 'a' }, ['2ax', '2ay']],
    [{ run: 1, operation: 'beta.search' }, ['1ax', '1ay']],
    [{ from: '2026-03-02', query: 'a' }, ['2ax', '2ay']],
    [{ until: '2026-03-02', query: 'a' }, ['1ax', '1ay']],
    [{ from: '2026-03-01', until: '2026-03-02', query: 'a' }, ['1ax', '1ay']],
    [{ query: "a' OR 1=1 --" }, []],
    [{ job: 'three' }, []],
  ])('are those that %j takes', async (filter, rows) => {
    expect(await links(await twoRuns(), filter)).toEqual(rows)
  })

  test('stream while the store is written to', async () => {
    const temp = await twoRuns()
    const rows = temp.store.rows('organic_results', {})[Symbol.iterator]()
    expect(rows.next().value).toMatchObject({ query: 'b' })
    rows.return?.()
    await plan(temp.store, { queries: [{}] })
    expect(await temp.store.runs({})).toHaveLength(3)
  })

  test('can be had of every view', async () => {
    const temp = await twoRuns()
    const counts: Record<RowView, number> = {
      answers: 6,
      organic_results: 10,
      news_results: 0,
      video_results: 0,
      image_results: 0,
      ai_references: 0,
      suggestions: 0,
      related_searches: 0,
      calls: 6,
      rankings: 0,
    }
    for (const [view, count] of Object.entries(counts))
      expect([view, [...temp.store.rows(view as RowView, { from: '2000' })].length]).toEqual([view, count])
    expect([...temp.store.rows('calls', { job: 'one' })]).toHaveLength(3)
  })

  test('know the labels that their queries carry', async () => {
    const { store } = await twoRuns()
    expect(await store.labelNames({})).toEqual(['team'])
    expect(await store.labelNames({ job: 'three' })).toEqual([])
  })
})

test('a task that is on its way is shown as pending until its call is', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: [{ text: 'a' }, { text: 'b' }] })
  const [a, b] = await lease(temp.store, run.id)
  if (a === undefined || b === undefined) throw new Error('no task')
  await begin(temp.store, a)
  const states = () => rowsOf(temp, 'SELECT state FROM tasks ORDER BY task_id').map(({ state }) => state)
  expect(states()).toEqual(['sent', 'pending'])
  await temp.store.settleCall(1, settlement({ outcome: 'throttled', billed: 0, httpStatus: 401 }), null)
  expect(rowsOf(temp, 'SELECT outcome, billed, http_status FROM calls')).toEqual([
    { outcome: 'throttled', billed: 0, http_status: 401 },
  ])
})
