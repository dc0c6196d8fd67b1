import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parquetReadObjects } from 'hyparquet'
import readSheets from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { writeResults } from '../../bench/many-results.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

const kinds = [
  'organic',
  'news',
  'videos',
  'images',
  'references',
  'suggestions',
  'related',
  'calls',
  'clicks',
]
const job = `query,operation,team
standing desk,alpha.search,A
=1+1 desk,alpha.search,B
oak desk,alpha.news,A
oak desk,alpha.videos,
oak desk,alpha.ai,A
oak desk,alpha.autocomplete,A
oak desk,gamma.images,A
`

let sandbox: Sandbox
let place: Workspace
beforeAll(async () => {
  sandbox = await startSandbox({})
  place = await workspace(sandbox)
  await place.file('desks.csv', job)
  expect((await place.call(['run', 'desks.csv'])).code).toBe(0)
  const clicks = fileURLToPath(new URL('../arrive/samples/api-rows.csv', import.meta.url))
  expect((await place.call(['clicks', 'add', clicks, '--site', 'acme.com'])).code).toBe(0)
})
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

const bytes = (name: string) => readFile(join(place.folder, name))
const exported = (kind: string, format: string, ...more: readonly string[]) =>
  place.call(['export', kind, '--format', format, '--out', `${kind}.${format}`, ...more])

/** A cell of a format that has no type for lists and objects. */
const text = (cell: unknown) => (typeof cell === 'object' && cell !== null ? JSON.stringify(cell) : cell)

describe.each(kinds)('an export of %s', (kind) => {
  test('holds the same in every format', async () => {
    const ended = await Promise.all(['jsonl', 'parquet', 'xlsx'].map((format) => exported(kind, format)))
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
    const lines = (await place.read(`${kind}.jsonl`)).trimEnd().split('\n')
    const rows: Record<string, unknown>[] = lines.map((line) => JSON.parse(line))
    expect(rows.length).toBeGreaterThan(0)
    const columns = Object.keys(rows[0] ?? {})
    expect(rows.map(({ params = {} }) => params)).toEqual(rows.map(() => ({})))
    const flat = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([of, cell]) => [of, text(cell)])),
    )

    const { buffer, byteOffset, length } = await bytes(`${kind}.parquet`)
    const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer
    const plain = (value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value instanceof Date ? value.toISOString() : value
    const packed = (await parquetReadObjects({ file })).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    )
    expect(packed).toEqual(flat)

    const [sheet] = await readSheets(await bytes(`${kind}.xlsx`), { trim: false })
    expect(sheet?.sheet).toBe(kind)
    expect(sheet?.data[0]).toEqual(columns)
    const cells = flat.map((row) => columns.map((name) => (row[name] === '' ? null : row[name])))
    // Instants of sheets are fractions of days, which the reader cuts to milliseconds.
    const told = (cell: unknown, expected: unknown) =>
      cell instanceof Date && Math.abs(cell.getTime() - Date.parse(String(expected))) <= 1 ? expected : cell
    const got = sheet?.data.slice(1).map((row, at) => row.map((cell, of) => told(cell, cells[at]?.[of])))
    expect(got).toEqual(cells)
  })
})

