import { expect, test } from 'vitest'
import { staged } from './staged.ts'

/** Typed out from the interface document: row of the job file, and the one request that must come of it. */
const operations = [
  {
    row: 'alpha.search,desk one,us,en,Austin,,,,,',
    path: '/v1/alpha/search',
    params: { query: 'desk one', gl: 'us', hl: 'en', location: 'Austin' },
    credits: 1,
    view: 'organic_results',
    fields: ['title', 'link', 'domain', 'source', 'position', 'displayed_link', 'snippet_matched'],
  },
  {
    row: 'alpha.light,desk two,gb,en,,,,,,',
    path: '/v1/alpha/search/light',
    params: { query: 'desk two', gl: 'gb', hl: 'en' },
    credits: 1,
    view: 'organic_results',
    fields: ['title', 'link', 'source', 'position'],
  },
  {
    row: 'alpha.autocomplete,desk three,us,en,,4,,,,',
    path: '/v1/alpha/search/autocomplete',
    params: { query: 'desk three', gl: 'us', hl: 'en', cp: '4' },
    credits: 1,
    view: 'suggestions',
    fields: ['suggestion'],
  },
  {
    row: 'alpha.ai,desk four,us,en,Austin,,,,,',
    path: '/v1/alpha/search/ai',
    params: { query: 'desk four', gl: 'us', hl: 'en', location: 'Austin' },
    credits: 3,
    view: 'ai_references',
    fields: ['title', 'link', 'source', 'reference_index'],
  },
  {
    row: 'alpha.news,desk five,us,en,,,,,,',
    path: '/v1/alpha/news',
    params: { query: 'desk five', gl: 'us', hl: 'en' },
    credits: 1,
    view: 'news_results',
    fields: ['title', 'link', 'domain', 'source', 'snippet', 'position', 'date', 'published_at'],
  },
  {
    row: 'alpha.videos,desk six,us,en,,,,,,',
    path: '/v1/alpha/videos',
    params: { query: 'desk six', gl: 'us', hl: 'en', page: '1' },
    credits: 1,
    view: 'video_results',
    fields: ['title', 'link', 'position', 'date', 'channel', 'duration', 'duration_seconds', 'published_at'],
  },
  {
    row: 'alpha.images,desk seven,us,en,,,,,,',
    path: '/v1/alpha/images',
    params: { query: 'desk seven', gl: 'us', hl: 'en' },
    credits: 1,
    view: 'image_results',
    fields: ['title', 'link', 'domain', 'source', 'position', 'image_url', 'image_width', 'image_height'],
  },
  {
    row: 'beta.search,desk eight,,,,,us,,,',
    path: '/v1/beta/search',
    params: { query: 'desk eight', cc: 'us' },
    credits: 1,
    view: 'organic_results',
    fields: ['title', 'link', 'domain', 'position'],
  },
  {
    row: 'gamma.search,desk nine,,,,,,,,',
    path: '/v1/gamma/search',
    params: { query: 'desk nine' },
    credits: 1,
    view: 'organic_results',
    fields: ['title', 'link', 'domain', 'position'],
  },
  {
    row: 'gamma.images,desk ten,us,en,,,,strict,,',
    path: '/v1/gamma/images',
    params: { query: 'desk ten', gl: 'us', hl: 'en', safe: 'strict' },
    credits: 1,
    view: 'image_results',
    fields: ['title', 'link', 'image_url', 'thumbnail', 'image_width', 'image_height'],
  },
] as const

test('each billable operation of one CSV file is sent once as documented, charged its price, and stored readably', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file(
    'all.csv',
    `operation,query,gl,hl,location,cp,cc,safe,tags,client\n${operations.map(({ row }) => row).join('\n')}\n`,
  )

  const { code, stderr } = await place.call(['run', job])

  expect(stderr).toBe('')
  expect(code).toBe(0)
  const billable = sandbox.ledger.requestsFor(({ path }) => !path.endsWith('/usage'))
  expect(billable).toHaveLength(operations.length)
  for (const { path, params, credits, view, fields } of operations) {
    const requests = sandbox.ledger.requestsFor((request) => request.path === path)
    expect(requests, path).toMatchObject([{ method: 'GET', params, charged: credits, status: 200 }])
    expect(Object.keys(requests[0]?.params ?? {}).sort(), path).toEqual(Object.keys(params).sort())
    const rows = place.sql(`SELECT * FROM ${view} WHERE query = '${params.query}' ORDER BY rank`)
    expect(rows.length, path).toBeGreaterThan(4)
    for (const field of fields)
      expect(
        rows.map((row) => row[field]),
        `${path} ${field}`,
      ).not.toContain(null)
    expect(rows.map(({ rank }) => rank)).toEqual(rows.map((_, index) => index + 1))
  }
  expect(place.sql('SELECT sum(credits) AS credits FROM calls WHERE billed = 1')).toEqual([
    { credits: sandbox.ledger.charged },
  ])
})

test('knowledge graph, AI text and totals are read from the answers view', async () => {
  const { place } = await staged()
  const queries = Array.from({ length: 30 }, (_, index) => `alpha.search,topic ${index}`).join('\n')
  const job = await place.file('job.csv', `operation,query\n${queries}\nalpha.ai,what is a desk\n`)

  expect((await place.call(['run', job])).code).toBe(0)

  const answers = place.sql('SELECT * FROM answers')
  expect(answers).toHaveLength(31)
  const graphs = answers.flatMap(({ knowledge_graph }) => (knowledge_graph === null ? [] : [knowledge_graph]))
  expect(graphs.length).toBeGreaterThan(0)
  for (const graph of graphs)
    expect(Object.keys(JSON.parse(String(graph))).sort()).toEqual(
      [
        'attributes',
        'description',
        'description_link',
        'description_source',
        'title',
        'type',
        'website',
      ].sort(),
    )
  const [ai] = place.sql("SELECT * FROM answers WHERE operation = 'alpha.ai'")
  expect(ai?.ai_markdown).toContain('desk')
  expect(JSON.parse(String(ai?.ai_blocks)).map(({ type }: { type: string }) => type)).toContain('paragraph')
  expect(JSON.parse(String(ai?.search_parameters))).toMatchObject({ engine: 'alpha_ai_mode' })
  expect(answers.some(({ total_results }) => Number(total_results) > 0)).toBe(true)
  expect(answers.some(({ has_next_page, next_page }) => has_next_page === 1 && next_page === 2)).toBe(true)
  expect(place.sql('SELECT DISTINCT related_query FROM related_searches').length).toBeGreaterThan(5)
})
