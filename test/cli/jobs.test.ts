import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

const jobs = fileURLToPath(new URL('../../jobs/', import.meta.url))
const files = readdirSync(jobs).filter((name) => /\.(ya?ml|csv)$/.test(name))

test('every example job is planned and collected whole, for no more than its plan says', async () => {
  expect(files).toHaveLength(8)
  const { sandbox, place } = await staged()
  // In a workspace of their own: their database is that of their workspace.
  cpSync(jobs, join(place.folder, 'jobs'), { recursive: true })
  const paths = files.map((name) => `jobs/${name}`)
  const plan = await place.call(['plan', ...paths, '--json'])
  expect(plan.code).toBe(0)
  expect(sandbox.ledger.charged).toBe(0)

  const { code, stdout } = await place.call(['run', ...paths, '--json'])

  expect(code).toBe(0)
  const plans = JSON.parse(plan.stdout)
  for (const [index, run] of JSON.parse(stdout).entries()) {
    expect(run.tasks).toMatchObject({ failed: 0, pending: 0 })
    expect(run.job).toBe(plans[index].job)
    expect(run.credits.spent).toBeGreaterThanOrEqual(plans[index].credits.min)
    expect(run.credits.spent).toBeLessThanOrEqual(plans[index].credits.max)
  }
  for (const view of ['organic', 'news', 'video', 'image'])
    expect(place.sql(`SELECT count(*) AS n FROM ${view}_results`)[0]?.n, view).toBeGreaterThan(10)
})

test('the demo runs a month and names what it wrote', async () => {
  await using place = await workspace()

  const { code, stdout, stderr } = await place.run(['demo', '--days', '2'], { CHROME_PATH: '/nowhere' })

  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toContain('2 days of standing-desks: 480 calls, 480 credits')
  // The story is last, so that it is in sight.
  expect(stdout).toMatch(/ clicks a month\b.*^Visibility +\d.*^What moved.*^What to do next\n(- .*\n)+$/ms)
  expect((await place.read('data/demo-rankings.csv')).split('\n')).toHaveLength(1 + 240 + 1)
  expect(await place.read('data/demo-serps.csv')).toContain('northdesk.example')
  expect(await place.read('data/demo-report.html')).toContain('North Desk')
  expect(await place.read('data/demo-report.eml')).toContain('North Desk')
  expect(stdout).toMatch(
    /demo-report\.pdf +is not written: CHROME_PATH names \/nowhere, which does not exist/,
  )
})