describe('an export', () => {
  testTable(['csv', 'jsonl', 'json', 'parquet', 'xlsx'])(
    'as %s has the same bytes the next time',
    async (format) => {
      await exported('organic', format)
      const first = await bytes(`organic.${format}`)
      await exported('organic', format)
      expect((await bytes(`organic.${format}`)).equals(first)).toBe(true)
    },
  )

  test('marks formulas in CSV for people only, and has the labels last', async () => {
    const csv = (await place.call(['export', 'organic'])).stdout
    const raw = (await place.call(['export', 'organic', '--raw'])).stdout
    expect(csv.split('\n')[0]).toMatch(/,params,label_team$/)
    expect(csv).toContain(",'=1+1 desk,")
    expect(raw).toContain(',=1+1 desk,')
    expect(raw).not.toContain("'=1+1")
    const excel = (await place.call(['export', 'organic', '--excel'])).stdout
    expect(excel).toMatch(/^\ufeffrun_id;job;.*;params;label_team\n/)
    expect(excel).toContain(";'=1+1 desk;")
  })

  test('goes into a pipe as it is, and says on stderr where the next begins', async () => {
    const { child, ended } = place.start(['export', 'organic', '--format', 'parquet'])
    const pieces: Buffer[] = []
    child.stdout?.setEncoding('latin1').on('data', (text: string) => pieces.push(Buffer.from(text, 'latin1')))
    const { code, stderr } = await ended
    await exported('organic', 'parquet')
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Next cursor: organic-\d+-[0-9a-f]{8}\n$/)
    expect(Buffer.concat(pieces).equals(await bytes('organic.parquet'))).toBe(true)
  })

  test('that is killed half way leaves the file that was there, and its cursor; the next begins where it did', async () => {
    const db = join(place.folder, 'many.db')
    await writeResults(db, 30_000)
    const more = ['--db', db, '--out', 'many.jsonl', '--format', 'jsonl', '--cursor-file', 'many.cursor']
    await place.file('many.jsonl', 'old')
    await place.file('many.cursor', 'organic-1000\n')
    const { child } = place.start(['export', 'organic', ...more])
    const halfWay = () => readdirSync(place.folder).some((name) => /^many\.jsonl\.\d+\.partial$/.test(name))
    await vi.waitUntil(halfWay, { timeout: 20_000, interval: 1 })
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(halfWay()).toBe(true)
    expect(await place.read('many.jsonl')).toBe('old')
    expect(await place.read('many.cursor')).toBe('organic-1000\n')

    expect((await place.call(['export', 'organic', ...more])).code).toBe(0)
    expect((await place.read('many.jsonl')).trimEnd().split('\n')).toHaveLength(20_000)
    expect(await place.read('many.cursor')).toMatch(/^organic-3000-[0-9a-f]{8}\n$/)
  })
})

