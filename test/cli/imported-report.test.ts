import { expect, test } from 'vitest'
import { inflated, unpacked } from '../../src/page/packed.ts'
import type { RankHistory } from '../../src/report/history/rank-history.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'

/** What the page of a report has of what was imported. */
async function importedOf(page: string) {
  const [, base64 = ''] = /<script id="page-data" type="text\/plain">([\w+/=]*)<\/script>/.exec(page) ?? []
  return unpacked(JSON.parse(await inflated(base64))).history.imported as NonNullable<RankHistory['imported']>
}

test('a report shows what was imported apart, says so once, and its figures are those without it; the history goes with its job', async () => {
  const sandbox = await startSandbox({ sites: ['acme.com'] })
  const place = await workspace(sandbox)
  await place.file(
    'acme.yaml',
    'operation: alpha.search\nparams: { gl: us }\ntargets: [acme.com]\nqueries: [standing desk, oak desk]\n',
  )
  expect((await place.call(['run', 'acme.yaml'])).code).toBe(0)
  const figures = async () => (await place.call(['report', 'acme', '--format', 'json'])).stdout
  const [before, alerts] = [await figures(), place.sql('SELECT * FROM rankings')]

  await place.file(
    'old.csv',
    'date,keyword,country,rank\n2020-01-05,standing desk,us,41\n2020-01-06,standing desk,us,42\n',
  )
  expect((await place.call(['import', 'old.csv', '--target', 'acme.com', '--job', 'acme'])).code).toBe(0)

  expect(await figures()).toBe(before)
  expect(place.sql('SELECT * FROM rankings')).toEqual(alerts)
  const { stdout } = await place.call(['report', 'acme', '--period', '28d', '--format', 'md'])
  expect(stdout.match(/were imported \(table\) for 1 of 2 keywords;/g)).toHaveLength(1)

  await place.file('later.csv', 'date,keyword,country,rank\n2020-01-07,Standing Desk,us,43\n')
  await place.file('other.csv', 'date,keyword,engine,rank\n2020-01-08,oak desk,Bing,1\n')
  for (const file of ['later.csv', 'other.csv'])
    expect((await place.call(['import', file, '--target', 'acme.com'])).code).toBe(0)
  expect((await place.call(['report', 'acme', '--period', '28d', '--out', 'report.html'])).code).toBe(0)
  expect(await importedOf(await place.read('report.html'))).toMatchObject({
    days: ['2020-01-05', '2020-01-06', '2020-01-07'],
    lines: [{ cells: [41, 42, 43] }],
  })

  // A day for each rank from 1 to 700: a point stands for three of them, and has the last one.
  const long = Array.from({ length: 700 }, (_, place) => {
    const day = new Date(Date.UTC(2018, 0, 1 + place)).toISOString().slice(0, 10)
    return `${day},oak desk,us,${place + 1}`
  })
  await place.file('long.csv', `date,keyword,country,rank\n${long.join('\n')}\n`)
  expect((await place.call(['import', 'long.csv', '--target', 'acme.com'])).code).toBe(0)
  expect((await place.call(['report', 'acme', '--period', '28d', '--out', 'long.html'])).code).toBe(0)
  const { days, lines } = await importedOf(await place.read('long.html'))
  expect(days.slice(0, 2)).toEqual(['2018-01-01', '2018-01-04'])
  expect(lines[0]?.cells.slice(0, 3)).toEqual([3, 6, 9])

  for (const number of ['2', '3', '4']) expect((await place.call(['import', 'undo', number])).code).toBe(0)

  expect((await place.call(['job', 'rename', 'acme', 'globex'])).code).toBe(0)
  expect(place.sql('SELECT DISTINCT job FROM imported_rankings')).toEqual([{ job: 'globex' }])
  expect((await place.call(['job', 'remove', 'globex', '--yes'])).code).toBe(0)
  expect(place.sql('SELECT * FROM imported_rankings')).toEqual([])
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})
