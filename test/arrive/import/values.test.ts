import { expect, test } from 'vitest'
import { countryNamed } from '../../../src/arrive/countries.ts'
import { volumeIn } from '../../../src/arrive/import/format.ts'
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
  expect(volumeIn(cell)).toBe(volume)
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

test('a new job says for how many keywords no country is told', async () => {
  const tracked = (['us', null, null] as const).map((gl, place) => ({
    query: `desk ${place}`,
    gl,
    hl: null,
    location: null,
    device: null,
    engine: null,
    target: 'acme.com',
    volume: null,
    tags: '[]',
    url: null,
  })) as unknown as ImportResult['tracked']
  const named = async (some: ImportResult['tracked']) =>
    (await proposedJob('no-such-job', { tracked: some, notes: [] }))?.notAvailable
  expect(await named(tracked)).toEqual([
    "No country is told for 2 keywords, and the service would choose one. Write it into no-such-job.yaml: 'params: { gl: us }'",
  ])
  expect(await named(tracked.slice(0, 1))).toEqual([])
})
