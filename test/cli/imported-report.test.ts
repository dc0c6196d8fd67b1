import { expect, test } from 'vitest'
import { inflated, unpacked } from '../../src/page/packed.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'

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
  expect(stdout.match(/were imported \(table\) for 1 of 2 keywords:/g)).toHaveLength(1)

  await place.file('later.csv', 'date,keyword,country,rank\n2020-01-07,Standing Desk,us,43\n')
  await place.file('other.csv', 'date,keyword,engine,rank\n2020-01-08,oak desk,Bing,1\n')
  for (const file of ['later.csv', 'other.csv'])
    expect((await place.call(['import', file, '--target', 'acme.com'])).code).toBe(0)
  expect((await place.call(['report', 'acme', '--period', '28d', '--out', 'report.html'])).code).toBe(0)
  const page = await place.read('report.html')
  const [, base64 = ''] = /<script id="page-data" type="text\/plain">([\w+/=]*)<\/script>/.exec(page) ?? []
  const { imported } = unpacked(JSON.parse(await inflated(base64))).history
  expect(imported).toMatchObject({
    days: ['2020-01-05', '2020-01-06', '2020-01-07'],
    lines: [{ cells: [41, 42, 43] }],
  })
  for (const number of ['2', '3']) expect((await place.call(['import', 'undo', number])).code).toBe(0)

  expect((await place.call(['job', 'rename', 'acme', 'globex'])).code).toBe(0)
  expect(place.sql('SELECT DISTINCT job FROM imported_rankings')).toEqual([{ job: 'globex' }])
  expect((await place.call(['job', 'remove', 'globex', '--yes'])).code).toBe(0)
  expect(place.sql('SELECT * FROM imported_rankings')).toEqual([])
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})
