import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ImportOptions } from '../../../src/arrive/import/format.ts'
import { formats, importFiles } from '../../../src/arrive/import/import.ts'
import { type ImportedRow, undoImport } from '../../../src/store/sqlite/imports/imports.ts'
import { zipOf } from '../../support/zip.ts'
import { samples } from './samples.ts'
import { trueHistories } from './truth.ts'

const folder = mkdtempSync(join(tmpdir(), 'rankline-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const noOptions: ImportOptions = { target: null, day: null, order: null, columns: new Map() }

function importing(path: string, database: string, options: Partial<ImportOptions> = {}) {
  return importFiles({
    path,
    as: null,
    options: { ...noOptions, ...options },
    job: null,
    now: Date.UTC(2026, 10, 26),
    database: join(folder, database),
    dryRun: false,
    reading: () => {},
  })
}

function rowsIn(database: string): readonly ImportedRow[] {
  const db = new Database(join(folder, database), { readonly: true })
  try {
    return db.prepare<[], ImportedRow>('SELECT * FROM imported_rankings').all()
  } finally {
    db.close()
  }
}

/** All that a database has, as SQL. */
function dumpOf(database: string): string {
  const db = new Database(join(folder, database), { readonly: true })
  try {
    const made = db
      .prepare<[], { name: string; type: string; sql: string }>('SELECT * FROM sqlite_schema')
      .all()
    const rows = made
      .filter(({ type }) => type === 'table')
      .map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()])
    return JSON.stringify([made.map(({ sql }) => sql), rows])
  } finally {
    db.close()
  }
}

test('every format has a sample', () => {
  expect(samples.map(({ format }) => format).sort()).toEqual(formats.map(({ name }) => name).sort())
})

describe.each(samples)('$format', (sample) => {
  const {
    format,
    write,
    options: typed = [],
    absentIs,
    failedAre,
    hasMarkets = true,
    hasEveryDay = false,
  } = sample
  const histories = trueHistories().filter(({ country }) => hasMarkets || country === 'us')
  const database = `${format}.db`
  const given = (flag: string): string | null =>
    typed.includes(flag) ? (typed[typed.indexOf(flag) + 1] ?? null) : null
  const options = { target: given('--target'), order: given('--days') as 'mdy' | null }
  let path: string
  let place: string
  let written: readonly string[]
  let rows: readonly ImportedRow[]

  beforeAll(async () => {
    place = mkdtempSync(join(folder, 'file-'))
    path = write(place, histories)
    written = readdirSync(place)
    const imported = await importing(path, database, options)
    expect(new Set(imported.files.map((file) => file.format))).toEqual(new Set([format]))
    expect(imported.strangers).toEqual([])
    rows = rowsIn(database)
  })

  const daysOf = (text: string, country: string): ReadonlyMap<string, ImportedRow> =>
    new Map(
      rows
        .filter((row) => row.query === text && (row.gl ?? country) === country)
        .map((row) => [row.date, row]),
    )

  test('what ranked has its rank, on its day', () => {
    for (const { text, country, days } of histories) {
      const found = daysOf(text, country)
      for (const [day, one] of days)
        if (one.state === 'ranked')
          expect(found.get(day), `${text} ${country} ${day}`).toMatchObject({
            state: 'ranked',
            rank: one.rank,
          })
    }
  })

  test('no failed day is a rank or an absence, unless it is marked', () => {
    let told = 0
    for (const { text, country, days } of histories) {
      const found = daysOf(text, country)
      for (const [day, one] of days) {
        const row = found.get(day)
        if (one.state !== 'failed' || row === undefined || row.state === 'unknown') continue
        expect(row.repeats_possible, `${text} ${country} ${day}`).toBe(1)
        told += 1
      }
    }
    if (failedAre === 'told') expect(told).toBe(0)
  })

  test('what was not found is what the file says of it, and what was not checked is not there', () => {
    for (const { text, country, days } of histories) {
      const found = daysOf(text, country)
      const checked = [...days].filter(([, { state }]) => state !== 'unchecked')
      for (const [day, one] of days) {
        if (one.state === 'unchecked')
          expect([undefined, hasEveryDay ? 'unknown' : undefined]).toContain(found.get(day)?.state)
        if (one.state === 'absent') {
          const isLast = day === checked.at(-1)?.[0]
          const state = found.get(day)?.state ?? 'missing'
          if (!(isLast && format === 'serpbear')) expect(state, `${text} ${country} ${day}`).toBe(absentIs)
        }
      }
    }
  })

  test('imported twice it doubles nothing, and undone the database is as before', async () => {
    const other = `twice-${format}.db`
    writeFileSync(join(folder, `first-${format}.csv`), 'keyword,date,rank\nchair,2020-01-01,1\n')
    await importing(join(folder, `first-${format}.csv`), other, { target: 'acme.com' })
    const before = dumpOf(other)
    const first = await importing(path, other, options)
    const stored = dumpOf(other)
    const second = await importing(path, other, options)
    expect(second.id).toBeNull()
    expect(dumpOf(other)).toBe(stored)
    expect(await undoImport(join(folder, other), first.id as number)).toBe(true)
    expect(dumpOf(other)).toBe(before)
  })

  test('nothing is left beside the file', () => {
    expect(readdirSync(place)).toEqual(written)
  })
})

