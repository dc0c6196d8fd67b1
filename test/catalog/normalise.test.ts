import { expect, test } from 'vitest'
import { billableOperation } from '../../src/catalog/index.ts'
import type { AnswerFacts, Result } from '../../src/model/result.ts'
import { aResult, facts } from './results.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }

const item = {
  position: 4,
  title: 'T',
  link: 'https://a.com/p',
  domain: 'a.com',
  source: 'A',
  snippet: 'S',
  displayed_link: 'a.com › p',
  snippet_matched: ['S', 't'],
}
const shared = { position: 4, title: 'T', link: 'https://a.com/p', source: 'A' }
const whole = { ...shared, snippet: 'S', displayedLink: 'a.com › p', snippetMatched: ['S', 't'] }
const short = { position: 4, title: 'T', link: 'https://a.com/p', domain: 'a.com', snippet: null }
const picture = {
  url: 'https://i.com/p.jpg',
  link: 'https://a.com/p',
  title: 'T',
  domain: 'a.com',
  source: 'A',
  position: 4,
  image_width: 640,
  image_height: 480,
}
const echo = { q: 'desk', engine: 'alpha' }
const pagination = { next: 3, current: 2, other_pages: [2, 3], has_next_page: true }
const paged = { hasNextPage: true, nextPage: 3, currentPage: 2, searchParameters: echo }
const graph = { type: 'Topic', title: 'Desk', attributes: { Since: '1890' } }
const blocks = [
  { type: 'paragraph', snippet: 'P' },
  { type: 'list', list: [{ snippet: 'L' }] },
]

test.each<[string, object, readonly Result[], AnswerFacts]>([
  [
    'alpha.search',
    {
      pagination,
      knowledge_graph: graph,
      organic_results: [item, { ...item, position: 5, snippet_matched: [] }],
      related_searches: [{ query: 'desk price' }],
      search_parameters: echo,
      search_information: { total_results: 1200, time_taken_displayed: 0.31, error: 'Some were removed' },
    },
    [
      aResult('organic', whole),
      aResult('organic', { ...whole, position: 5, snippetMatched: [] }),
      aResult('related', { title: 'desk price' }),
    ],
    facts({
      ...paged,
      totalResults: 1200,
      timeTaken: 0.31,
      notice: 'Some were removed',
      knowledgeGraph: graph,
    }),
  ],
  [
    'alpha.light',
    {
      organic_results: [{ link: 'https://a.com/p', title: 'T', source: 'A', snippet: null, position: 4 }],
      search_parameters: echo,
    },
    [aResult('organic', shared)],
    facts({ searchParameters: echo }),
  ],
  [
    'alpha.autocomplete',
    { suggestions: ['desk', 'desk lamp'] },
    [aResult('suggestion', { title: 'desk' }), aResult('suggestion', { title: 'desk lamp' })],
    facts(),
  ],
  [
    'alpha.ai',
    {
      references: [{ link: 'https://a.com/p', index: 0, title: 'T', source: 'A' }],
      text_blocks: blocks,
      reconstructed_markdown: '# Desk',
      search_parameters: echo,
    },
    [aResult('reference', { ...shared, position: 0 })],
    facts({ aiMarkdown: '# Desk', aiBlocks: blocks, searchParameters: echo }),
  ],
  [
    'alpha.news',
    { pagination, organic_results: [{ ...item, date: '3 hours ago' }], search_parameters: echo },
    [
      aResult('news', {
        ...whole,
        news: { date: '3 hours ago', publishedAt: '2026-03-31T09:00:00.000Z', precision: 'hour' },
      }),
    ],
    facts(paged),
  ],
  [
    'alpha.videos',
    {
      organic_results: [
        { ...item, date: 'Jan 5, 2026', channel: 'C', duration: '1:02:03', video_id: 'v1' },
        { ...item, date: 'soon', channel: 'C', duration: 'LIVE', video_id: null },
      ],
      search_parameters: echo,
    },
    [
      aResult('video', {
        ...whole,
        video: {
          date: 'Jan 5, 2026',
          publishedAt: '2026-01-05T00:00:00.000Z',
          precision: 'day',
          channel: 'C',
          duration: '1:02:03',
          durationSeconds: 3723,
          videoId: 'v1',
        },
      }),
      aResult('video', {
        ...whole,
        video: {
          date: 'soon',
          publishedAt: null,
          precision: null,
          channel: 'C',
          duration: 'LIVE',
          durationSeconds: null,
          videoId: null,
        },
      }),
    ],
    facts({ searchParameters: echo }),
  ],
  [
    'alpha.images',
    { images: [picture], search_parameters: echo },
    [
      aResult('image', {
        ...shared,
        image: { imageUrl: 'https://i.com/p.jpg', thumbnail: null, width: 640, height: 480 },
      }),
    ],
    facts({ searchParameters: echo }),
  ],
  [
    'beta.search',
    {
      pagination: { next: 3, current: 2, has_next_page: false },
      organic_results: [short],
      search_parameters: echo,
    },
    [aResult('organic', { ...shared, source: null })],
    facts({ ...paged, hasNextPage: false }),
  ],
  [
    'gamma.search',
    { organic_results: [{ ...short, snippet: 'S' }], search_parameters: echo },
    [aResult('organic', { ...shared, source: null, snippet: 'S' })],
    facts({ searchParameters: echo }),
  ],
  [
    'gamma.images',
    { images: [{ ...picture, thumbnail: 'https://i.com/t.jpg' }], search_parameters: echo },
    [
      aResult('image', {
        ...shared,
        image: { imageUrl: 'https://i.com/p.jpg', thumbnail: 'https://i.com/t.jpg', width: 640, height: 480 },
      }),
    ],
    facts({ searchParameters: echo }),
  ],
])('every documented field of %s has its place', (name, body, results, said) => {
  const understood = billableOperation(name).normalise(body, context)
  expect(understood).toEqual({ results, malformed: [], facts: said })
})

