import { expect, test } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
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
  const understood = bodies.normalise(billableOperation(name), body, context)
  expect(understood).toEqual({ results, malformed: [], facts: said })
})
