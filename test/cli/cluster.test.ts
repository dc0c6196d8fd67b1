import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

const desks = ['standing desk', 'adjustable desk', 'sit stand desk']
const lamps = ['desk lamp', 'reading lamp']
const jobFile = `name: acme
operation: alpha.search
params: { gl: us }
depth: 20
targets: [acme.com]
competitors: [rival.com]
queries:
  - { query: standing desk, volume: 2400, tags: [money] }
  - { query: adjustable desk, volume: 900 }
  - sit stand desk
  - { query: desk lamp, volume: 50 }
  - { query: reading lamp, volume: 70 }
  - "=oak chair"
`

let sandbox: Sandbox
let place: Workspace

beforeAll(async () => {
  sandbox = await startSandbox({ sites: ['acme.com', 'rival.com'], topics: [desks, lamps] })
  // Results change from day to day.
  sandbox.control({ date: '2026-03-04' })
  place = await workspace(sandbox)
  await place.file('acme.yaml', jobFile)
  await place.file(
    'other.yaml',
    'operation: alpha.search\nparams: { gl: us }\nqueries: [standing desk, unheard of]\n',
  )
  for (const job of ['acme.yaml', 'other.yaml']) {
    const { code, stderr } = await place.call(['run', job])
    expect(code, stderr).toBe(0)
  }
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

interface Found {
  readonly left_out: number
  readonly clusters: readonly {
    readonly cluster: string
    readonly volume: number | null
    readonly pages: readonly { readonly url: string; readonly keywords: number }[]
    readonly keywords: readonly { readonly query: string; readonly shared: number; readonly jobs: string[] }[]
  }[]
}

async function document(...args: readonly string[]): Promise<Found> {
  const { code, stdout } = await place.call(['cluster', ...args, '--json'])
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

test('keywords of one meaning are one cluster, the most searched its head', async () => {
  const { clusters, left_out } = await document('acme')
  expect(left_out).toBe(0)
  expect(
    clusters.map(({ cluster, volume, keywords }) => [cluster, volume, keywords.map(({ query }) => query)]),
  ).toEqual([
    ['standing desk', 3300, ['standing desk', 'adjustable desk', 'sit stand desk']],
    ['reading lamp', 120, ['reading lamp', 'desk lamp']],
    ['=oak chair', null, ['=oak chair']],
  ])
  const [desk, lamp] = clusters
  expect(desk?.keywords.map(({ shared }) => shared >= 4)).toEqual([true, true, true])
  expect([desk?.pages.length, lamp?.pages]).toEqual([
    0,
    [{ url: 'https://acme.com/shop/desk-lamp-sale', keywords: 2 }],
  ])
})

test('the table shows clusters of several, how old the results are, and is the same each time', async () => {
  const first = await place.call(['cluster', 'acme'])
  const again = await place.call(['cluster', 'acme.yaml'])
  expect(again).toEqual(first)
  expect(first.stdout).toMatch(
    /^cluster +keywords +volume +best rank +your pages\nstanding desk +3 +3,300 +-\nreading lamp +2 +120 +\d+ +acme\.com\/shop/,
  )
  expect(first.stdout).not.toContain('oak')
  const today = new Date().toISOString().slice(0, 10)
  expect(first.stderr).toContain(
    '6 keywords: 5 in 2 clusters of several that share at least 4 of the first ten results, 1 alone.',
  )
  expect(first.stderr).toContain(`Results of ${today}.`)
  expect((await document('acme', '--shared', '10')).clusters.length).toBeGreaterThan(3)
})

test('a line for each keyword, in which text is no formula', async () => {
  const { stdout } = await place.call(['cluster', 'acme', '--format', 'csv'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toBe(
    'cluster,query,operation,gl,hl,location,volume,shared,state,rank,url,fetched_at,job,tags,params,source',
  )
  expect(lines).toHaveLength(7)
  expect(lines[1]).toMatch(/^standing desk,standing desk,alpha\.search,us,,,2400,10,/)
  expect(lines[6]).toMatch(/^'=oak /)
})

test('--all takes the keywords of all jobs, each once', async () => {
  const { clusters } = await document('--all')
  expect(clusters.flatMap(({ keywords }) => keywords).length).toBe(7)
  expect(clusters[0]?.keywords[0]).toMatchObject({ query: 'standing desk', jobs: ['acme', 'other'] })
})

test('gaps are clusters where a rival is among the first ten and you are not', async () => {
  const table = await place.call(['cluster', 'acme', '--gaps'])
  expect(table.stdout).toMatch(
    /^cluster +keywords +clicks +rival +rank +its page +your rank\nstanding desk +3 +\d+ +rival\.com +\d+ +rival\.com\/\S+ +-\n/,
  )
  expect(table.stderr).toContain('Rivals are among the first ten and you are not: ')
  const csv = await place.call(['cluster', 'acme', '--gaps', '--format', 'csv'])
  expect(csv.stdout).toMatch(/^cluster,operation,.*\nstanding desk,alpha\.search,us,,,3,3300,\d+,rival\.com,/)
})

test('exports have the cluster of each query as their last column', async () => {
  const { code, stdout } = await place.call(['export', 'organic', '--clusters', '--format', 'jsonl'])
  expect(code).toBe(0)
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(new Set(rows.map(({ query, cluster }) => `${query}: ${cluster}`))).toEqual(
    new Set([
      'standing desk: standing desk',
      'adjustable desk: standing desk',
      'sit stand desk: standing desk',
      'reading lamp: reading lamp',
      'desk lamp: reading lamp',
      '=oak chair: =oak chair',
      'unheard of: unheard of',
    ]),
  )
  expect(Object.keys(rows[0] ?? {}).at(-1)).toBe('cluster')
})

test('the tags and views that it suggests are those of a job file', async () => {
  const { stdout } = await place.call(['cluster', 'acme', '--views', '--out', 'views.yaml'])
  expect(stdout).toBe('')
  const yaml = await place.read('views.yaml')
  expect(yaml).toContain('  - { name: "standing desk", tags: ["standing desk"] }\n')
  expect(yaml).toContain('  - { query: "standing desk", tags: ["money","standing desk"] }\n')
  const plan = await place.call(['plan', 'views.yaml', '--operation', 'alpha.search'])
  expect({ code: plan.code, stderr: plan.stderr }).toEqual({ code: 0, stderr: '' })
  // Nothing is to be suggested of keywords that are alone.
  expect((await place.call(['cluster', 'other', '--views'])).stdout).toBe('')
})

test.each([
  [[], 'Name a job or its file, or write --all for every job of the database'],
  [['acme', '--all'], '--all takes every job of the database. Leave out the name of the job, or --all'],
  [['acme', '--shared', '0'], '--shared'],
  [
    ['acme', '--views', '--format', 'csv'],
    '--views prints YAML for the job file. Leave it out, or the format',
  ],
  [['acme', '--views', '--gaps'], '--views and --gaps print two things. Leave one of them out'],
  [['other', '--gaps'], '--gaps compares you with rivals, and there are no targets of yours'],
  [['acmee'], 'Did you mean acme?'],
])('%j is refused with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await place.call(['cluster', ...args])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(sentence)
})

test('a report says which two of your pages compete for keywords of one page', async () => {
  const page = (own: string) => ({
    search_parameters: { engine: 'google' },
    organic_results: [
      'https://a.example/',
      `https://acme.com/${own}`,
      'https://b.example/',
      'https://c.example/',
      'https://d.example/',
    ].map((link, index) => ({
      position: index + 1,
      title: 'x',
      link,
      domain: 'x',
      displayed_link: 'x',
      snippet: 'x',
    })),
    pagination: { current: 1, next: 2, has_next_page: false },
  })
  sandbox.control({
    rules: [
      { query: 'oak chair', do: { body: page('chairs') } },
      { query: 'oak stool', do: { body: page('stools') } },
    ],
  })
  await place.file(
    'pair.yaml',
    'operation: alpha.search\ntargets: [acme.com]\nqueries:\n  - { query: oak chair, volume: 900 }\n  - { query: oak stool, volume: 800 }\n',
  )
  expect((await place.call(['run', 'pair.yaml'])).code).toBe(0)
  const { code, stdout, stderr } = await place.call(['report', 'pair', '--format', 'md'])
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('2 keywords with the same results, one page; /chairs and /stools compete')
  const table = await place.call(['cluster', 'pair'])
  expect(table.stdout).toContain('2 compete: acme.com/chairs')
  expect(table.stderr).toContain('In 1 cluster two or more of your pages compete.')
})

test('a volume that was added from a file counts where the job has none', async () => {
  await place.file('volumes.csv', 'keyword,volume\nsit stand desk,9000\nstanding desk,1\n')
  const added = await place.call(['volumes', 'add', 'volumes.csv', '--country', 'us'])
  expect(added.code, added.stderr).toBe(0)
  expect((await document('acme')).clusters[0]).toMatchObject({ cluster: 'sit stand desk', volume: 12_300 })
  // Of three queries with more, two have it from the job.
  const plan = await place.call(['plan', 'acme.yaml', '--fresh', '--where', 'volume>=900', '--json'])
  expect(JSON.parse(plan.stdout)).toMatchObject({ tasks: { planned: 6 } })
})
