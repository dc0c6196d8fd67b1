import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Workspace, workspace } from '../../support/rankline.ts'
import { serpbear, serposcope } from './samples.ts'
import { trueHistories } from './truth.ts'

let place: Workspace
const folder = mkdtempSync(join(tmpdir(), 'rankline-import-test-'))

beforeAll(async () => {
  place = await workspace()
})
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** What is stored of imports. */
const stored = () => place.sql('SELECT count(*) AS n FROM imported_files')[0]

async function refused(file: string, ...options: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.call(['import', file, ...options])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr.trim().split('\n')).toHaveLength(1)
  return stderr
}

describe('a file that is broken ends in one sentence, and nothing of it is stored', () => {
  const written = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const rows = Array.from({ length: 40_000 }, (_, row) => `2026-01-05,word ${row},${1 + (row % 90)}\n`).join(
    '',
  )

  test.each<[string, string | Buffer, readonly string[], RegExp]>([
    [
      'cut.csv',
      `date,keyword,rank\n${rows}2026-01-05,wo`,
      ['--target', 'a.com'],
      /cut\.csv:40002: .*cut off/,
    ],
    ['quote.csv', 'date,keyword,rank\n2026-01-05,"wo,3\n', ['--target', 'a.com'], /quote\.csv:2: /],
    ['day.csv', 'date,keyword,rank\n2026-02-30,word,3\n', ['--target', 'a.com'], /day\.csv:2: '2026-02-30'/],
    ['two.csv', 'date,keyword,rank\n05/01/2026,word,3\n', ['--target', 'a.com'], /--days dmy or --days mdy/],
    ['no-target.csv', 'date,keyword,rank\n2026-01-05,word,3\n', [], /--target/],
    [
      'bytes.csv',
      Buffer.from('date,keyword,rank\n2026-01-05,w\xf6rt,3\n', 'latin1'),
      ['--target', 'a.com'],
      /bytes\.csv:2: .*UTF-8/,
    ],
    [
      'no-site.csv',
      'date,keyword,rank\n2026-01-05,word,3\n',
      ['--target', 'not a site'],
      /--target cannot be 'not a site'; write a site such as acme\.com/,
    ],
    ['empty-site.csv', 'date,keyword,rank\n2026-01-05,word,3\n', ['--target', ''], /--target .*; /],
    ['noise.bin', Buffer.from([1, 0, 2, 0, 3]), [], /neither a text nor/],
    ['empty.csv', '', [], /is empty/],
    ['other.csv', 'a,b\n1,2\n', [], /no format that is known: its first line has a, b/],
    [
      'old.json',
      '{"exported_at":"x","version":5,"project_id":"p","keywords":[{"keyword":"w","rankingHistory":[{}]}]}',
      [],
      /version 5/,
    ],
    [
      'cut.json',
      '{"exported_at":"x","version":6,"project_id":"p","keywords":[{"keyword":"w"',
      ['--target', 'a.com'],
      /cut off/,
    ],
  ])('%s', async (name, text, options, sentence) => {
    expect(await refused(written(name, text), ...options)).toMatch(sentence)
  })

  test('a database that is cut off, and a dump of which the end is missing', async () => {
    const database = serpbear.write(mkdtempSync(join(folder, 'cut-')), trueHistories(300))
    const bytes = readFileSync(database)
    expect(await refused(written('cut.sqlite', bytes.subarray(0, bytes.length - 9_000)))).toContain(
      'cut.sqlite',
    )
    const dump = readFileSync(serposcope.write(mkdtempSync(join(folder, 'cut-')), trueHistories()))
    expect(await refused(written('cut.sql.gz', dump.subarray(0, dump.length >> 1)))).toMatch(
      /cut\.sql\.gz is cut or damaged/,
    )
    const plain = gunzipSync(dump).toString()
    expect(await refused(written('short.sql', plain.slice(0, plain.length - 30)))).toMatch(/short\.sql:\d+: /)
  })

  test('nothing of them is in the database', () => {
    expect(stored()).toEqual({ n: 0 })
  })
})