test.each<[string, unknown, Partial<Result>]>([
  ['a position as text', { position: '4' }, { position: 4 }],
  ['a position of zero', { position: 0 }, { position: 0 }],
  ['half a position', { position: 4.5 }, {}],
  ['a position beyond exact numbers', { position: 2 ** 53 }, {}],
  ['a position that is no number', { position: 'first' }, {}],
  ['an empty position', { position: ' ' }, {}],
  ['a position in a list', { position: [4] }, {}],
  ['a title that is a number', { title: 2026 }, { title: '2026' }],
  ['an empty title', { title: '' }, {}],
  ['a title that is null', { title: null }, {}],
  ['a title in an object', { title: { text: 'T' } }, {}],
  ['a link that is no URL', { link: 'javascript:void 0' }, { link: 'javascript:void 0' }],
  ['a link that is true', { link: true }, {}],
  ['matches that are null', { snippet_matched: null }, {}],
  ['matches that are one text', { snippet_matched: 'S' }, {}],
  [
    'matches with other things among them',
    { snippet_matched: ['S', 1, null, 't'] },
    { snippetMatched: ['S', 't'] },
  ],
  ['fields that nobody knows', { title: 'T', rank: 1, url: 'https://a.com' }, { title: 'T' }],
  ['no fields', {}, {}],
])('an item with %s is kept with what can be told', (_, sent, told) => {
  const { results, malformed } = billableOperation('alpha.search').normalise(
    { organic_results: [sent] },
    context,
  )
  expect([results, malformed]).toEqual([[aResult('organic', told)], []])
})

test.each<[string, object, Partial<AnswerFacts>]>([
  [
    'numbers as text',
    { pagination: { next: '3', current: '2', has_next_page: true } },
    { nextPage: 3, currentPage: 2, hasNextPage: true },
  ],
  ['a boolean as text', { pagination: { has_next_page: 'true' } }, {}],
  [
    'a missing next page',
    { pagination: { current: 1, has_next_page: false } },
    { currentPage: 1, hasNextPage: false },
  ],
  ['a pagination that is a list', { pagination: [1, 2] }, {}],
  ['a total that is null', { search_information: { total_results: null, time_taken_displayed: null } }, {}],
  [
    'a total as text',
    { search_information: { total_results: '12', time_taken_displayed: '0.5' } },
    { totalResults: 12, timeTaken: 0.5 },
  ],
  [
    'a total and a time as a page shows them',
    { search_information: { total_results: 'About 1,200 results', time_taken_displayed: '0,42' } },
    { totalResults: 1200, timeTaken: 0.42 },
  ],
  ['a total in other words', { search_information: { total_results: 'very many' } }, {}],
  ['a notice beside the results', { error: 'Some were removed' }, { notice: 'Some were removed' }],
  ['two notices', { error: 'outer', search_information: { error: 'inner' } }, { notice: 'inner' }],
  ['an empty notice', { search_information: { error: '' } }, {}],
])('an answer with %s says what can be told', (_, body, said) => {
  const understood = billableOperation('alpha.search').normalise({ organic_results: [], ...body }, context)
  expect(understood).toEqual({ results: [], malformed: [], facts: facts(said) })
})