test('files are found in an archive, in folders and packed, and hidden ones are passed over', async () => {
  const place = mkdtempSync(join(folder, 'archive-'))
  const written = samples
    .filter(({ format }) => ['serpbear', 'stat', 'serposcope'].includes(format))
    .map((sample) => sample.write(mkdtempSync(join(place, 'one-')), trueHistories()))
  const files = written.map((path) => [`exports/${basename(path)}`, readFileSync(path)] as const)
  const others = [
    ['notes.txt', Buffer.from('no table')],
    ['__MACOSX/exports/._a.csv', Buffer.from('keyword,date,rank\n')],
  ] as const
  const archive = join(place, 'all.zip')
  writeFileSync(archive, zipOf([...files, ...others]))
  const { files: read, strangers } = await importing(archive, 'archive.db')
  expect(read.map(({ format }) => format).sort()).toEqual(['serpbear', 'serposcope', 'stat'])
  expect(strangers).toEqual([`${archive}/notes.txt`])
  rmSync(archive)
  const table = 'keyword,date,rank,target\nlamp,2026-01-05,4,acme.com\n'
  writeFileSync(join(place, 'packed.csv.gz'), gzipSync(table))
  writeFileSync(join(place, '.hidden.csv'), table)
  const again = await importing(place, 'folder.db')
  expect(again.files.map(({ format }) => format).sort()).toEqual(['serpbear', 'serposcope', 'stat', 'table'])
  const observed = (database: string): readonly string[] =>
    rowsIn(database)
      .map(({ query, gl, date, rank, state }) => `${query} ${gl} ${date} ${rank} ${state}`)
      .sort()
  const lamp = 'lamp null 2026-01-05 4 ranked'
  expect(observed('folder.db')).toContain(lamp)
  expect(observed('folder.db').filter((one) => one !== lamp)).toEqual(observed('archive.db'))
})

describe('SerpBear', () => {
  test('days behind the last good check of a keyword that fails are left out; the last day of another one is checked', async () => {
    const rows = rowsIn('serpbear.db')
    for (const { text, country, days } of trueHistories()) {
      const checked = [...days].filter(([, { state }]) => state !== 'unchecked')
      const lastGood = checked.findLastIndex(([, { state }]) => state !== 'failed')
      const found = rows.filter((row) => row.query === text && row.gl === country)
      const behind = checked.slice(lastGood + 1).map(([day]) => day)
      expect(found.filter((row) => behind.includes(row.date))).toEqual([])
      const last = checked.at(-1)
      if (last?.[1].state === 'absent')
        expect(found.find((row) => row.date === last[0])?.state).toBe('absent')
    }
  })
})
