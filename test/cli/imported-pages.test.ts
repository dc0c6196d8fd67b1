import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inflated, type PackedPage } from '../../src/page/packed.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { serposcope } from '../arrive/import/samples.ts'
import type { TrueDay } from '../arrive/import/truth.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

const [desks, lamps] = ['desk', 'lamp'].map((topic) =>
  Array.from({ length: 12 }, (_, place) => `https://${topic}-${place}.example/${topic}`),
) as [string[], string[]]

/** A day of a page on which acme.com has a rank among these others. */
function page(rank: number, url: string, others: readonly string[]): TrueDay {
  return { state: 'ranked', rank, url, others }
}

const histories = [
  {
    text: 'standing desk',
    country: 'us' as const,
    days: new Map([
      ['2020-01-05', page(3, 'https://acme.com/desks', desks)],
      ['2020-02-05', page(5, 'https://acme.com/desks', ['https://rival.com/new', ...desks.slice(0, 8)])],
    ]),
  },
  {
    text: 'sit stand desk',
    country: 'us' as const,
    days: new Map([['2020-02-05', page(4, 'https://acme.com/sit', desks.toReversed().slice(2))]]),
  },
  {
    text: '=reading lamp',
    country: 'us' as const,
    days: new Map([['2020-02-05', page(9, 'https://acme.com/lamps', lamps)]]),
  },
]

let sandbox: Sandbox
let place: Workspace

