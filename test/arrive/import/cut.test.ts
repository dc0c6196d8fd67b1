import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { importFiles } from '../../../src/arrive/import/import.ts'
import { type Sample, samples } from './samples.ts'
import type { TrueHistory } from './truth.ts'

const folder = mkdtempSync(join(tmpdir(), 'rankline-cut-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a file says: `keyword site day rank` of all that ranks; null where it is refused in a sentence. */
async function ranksOf(
  name: string,
  text: string | Buffer,
  more: { readonly target?: string | null; readonly order?: 'mdy' | null } = {},
): Promise<readonly string[] | null> {
  const path = join(folder, name)
  writeFileSync(path, text)
  try {
    const { rows } = await importFiles({
      path,
      as: null,
      options: { target: 'acme.com', day: null, order: null, columns: new Map(), ...more },
      job: null,
      now: Date.UTC(2026, 10, 26),
      database: null,
      dryRun: true,
      reading: () => {},
    })
    return rows
      .filter(({ state }) => state === 'ranked')
      .map(({ query, target, date, rank }) => `${query} ${target} ${date} ${rank}`)
      .sort()
  } catch (error) {
    expect(error).toMatchObject({ exitCode: 2 })
    return null
  }
}

const url = 'https://www.acme.com/us/a,b?q=1,2'
const histories: readonly TrueHistory[] = ['first desk', 'last desk'].map((text, place) => ({
  text,
  country: place === 0 ? 'us' : 'de',
  days: new Map([
    ['2026-01-11', { state: 'ranked', rank: 12 + place, url }],
    ['2026-01-12', { state: 'ranked', rank: 48 + place, url }],
  ]),
}))

const tables = samples.filter(
  ({ format }) => !/^(serpbear|serposcope|openseo|bisibility|seo-command-center)$/.test(format),
)

/** A sample of the format, one file of it. */
function fileOf({ format, write, options = [] }: Sample) {
  const written = write(mkdtempSync(join(folder, `${format}-`)), histories)
  const path = statSync(written).isDirectory()
    ? join(written, readdirSync(written).sort().at(-1) as string)
    : written
  const given = (flag: string): string | null =>
    options.includes(flag) ? (options[options.indexOf(flag) + 1] ?? null) : null
  return {
    name: basename(path),
    bytes: readFileSync(path),
    more: { target: given('--target'), order: given('--days') as 'mdy' | null },
  }
}

describe('a file that is cut in its last row has no other rank than the whole one', () => {
  test.each(tables)('$format', async (sample) => {
    const { name, bytes, more } = fileOf(sample)
    const encoding = bytes[0] === 0xff ? 'utf16le' : 'utf8'
    const text = bytes.toString(encoding)
    const whole = await ranksOf(name, bytes, more)
    expect(whole?.length).toBeGreaterThan(0)
    const start = text.trimEnd().lastIndexOf('\n') + 1
    const row = text.slice(start).trimEnd()
    // Before the last digit of each cell that ends in one: 48 becomes 4. The last cell is left out: a row that ends in it may be whole.
    const cuts = new Map(
      [...row.matchAll(/[^,\t"]+\d(?=[,\t"])/g)].map((cell) => [cell[0], cell.index + cell[0].length - 1]),
    )
    const wrong: string[] = []
    let refused = 0
    for (const end of cuts.values()) {
      const cut = row.slice(0, end)
      const ranks = await ranksOf(name, Buffer.from(text.slice(0, start) + cut, encoding), more)
      if (ranks === null) refused += 1
      else if (ranks.some((rank) => whole?.includes(rank) === false)) wrong.push(cut)
    }
    expect(wrong).toEqual([])
    expect(refused).toBeGreaterThan(1)
  })
})

test('the row and what to do are named', async () => {
  const head = 'date,keyword,rank,url,volume\n2026-01-05,a,3,https://acme.com/a,100\n'
  const told = (text: string) => {
    writeFileSync(join(folder, 'cut.csv'), text)
    return importFiles({
      path: join(folder, 'cut.csv'),
      as: null,
      options: { target: 'acme.com', day: null, order: null, columns: new Map() },
      job: null,
      now: Date.UTC(2026, 10, 26),
      database: null,
      dryRun: true,
      reading: () => {},
    })
  }
  await expect(told(`${head}2026-01-05,b,1`)).rejects.toMatchObject({
    exitCode: 2,
    message: `${join(folder, 'cut.csv')}:3: the row ends after 3 of 5 cells and has no line end: the file may be cut off. Export it again, or end its last line if it is whole`,
  })
  // Spreadsheets leave out empty cells at the end.
  const { tracked, rows } = await told(`${head}2026-01-05,b,12\n2026-01-05,c,13,https://acme.com/c,10`)
  expect(rows.map(({ query, rank }) => `${query} ${rank}`).sort()).toEqual(['a 3', 'b 12', 'c 13'])
  expect(tracked.map(({ query, volume }) => `${query} ${volume}`).sort()).toEqual(['a 100', 'b null', 'c 10'])
})

test('a last row that is whole needs no line end', async () => {
  const head = 'keyword,date,rank'
  expect(await ranksOf('whole.csv', `${head}\na,2026-01-05,12`)).toEqual(['a acme.com 2026-01-05 12'])
  expect(await ranksOf('quoted.csv', `${head}\na,2026-01-05,"12"`)).toEqual(['a acme.com 2026-01-05 12'])
  expect(await ranksOf('ended.csv', `${head}\r\na,2026-01-05,12\r`)).toEqual(['a acme.com 2026-01-05 12'])
  expect(await ranksOf('more.csv', `${head},target\na,2026-01-05,12,acme.com`)).toEqual([
    'a acme.com 2026-01-05 12',
  ])
})
