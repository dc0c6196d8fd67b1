import { describe, expect, test } from 'vitest'
import { readDate } from '../../src/catalog/normalise/dates/read-date.ts'
import { asian } from './dates/asian.ts'
import { english } from './dates/english.ts'
import { further, unknown } from './dates/further.ts'
import { germanic } from './dates/germanic.ts'
import { glued } from './dates/glued.ts'
import { romance } from './dates/romance.ts'
import { fetchedAt, type Row, type Table } from './dates/rows.ts'
import { slavic } from './dates/slavic.ts'

const tables: readonly Table[] = [english, glued, germanic, romance, slavic, asian, further, unknown]
const rows = tables.flatMap((table) =>
  Object.entries(table).flatMap(([language, own]) => own.map((row): [string, ...Row] => [language, ...row])),
)

test.each(rows)('%s: %o is %s %s', (language, text, instant, precision?: string) => {
  const read = readDate(text, { fetchedAt, language })
  const said = read === null ? null : [new Date(read.at).toISOString(), read.precision]
  expect(said).toEqual(instant === null ? null : [new Date(`${instant}Z`).toISOString(), precision])
})

describe('the country decides where the language does not', () => {
  test.each([
    ['en', 'us', '2025-04-03'],
    ['en', 'GB', '2025-03-04'],
    ['en', 'de', null],
    ['en', null, null],
    ['en-GB', 'us', '2025-03-04'],
    ['es', 'mx', '2025-03-04'],
    ['es', 'us', null],
    ['fr', 'ca', null],
    ['pt', 'br', '2025-03-04'],
    ['no', 'no', null],
    [null, 'us', null],
    [null, 'de', null],
    ['fr', 'nonsense', '2025-03-04'],
  ])('04/03/2025 in %s of %s is %s', (language, country, day) => {
    const read = readDate('04/03/2025', { fetchedAt, language, country })
    expect(read).toEqual(day === null ? null : { at: Date.parse(day), precision: 'day' })
  })
})
