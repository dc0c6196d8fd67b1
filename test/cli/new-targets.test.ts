import { expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

const sites = ['northdesk.example', 'risewell.example']
const job = (more: string) =>
  `depth: 20\ntargets: [northdesk.example]\n${more}queries: [oak desk, walnut desk]\n`

const history = ({ sql }: Workspace, target: string) =>
  sql<{ row: string }>(
    `SELECT run_id || ' ' || query || ' ' || coalesce(rank, state) AS row FROM rankings
    WHERE target = '${target}' ORDER BY run_id, query`,
  ).map(({ row }) => row)

/** What the results of a run say of a site, read from them. */
const read = ({ sql }: Workspace, site: string) =>
  sql<{ row: string }>(
    `SELECT run_id || ' ' || query || ' ' || coalesce(min(CASE WHEN site = '${site}' THEN rank END), 'absent') AS row
    FROM organic_results GROUP BY run_id, query ORDER BY run_id, query`,
  ).map(({ row }) => row)

test('a competitor that is added has its history at the next run, at no cost', async () => {
  const { sandbox, place } = await staged({ sites })
  await place.file('job.yaml', job(''))
  for (const date of ['2026-03-02', '2026-03-05']) {
    sandbox.control({ date })
    await place.call(['run', 'job.yaml', '--fresh'])
  }
  await place.file('job.yaml', job('competitors: [risewell.example, nowhere.example]\n'))
  sandbox.control({ date: '2026-03-09' })

  expect((await place.call(['report', 'job.yaml', '--quiet'])).stderr).toBe('')
  const { code, stdout, stderr } = await place.call(['run', 'job.yaml', '--fresh', '--json'])

  expect(code).toBe(0)
  expect(stderr).toContain(
    'job: targets are new; 4 stored queries were evaluated again for them, at no cost.',
  )
  expect(JSON.parse(stdout)).toMatchObject({ run: 3, credits: { spent: 4 } })
  expect(sandbox.ledger.charged).toBe(12)
  expect(history(place, 'risewell.example')).toEqual(read(place, 'risewell.example'))
  expect(history(place, 'nowhere.example').every((row) => row.endsWith(' absent'))).toBe(true)
  expect(history(place, 'nowhere.example')).toHaveLength(6)
})

test('a target in a column of a CSV file has a history of its query alone; removed, it keeps it', async () => {
  const { sandbox, place } = await staged({ sites })
  await place.file('job.csv', 'query\noak desk\nwalnut desk\n')
  await place.call(['run', 'job.csv', '--fresh'])
  await place.file('job.csv', 'query,target\noak desk,risewell.example\nwalnut desk,\n')
  await place.call(['run', 'job.csv', '--fresh'])
  await place.file('job.csv', 'query\noak desk\nwalnut desk\n')
  await place.call(['run', 'job.csv', '--fresh'])

  const all = read(place, 'risewell.example')

  expect(history(place, 'risewell.example')).toEqual(
    all.filter((row) => row.includes('oak') && !row.startsWith('3')),
  )
  expect(sandbox.ledger.charged).toBe(6)
})

test('a run that goes on looks for a new target in what it has bought already, too', async () => {
  const { sandbox, place } = await staged({ sites, account: { subscription: { total: 3 } } })
  await place.file('job.yaml', job(''))
  expect((await place.call(['run', 'job.yaml'])).code).toBe(4)
  sandbox.control({ topUp: { credits: 10 } })
  await place.file('job.yaml', job('competitors: [risewell.example]\n'))

  const { code, stdout } = await place.call(['run', 'job.yaml', '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ run: 1, credits: { spent: 4 } })
  expect(history(place, 'risewell.example')).toEqual(read(place, 'risewell.example'))
})
