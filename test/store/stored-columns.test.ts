import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cell, kindCodes, type ResultKind } from '../../src/model/result.ts'
import { aResult } from '../catalog/results.ts'
import { anyText } from '../support/any-text.ts'
import { answer, understood } from './answers.ts'
import { aStore, firstTask, plan } from './build.ts'

const kinds = Object.keys(kindCodes) as ResultKind[]

/** A page as it is stored: every row of its tables, by table. */
async function stored(says: Parameters<typeof answer>[3]) {
  const { store, sql } = await aStore()
  const run = await plan(store, { queries: [{}] })
  await answer(store, await firstTask(store, run), run, says)
  return sql
}

test('results stand by kind, numbered within it in the order in which they came', async () => {
  const results = [...'abcd'].map((title, index) =>
    aResult(index % 2 === 0 ? 'related' : 'organic', { title }),
  )
  const sql = await stored(understood(results))
  const { organic, related } = kindCodes
  expect(sql('SELECT kind, place, title FROM results ORDER BY kind, place')).toEqual([
    { kind: organic, place: 0, title: 'b' },
    { kind: organic, place: 1, title: 'd' },
    { kind: related, place: 0, title: 'a' },
    { kind: related, place: 1, title: 'c' },
  ])
})

test('every field of a result and of an answer has its column', async () => {
  const shared = { position: 3, link: 'https://l.example/', title: 't', snippet: 'n', source: 's' }
  const dated = { date: '2 May', publishedAt: '2026-05-02T00:00:00.000Z', precision: 'day' as const }
  const sql = await stored({
    ...understood(
      [
        aResult('organic', { ...shared, displayedLink: 'd', snippetMatched: ['a', '"'] }),
        aResult('video', {
          video: { ...dated, channel: 'c', duration: '1:01', durationSeconds: 61, videoId: 'v' },
        }),
        aResult('image', {
          image: { imageUrl: 'https://i.example/', thumbnail: 'th', width: 640, height: 480 },
        }),
      ],
      {
        ...{ totalResults: 9, timeTaken: 0.5, notice: 'n', hasNextPage: false, nextPage: 2, currentPage: 1 },
        ...{ searchParameters: { q: 'a' }, knowledgeGraph: [1], aiMarkdown: '# m', aiBlocks: [] },
      },
    ),
    malformed: [7],
  })
  const text = (column: string) => `(SELECT text FROM texts WHERE id = ${column}) AS ${column}`
  expect(
    sql(`SELECT position, (SELECT link FROM links WHERE id = link_id) AS link, title, snippet, source, displayed_link, matched
      FROM results WHERE kind = ${kindCodes.organic}`),
  ).toEqual([
    {
      ...{ position: 3, link: 'https://l.example/', title: 't', snippet: 'n', source: 's' },
      ...{ displayed_link: 'd', matched: '["a","\\""]' },
    },
  ])
  expect(
    sql(`SELECT kind, place, ${text('date_id')}, published_at, precision, ${text('channel_id')},
      ${text('duration_id')}, duration_seconds, video_id FROM dated_details`),
  ).toEqual([
    {
      ...{ kind: kindCodes.video, place: 0, date_id: '2 May', published_at: Date.UTC(2026, 4, 2) },
      ...{ precision: 'day', channel_id: 'c', duration_id: '1:01', duration_seconds: 61, video_id: 'v' },
    },
  ])
  expect(
    sql(`SELECT kind, (SELECT link FROM links WHERE id = image_link_id) AS link, ${text('thumbnail_id')},
      width, height FROM image_details`),
  ).toEqual([
    { kind: kindCodes.image, link: 'https://i.example/', thumbnail_id: 'th', width: 640, height: 480 },
  ])
  expect(
    sql(`SELECT total_results, time_taken, ${text('notice')}, has_next_page, next_page, ${text('search_parameters')},
      ${text('knowledge_graph')}, ${text('ai_markdown')}, ${text('ai_blocks')}, malformed FROM answers_`),
  ).toEqual([
    {
      ...{ total_results: 9, time_taken: 0.5, notice: 'n', has_next_page: 0, next_page: 2 },
      ...{ search_parameters: '{"q":"a"}', knowledge_graph: '[1]', ai_markdown: '# m', ai_blocks: '[]' },
      malformed: '[7]',
    },
  ])
})

test('whatever is sent, no stored text has half a character', async () => {
  const text = fc.option(anyText({ maxLength: 5 }).map((start) => `${start}\ud83d`))
  const result = fc.record({
    ...{ link: text, title: text, snippet: text, source: text, displayedLink: text },
    snippetMatched: fc.array(
      text.map((matched) => matched ?? ''),
      { maxLength: 3 },
    ),
  })
  const video = fc.record({
    ...{ date: text, publishedAt: fc.constant(null), precision: fc.constant(null) },
    ...{ channel: text, duration: text, videoId: text, durationSeconds: fc.constant(null) },
  })
  const image = fc.record({ imageUrl: text, thumbnail: text, width: fc.nat(9), height: fc.nat(9) })
  const item = fc.record({ kind: fc.constantFrom(...kinds), result, video, image })
  const facts = fc.record({ ...{ notice: text, aiMarkdown: text, searchParameters: text, aiBlocks: text } })
  const half = '\ufffd'
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 4 }), facts, text, async (items, facts, malformed) => {
      const results = items.map(({ kind, result, video, image }) =>
        aResult(kind, { ...result, video, image }),
      )
      const sql = await stored({ ...understood(results, facts), malformed: [malformed] })
      const texts = sql<{ text: Cell }>(
        'SELECT text FROM texts UNION ALL SELECT link FROM links UNION ALL SELECT video_id FROM dated_details',
      ).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
      // SQLite would give each of the three bytes of a half character back as one of these.
      expect(texts.filter((one) => one.includes(half.repeat(3)))).toEqual([])
    }),
    { numRuns: 15 },
  )
})
