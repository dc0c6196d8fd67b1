import { expect, test } from 'vitest'
import { countryNamed } from '../../../src/arrive/countries.ts'
import { readCell } from '../../../src/arrive/import/format.ts'
import { proposedJob } from '../../../src/arrive/job-file.ts'
import type { ImportResult } from '../../../src/store/sqlite/imports/imports.ts'

test.each([
  ['2400', 2_400],
  [' 1,200 ', 1_200],
  ['1 200', 1_200],
  ['1.2K', 1_200],
  // No number of searches, and not twelve.
  ['1,2', null],
  ['10-100', null],
  ['-', null],
  ['', null],
])('the volume in %j is %j', (cell, volume) => {
  expect(readCell.volume(cell)).toBe(volume)
})

test.each([
  ['2026-1-5', null],
  ['2026-01-05T23:10:00Z', null],
  ['20260105', null],
  ['05.01.2026', null],
  ['5.1.26', null],
  ['05-Jan-26', null],
  ['5 Jan 26 14:05', null],
  ['5-Jan-2026:14:05', null],
  ['Monday, 5 January 2026', null],
  ['January 5th, 2026', null],
  ['5. Januar 2026', null],
  ['5 janv. 2026', null],
  ['5 de enero de 2026', null],
  ['05/01/2026', 'dmy'],
  ['01/05/26', 'mdy'],
] as const)('%j is the fifth of January', (text, order) => {
  expect(readCell.day(text, order)).toBe(Date.UTC(2026, 0, 5) / 86_400_000)
})

test.each([
  ['5. März 2026', 3],
  ['5 févr. 2026', 2],
  ['5 mai 2026', 5],
  ['5 juin 2026', 6],
  ['5 juillet 2026', 7],
  ['5 août 2026', 8],
  ['5 Okt 2026', 10],
  ['5 déc. 2026', 12],
])('%j is of month %i', (text, month) => {
  expect(readCell.day(text, null)).toBe(Date.UTC(2026, month - 1, 5) / 86_400_000)
})

test.each([
  ['05/01/2026', null, 'ambiguous'],
  ['05/01/26', null, 'ambiguous'],
  ['25/04/2026', 'mdy', null],
  ['2026-02-30', null, null],
  ['46027', null, null],
  ['5 Foo 2026', null, null],
  ['5 Jan 14:05', null, null],
  ['5. Januar 14.05 Uhr', null, null],
  ['', null, null],
] as const)('%j is no day, or may be two', (text, order, read) => {
  expect(readCell.day(text, order)).toBe(read)
})

test.each([
  ['US', 'us'],
  ['usa', 'us'],
  ['UK', 'gb'],
  ['United States', 'us'],
  ['Korea, Republic of', 'kr'],
  ['Czech Republic', 'cz'],
  ['Deutschland', 'de'],
  ['États-Unis', 'us'],
  ['\u0045\u0301tats-Unis', 'us'],
  ['Austin', null],
  ['zzz', null],
  ['', null],
])('the country %j is %j', (name, code) => {
  expect(countryNamed(name)).toBe(code)
})

/** A keyword that another tracker followed. */
const followed = (query: string, gl: string | null, more: object = {}) => ({
  query,
  gl,
  hl: null,
  location: null,
  device: null,
  engine: null,
  target: 'acme.com',
  volume: null,
  tags: '[]',
  url: null,
  ...more,
})

test('a new job says for how many keywords no country is told', async () => {
  const tracked = (['us', null, null] as const).map((gl, place) =>
    followed(`desk ${place}`, gl),
  ) as unknown as ImportResult['tracked']
  const named = async (some: ImportResult['tracked']) =>
    (await proposedJob('no-such-job', { tracked: some, notes: [] }))?.notAvailable
  expect(await named(tracked)).toEqual([
    "No country is told for 2 keywords, and the service would choose one. Write it into no-such-job.yaml: 'params: { gl: us }'",
  ])
  expect(await named(tracked.slice(0, 1))).toEqual([])
})

test('a new job asks each keyword of a market once, and has no target that is no site', async () => {
  const tracked = [
    followed('oak desk', null, { volume: 90, tags: '["a"]' }),
    followed('Oak Desk', 'us', { target: 'our shop' }),
    followed('oak desk', 'us', { hl: 'en', tags: '["b"]' }),
    followed('oak  desk', 'de', { device: 'mobile' }),
    followed('lamp', null),
  ] as unknown as ImportResult['tracked']
  const proposed = await proposedJob('no-such-job', { tracked, notes: [] })
  expect(proposed?.files.map(({ text }) => text)).toEqual([
    'name: "no-such-job"\noperation: alpha.search\ntargets:\n  - "acme.com"\nqueries:\n  - file: "no-such-job.csv"\n',
    'query,gl,hl,volume,tags\noak desk,us,en,90,"b;a"\noak desk,de,,90,a\nlamp,,,,\n',
  ])
  expect(proposed?.notAvailable).toContainEqual(
    expect.stringContaining("left out of the targets: 'our shop'"),
  )
})

test('a country or a language that the service does not have is left out of a job, and named', async () => {
  const tracked = [
    followed('oak desk', 'eu'),
    followed('pine desk', 'ww', { hl: 'en' }),
    followed('ash desk', 'us', { hl: 'english' }),
    followed('elm desk', 'gb', { hl: 'pt-br' }),
    followed('fir desk', 'eu'),
  ] as unknown as ImportResult['tracked']
  const proposed = await proposedJob('no-such-job', { tracked, notes: [] })
  expect(proposed?.files.at(-1)?.text).toBe(
    'query,hl,gl\noak desk,,\npine desk,en,\nash desk,,us\nelm desk,pt-br,gb\nfir desk,,\n',
  )
  expect(proposed?.notAvailable[0]).toBe(
    "The service does not have these countries and languages, and they are left out: 2 of 'gl eu', 1 of 'gl ww', 1 of 'hl english'. Write their codes as gl and hl into the CSV",
  )
})
