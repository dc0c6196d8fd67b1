import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ParsedAnswer } from '../../src/model/result.ts'
import { aResult } from '../catalog/results.ts'
import { aLookup, answer, begin, settlement, understood } from './answers.ts'
import { aStore, firstTask, lease, noon, plan } from './build.ts'
import { iso, rowsOf } from './rows-of.ts'

/** Keeps one answer to one query and answers the file. */
async function stored(operation: string, says: ParsedAnswer, params: Record<string, string | number> = {}) {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: [{ operation, params, labels: { team: 'a' } }] })
  const task = await firstTask(temp.store, run)
  await answer(temp.store, task, run, says)
  return temp
}

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
    await Promise.all(instants.map((sentAt) => temp.store.beginCall(aLookup({ sentAt }))))
    const shown = rowsOf(temp, 'SELECT sent_at FROM calls ORDER BY call_id').map(({ sent_at }) => sent_at)
    expect(shown).toEqual(instants.map((instant) => new Date(instant).toISOString()))
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