describe('an export of what is new', () => {
  const rowsOf = async (name: string) => (await place.read(name)).split('\n').filter((line) => line !== '')
  const flags = ['--cursor-file', 'organic.cursor', '--job', 'more']

  test('goes on where the cursor file says, and leaves the next cursor in it', async () => {
    await place.file('more.csv', 'query\nfirst\nsecond\n')
    await place.call(['run', 'more.csv'])
    const all = await exported('organic', 'jsonl', ...flags)
    const cursor = await place.read('organic.cursor')
    expect(all.stderr).toMatch(/^Written: organic.jsonl, [\d.]+ kB\n/)
    expect(all.stderr).toContain(`\nNext cursor: ${cursor}`)
    const before = await rowsOf('organic.jsonl')
    await exported('organic', 'jsonl', ...flags)
    expect(await rowsOf('organic.jsonl')).toEqual([])
    expect(await place.read('organic.cursor')).toBe(cursor)

    await place.file('more.csv', 'query\nthird\n')
    await place.call(['run', 'more.csv'])
    const since = await place.call([
      'export',
      'organic',
      '--format',
      'jsonl',
      '--job',
      'more',
      '--since',
      cursor.trim(),
    ])
    await exported('organic', 'jsonl', ...flags)
    const after = await rowsOf('organic.jsonl')
    expect(after.length).toBeGreaterThan(0)
    expect(after.every((line) => JSON.parse(line).query === 'third')).toBe(true)
    expect(since.stdout.trimEnd().split('\n')).toEqual(after)
    await exported('organic', 'jsonl', '--job', 'more')
    expect(await rowsOf('organic.jsonl')).toEqual([...before, ...after])
    expect(readdirSync(place.folder).filter((name) => /^organic.*partial$/.test(name))).toEqual([])
  })

  testTable(['organic', 'calls'])(
    'of %s refuses a cursor from after the backup that was restored',
    async (kind) => {
      const restored = ['--db', `${kind}.db`]
      await place.call(['db', 'backup', `${kind}.db`])
      const collect = async (queries: string, ...db: readonly string[]) => {
        await place.file('since.csv', `query\n${queries}\n`)
        expect((await place.call(['run', 'since.csv', '--fresh', ...db])).code).toBe(0)
      }
      const cursorOf = async (...flags: readonly string[]) => {
        const { stderr } = await place.call(['export', kind, '--out', 'since.out.csv', ...flags])
        return stderr.match(/Next cursor: (\S+)/)?.[1] ?? stderr
      }
      const shared = await cursorOf(...restored)
      await collect('lost')
      const later = await cursorOf()
      await collect('new\nother', ...restored)
      expect(await cursorOf('--since', later, ...restored)).toContain('is the cursor of another database')
      expect(await cursorOf('--since', shared, ...restored)).toBe(await cursorOf(...restored))
    },
  )

  test('leaves the cursor as it is where the rows cannot be written', async () => {
    await place.file('kept.cursor', 'organic-0\n')
    const { code } = await place.call([
      ...['export', 'organic', '--out', 'no/such/rows.csv', '--cursor-file', 'kept.cursor'],
    ])
    expect(code).toBe(2)
    expect(await place.read('kept.cursor')).toBe('organic-0\n')
  })

  test('is empty, and whole, in every format', async () => {
    const { stderr } = await exported('organic', 'csv')
    const cursor = stderr.match(/Next cursor: (\S+)/)?.[1] ?? ''
    const formats = ['csv', 'json', 'jsonl', 'parquet', 'xlsx']
    const ended = await Promise.all(formats.map((format) => exported('organic', format, '--since', cursor)))
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect(await rowsOf('organic.csv')).toHaveLength(1)
    expect(await place.read('organic.json')).toBe('[]\n')
    expect((await readSheets(await bytes('organic.xlsx')))[0]?.data).toHaveLength(1)
  })
})

describe('a mistake is one sentence', () => {
  testTable<[readonly string[], RegExp]>([
    [['--since', 'news-1'], /news-1 is a cursor of the export 'news'/],
    [['--since', 'organic-999999'], /is the cursor of another database/],
    [['--since', 'yesterday'], /'yesterday' is not a cursor/],
    [['--cursor-file', 'a.cursor'], /--cursor-file needs a file for the rows/],
    [['--cursor-file', 'a.csv', '--out', 'a.csv'], /name the same file/],
    [['--cursor-file', 'a.cursor', '--out', 'a.csv', '--since', 'organic-0'], /both say where to begin/],
    [['--cursor-file', 'no/a.cursor', '--out', 'a.csv'], /mkdir -p no/],
    [['--cursor-file', 'data/rankline.db', '--out', 'a.csv'], /is a database/],
    [['--cursor-file', 'desks.csv', '--out', 'a.csv'], /is not a cursor/],
    [['--run', '999'], /There is no run 999\. List them with: rankline runs$/m],
    [['--from', '2026-03-02', '--until', '2026-03-02'], /--until 2026-03-02 is not after --from 2026-03-02/],
    [['--form', 'csv'], /takes no --form\. Did you mean --f(ormat|rom)\?/],
    [['--raw', '--excel'], /--raw is for programs, and --excel for people/],
    [['--excel', '--format', 'jsonl'], /--excel has no meaning for jsonl, which is no CSV/],
    [['--json', '--format', 'parquet'], /--json and --format parquet ask for two formats/],
    [['--xyz'], /takes no --xyz\. See: rankline export --help$/m],
    [['--format', 'parket'], /csv, jsonl, json, parquet, xlsx/],
  ])('%j', async (args, sentence) => {
    const { code, stderr, stdout } = await place.call(['export', 'organic', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(existsSync(join(place.folder, 'a.csv'))).toBe(false)
  })
})