test('a history is looked at, imported for a job that is proposed, listed, and taken back', async () => {
  const file = serpbear.write(place.folder, trueHistories())
  const name = basename(file)
  const dry = await place.call(['import', name, '--dry-run'])
  expect(dry.code, dry.stderr).toBe(0)
  expect(dry.stdout).toMatch(/^SerpBear or v-serpbear, 1 file\. Nothing is stored yet/)
  expect(dry.stdout).toContain('repeats possible')
  expect(dry.stdout.split('\n').filter((line) => /^20\d\d-/.test(line))).toHaveLength(10)
  expect(stored()).toEqual({ n: 0 })

  const { code, stdout, stderr } = await place.call(['import', name, '--job', 'acme', '--yes'])
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('+  - "acme.com"')
  expect(await place.read('acme.yaml')).toContain('file: "acme.csv"')
  expect((await place.read('acme.csv')).split('\n').slice(0, 2)).toEqual([
    'query,gl,volume,tags',
    'standing desk,us,2400,"money;new"',
  ])

  // What is measured knows nothing of it.
  for (const view of ['rankings', 'answers', 'runs', 'calls'])
    expect(place.sql(`SELECT count(*) AS n FROM ${view}`), view).toEqual([{ n: 0 }])
  const [listed] = JSON.parse((await place.call(['import', 'list', '--json'])).stdout)
  expect(listed).toMatchObject({ import: 1, job: 'acme', keywords: 12 })

  const undone = await place.call(['import', 'undo', '1'])
  expect(undone.stdout).toBe('Import 1 is removed as a whole.\n')
  expect((await place.call(['import', 'undo', '1'])).code).toBe(2)
  expect(stored()).toEqual({ n: 0 })
})

test('a job that is there gets what it lacks, and keeps what it says', async () => {
  const place = await workspace()
  const yaml = (more: string) =>
    `# Our main job\nname: acme\noperation: alpha.search\ntargets:\n  - acme.com   # ours\n\n  - site: other.example\n    label: Other\n${more}queries:\n  - file: words.csv # the list\n  - lamp\nparams: { gl: us }\n`
  const put = (name: string, text: string) => writeFileSync(join(place.folder, name), text)
  put('acme.yaml', yaml(''))
  put('words.csv', 'query,note,volume\nStanding desk,"a, b",\nodd,,5\n')
  put(
    'ranks.csv',
    [
      'date,keyword,rank,target,country,volume,tags',
      '2026-01-05,standing desk,3,acme.com,us,500,money',
      '2026-01-05,oak desk,4,shop.acme.com,us,90,a;b',
      '2026-01-05,lamp,4,acme.com,us,,',
      '2026-01-05,standing desk,4,acme.com,de,,',
    ].join('\n'),
  )
  const call = ['import', 'ranks.csv', '--job', 'acme']
  const refused = await place.call(call)
  expect(refused.stderr).toContain('Not written: acme.yaml and words.csv, with 2 queries, 1 target')
  expect(await place.read('acme.yaml')).toBe(yaml(''))
  const { code, stdout } = await place.call([...call, '--yes'])
  expect(code).toBe(0)
  expect(stdout).toContain('+++ acme.yaml\n+  - "shop.acme.com"\n--- words.csv')
  expect(stdout).toContain('-Standing desk,"a, b",\n+Standing desk,"a, b",500,,money\n')
  expect(await place.read('acme.yaml')).toBe(yaml('  - "shop.acme.com"\n'))
  expect(await place.read('words.csv')).toBe(
    'query,note,volume,gl,tags\nStanding desk,"a, b",500,,money\nodd,,5,,\noak desk,,90,us,"a;b"\nstanding desk,,,de,\n',
  )
  expect((await place.call([...call, '--yes'])).stderr).toContain('acme.yaml has all that was followed')
  await place[Symbol.asyncDispose]()
})

test('what Serposcope keeps secret is never stored, and its result pages are whole', async () => {
  const place = await workspace()
  const histories = trueHistories()
  const file = serposcope.write(place.folder, histories)
  const { code, stdout } = await place.call(['import', basename(file), '--job', 'acme', '--yes'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('+notes:') })
  expect(await place.read('acme.yaml')).toContain('\n  - { date: 2026-01-02, text: "It\'s new" }\n')
  const db = new Database(join(place.folder, 'data/rankline.db'), { readonly: true })
  const text = db.serialize().toString('latin1')
  db.close()
  for (const secret of ['app.key', 'me@acme.com', 'user:password']) expect(text).not.toContain(secret)
  const ranks = place.sql<{ rank: number; link: string }>(
    "SELECT r.rank, a.link FROM imported_rankings r JOIN imported_answers a USING (query_id, date, rank) WHERE r.state = 'ranked'",
  )
  expect(ranks.length).toBeGreaterThan(50)
  expect(ranks.filter(({ link }) => !link.startsWith('https://www.acme.com/'))).toEqual([])
  expect(place.sql("SELECT DISTINCT depth FROM imported_rankings WHERE state = 'absent'")).toEqual([
    { depth: 80 },
  ])
  const odd = place.sql<{ link: string }>(
    "SELECT link FROM imported_answers WHERE link LIKE '%größe%' LIMIT 1",
  )
  expect(odd[0]?.link).toMatch(/^https:\/\/rival-\d+\.example\/größe\/😀$/)
  await place[Symbol.asyncDispose]()
})