beforeAll(async () => {
  sandbox = await startSandbox({ sites: ['acme.com'] })
  place = await workspace(sandbox)
  const dump = serposcope.write(mkdtempSync(join(tmpdir(), 'rankline-dump-')), histories)
  const { code, stderr } = await place.call(['import', dump, '--job', 'acme', '--yes'])
  expect(code, stderr).toBe(0)
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

const documents = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await place.call([...args, '--json'])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

test('days of result pages that were imported are compared with each other, before there is any run', async () => {
  const [diff] = await documents('diff', 'acme', '--imported', '--query', 'standing desk')
  expect(diff).toMatchObject({
    operation: 'imported',
    params: { gl: 'us', device: 'desktop' },
    compared_depth: 9,
  })
  expect(diff.from).toMatchObject({
    run_id: null,
    date: '2020-01-05',
    fetched_at: null,
    source: 'serposcope',
  })
  expect(diff.to).toMatchObject({ run_id: null, date: '2020-02-05', depth: 9, results_ended: false })
  expect(diff.entered.map(({ link }: { link: string }) => link)).toEqual([
    'https://rival.com/new',
    'https://desk-2.example/desk',
  ])
  const moved = diff.moved.find(({ link }: { link: string }) => link.includes('acme'))
  expect(moved).toMatchObject({ rank: 5, previous_rank: 3, change: -2, targets: [{ own: true }] })
  expect(diff.changed).toEqual([])

  const text = (await place.call(['diff', 'acme', '--imported', '--query', 'standing desk'])).stdout
  expect(text).toContain('2020-02-05 (imported, serposcope) compared with 2020-01-05 (imported, serposcope)')
  expect(text.match(/never with measured ones/g)).toHaveLength(1)
  expect(text).not.toContain('snippet')
  const table = (await place.call(['diff', 'acme', '--imported'])).stdout
  expect(table.match(/never with measured ones/g)).toHaveLength(1)
  expect(table).toContain('2 queries have nothing to compare with.')
  const { stdout, stderr } = await place.call(['diff', 'acme'])
  expect(stdout + stderr).toContain('add --imported')
})

test('keywords are grouped by what was imported, before there is any run', async () => {
  const { clusters } = await documents('cluster', 'acme')
  expect(
    clusters.map(({ cluster, keywords, pages }: Record<string, unknown[]>) => [
      cluster,
      keywords?.length,
      pages?.length,
    ]),
  ).toEqual([
    ['=reading lamp', 1, 1],
    ['sit stand desk', 2, 2],
  ])
  expect(clusters[1].keywords[1]).toMatchObject({
    query: 'standing desk',
    state: 'ranked',
    rank: 5,
    fetched_at: '2020-02-05',
    source: 'serposcope',
  })
  const { stderr } = await place.call(['cluster', 'acme'])
  expect(stderr).toMatch(
    /3 result pages imported \(serposcope\), of 2020-02-05; the oldest are [\d,]+ days old\./,
  )
})

test('what was imported is exported as rows, as a whole', async () => {
  const answers = await place.call([
    'export',
    'imported-answers',
    '--query',
    'standing desk',
    '--until',
    '2020-02-01',
  ])
  const lines = answers.stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(
    /^job,query,gl,hl,location,device,engine,date,rank,link,results,source,file,import_id$/,
  )
  expect(lines).toHaveLength(13)
  expect(lines[3]).toMatch(
    /^acme,standing desk,us,,,desktop,,2020-01-05,3,https:\/\/acme.com\/desks,12,serposcope,/,
  )
  const ranks = await documents('export', 'imported-rankings', '--job', 'acme')
  expect(ranks.map((row: Record<string, unknown>) => [row.query, row.date, row.rank])).toEqual([
    ['standing desk', '2020-01-05', 3],
    ['standing desk', '2020-02-05', 5],
    ['sit stand desk', '2020-02-05', 4],
    ['=reading lamp', '2020-02-05', 9],
  ])
  const refused = await place.call(['export', 'imported-rankings', '--to', 'postgres://x@y/z'])
  expect(refused).toMatchObject({ code: 2 })
  expect(refused.stderr).toContain('--to has no meaning for imported-rankings')
})

test('what was measured stands for itself, and what was imported only where nothing was measured', async () => {
  // One keyword cannot be asked, another has no web results.
  sandbox.control({ rules: [{ operation: 'alpha.search', query: 'sit stand desk', do: { status: 404 } }] })
  await place.file(
    'acme.yaml',
    `operation: alpha.search
params: { gl: us }
targets: [acme.com]
competitors: [rival.com]
views: [{ name: One, where: 'query=standing desk' }]
queries: [sit stand desk, standing desk, { query: "=reading lamp", operation: alpha.news }]
`,
  )
  expect((await place.call(['run', 'acme.yaml'])).code).toBe(3)
  const { clusters, left_out } = await documents('cluster', 'acme')
  const found = clusters.flatMap(({ keywords }: { keywords: object[] }) => keywords)
  expect(left_out).toBe(1)
  expect(found.map(({ query, source, state }: Record<string, unknown>) => [query, source, state])).toEqual([
    ['sit stand desk', 'serposcope', 'unknown'],
    ['standing desk', null, expect.stringMatching(/ranked|absent/)],
  ])
  expect((await place.call(['cluster', 'acme'])).stderr).toContain(
    '1 result page imported (serposcope), of 2020-02-05',
  )
  const [diff] = await documents('diff', 'acme', '--query', 'standing desk', '--compare', '2020-02-05')
  expect(diff.from).toBe(null)
  expect(diff.to).not.toHaveProperty('source')
  expect((await place.call(['diff', 'acme', '--compare', '2020-02-05'])).stderr).toContain('add --imported')
  const report = await place.call(['report', 'acme', '--format', 'md'])
  expect(
    report.stdout.match(/newest imported result pages of 2 keywords: desk-0\.example \(2\), /g),
  ).toHaveLength(1)
  // They are of all keywords, and no story of fewer names them.
  await place.call(['report', 'acme', '--out', 'r.html'])
  const [, data = ''] = /<script id="page-data"[^>]*>([^<]*)</.exec(await place.read('r.html')) ?? []
  const { told } = JSON.parse(await inflated(data)) as PackedPage
  expect(told['']?.limits.join(' ')).toContain('result pages of 2 keywords')
  expect(told['view=One']?.limits.join(' ')).toMatch(
    /imported \(.serposcope.\); they are in no figure(?!.*result pages)/,
  )
  // A report of a rival alone names no own site as one of others.
  await place.file('rival.csv', 'date,keyword,country,rank\n2020-01-07,standing desk,us,2\n')
  expect((await place.call(['import', 'rival.csv', '--target', 'rival.com'])).code).toBe(0)
  const ofRival = await place.call(['report', 'acme', '--target', 'rival.com', '--format', 'md'])
  expect(ofRival.stdout).toMatch(/newest imported result pages of 2 keywords: desk-0\.example \(2\), /)
  expect(ofRival.stdout).not.toContain('acme.com')
  const imported = await documents('cluster', 'acme', '--imported')
  expect(imported.clusters[0].keywords[0].source).toBe('serposcope')
})
