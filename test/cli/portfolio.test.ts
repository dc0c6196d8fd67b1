import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

const jobs = {
  'acme.yaml': `name: acme
report: { client: Acme Inc., title: Acme in the US }
targets: [acme.com]
queries: [{ query: desk, volume: 1000 }, oak desk, lamp]
`,
  'mueller.yaml': `name: mueller
report: { client: "Müller & <b>Söhne</b>", language: de, period: 7d }
targets: [rival.com]
queries: [{ query: schreibtisch, volume: 500 }]
`,
  'failing.yaml': `name: failing
targets: [acme.com]
queries: [sofa, chair]
`,
  'nowhere.yaml': `name: no where?
targets: [nowhere.example]
queries: [{ query: table, volume: 100 }]
`,
  'plain.yaml': `name: plain
queries: [just results]
`,
}

const aDayBack = `UPDATE runs_ SET date = date(date, '-1 days');
  UPDATE observations SET observed_at = observed_at - 86400000`

let place: Workspace
beforeAll(async () => {
  await using sandbox = await startSandbox({ sites: ['acme.com', 'rival.com'] })
  place = await workspace(sandbox)
  for (const [name, text] of Object.entries(jobs)) await place.file(name, text)
  for (const day of ['2026-03-02', '2026-03-03']) {
    if (day !== '2026-03-02') place.change(aDayBack)
    sandbox.control({ date: day })
    const { 'failing.yaml': _, ...sound } = jobs
    sandbox.control({ rules: [] })
    expect((await place.call(['run', ...Object.keys(sound)])).code).toBe(0)
    const fails = day === '2026-03-03'
    sandbox.control({ rules: fails ? [{ operation: 'alpha.search', times: 1, do: { status: 400 } }] : [] })
    expect((await place.call(['run', 'failing.yaml'])).code).toBe(fails ? 3 : 0)
  }
})
afterAll(() => place[Symbol.asyncDispose]())

const portfolio = (...flags: readonly string[]) => place.call(['report', '--all', ...flags])

describe('rows', () => {
  test('are of every job of the database, the most clicks at stake first', async () => {
    const { code, stdout, stderr } = await portfolio('--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = JSON.parse(stdout) as readonly Record<string, unknown>[]
    const stakes = rows.map((row) => (row.clicks_at_stake as number | null) ?? -1)
    expect(stakes).toEqual(stakes.toSorted((a, b) => b - a))
    expect(rows.map(({ job, level }) => `${job} ${level}`).sort()).toEqual([
      'acme ok',
      'failing error',
      expect.stringMatching(/^mueller (ok|warning)$/),
      'no where? warning',
      'plain ok',
    ])
    const of = (name: string) => rows.find(({ job }) => job === name)
    expect(of('failing')).toMatchObject({
      problems: [expect.stringContaining('1 of 2 tasks of run')],
      checked: 1,
      clicks_at_stake: null,
    })
    expect(of('no where?')).toMatchObject({
      ...{ visibility: 0, top_10: 0, clicks: 0, clicks_change: 0 },
      problems: [expect.stringContaining('nowhere.example has a visibility of 0.0% for 1 keyword')],
    })
    expect(of('acme')).toMatchObject({ client: 'Acme Inc.', site: 'acme.com', keywords: 3, checked: 3 })
    expect(of('plain')).toMatchObject({ site: null, visibility: null, last_good_run: expect.any(String) })
  })

  test('say what the report of the job says, over the period of the job', async () => {
    const [row] = JSON.parse((await place.call(['report', 'acme', 'plain', '--json'])).stdout) as [
      Record<string, unknown>,
    ]
    const { stdout } = await place.call(['report', 'acme', '--metrics', '--json', '--period', 'all'])
    const { targets } = JSON.parse(stdout) as {
      targets: readonly { figures: readonly { metric: string; value: number }[] }[]
    }
    const value = (name: string) => targets[0]?.figures.find(({ metric }) => metric === name)?.value
    expect(row.visibility).toBe(value('visibility'))
    expect(row.average_position).toBe(value('average_position'))
    expect(row.compared_date).toBe(
      row.from === null ? null : place.sql<{ d: string }>('SELECT min(date) d FROM runs_')[0]?.d,
    )
  })

  test('in the terminal have the problems above them', async () => {
    const { stdout } = await portfolio()
    const [problems, table] = stdout.split('\n\n')
    expect(problems).toMatch(/^error +failing: 1 of 2 tasks of run \d+ failed/)
    expect(table).toMatch(/^client +state +at stake +clicks/)
    expect(table).toMatch(/^Acme Inc\. +ok +\d.* \d+\.\d%/m)
    expect(table).toMatch(/^plain +ok +- +/m)
  })
})

describe('the page', () => {
  test('has the report of each job beside it, each in its own words, the same each time', async () => {
    const written = async () => {
      const { code, stderr } = await place.call(['report', '--all', '--out', 'clients/', '--for', 'client'])
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('Beside it: 5 reports'),
      })
      const names = readdirSync(join(place.folder, 'clients')).sort()
      return new Map(
        await Promise.all(names.map(async (name) => [name, await place.read(`clients/${name}`)] as const)),
      )
    }
    const files = await written()
    expect([...files.keys()]).toEqual([
      ...['acme.html', 'failing.html', 'index.html', 'mueller.html', 'no-where.html', 'plain.html'],
    ])
    const has = (name: string, text: string): boolean => files.get(name)?.includes(text) === true
    expect(has('index.html', '<html lang="en">')).toBe(true)
    expect(has('index.html', 'href="./no-where.html"')).toBe(true)
    expect(has('index.html', '<b>')).toBe(false)
    expect(has('mueller.html', '<html lang="de">')).toBe(true)
    // A client is shown no credits; the portfolio is for those who pay them.
    expect(has('mueller.html', '"spent":')).toBe(false)
    expect(has('index.html', 'Credits this month')).toBe(true)
    const minutes = (text: string) => text.replaceAll(/\d\d:\d\d UTC/g, '')
    const changed = [...(await written())].filter(
      ([name, text]) => minutes(files.get(name) ?? '') !== minutes(text),
    )
    expect(changed.map(([name]) => name)).toEqual([])
  })

  test('tells what is wrong with one client in its row, and writes the others', async () => {
    await place.file(
      'gone.yaml',
      'name: gone\nreport: { logo: gone.png }\ntargets: [acme.com]\nqueries: [{ query: desk, volume: 1 }]\n',
    )
    const { code, stdout } = await place.call(['report', 'gone.yaml', 'acme', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([
      { job: 'acme', level: 'ok', site: 'acme.com' },
      { job: 'gone', level: 'warning', problems: [expect.stringContaining('The logo')] },
    ])
  })

  test('of a client whose logo is gone is written without it, which is said', async () => {
    const yaml = await place.read('plain.yaml')
    await place.file('plain.yaml', `${yaml}\nreport: { logo: gone.png }\n`)
    const { code, stderr } = await place.call(['report', 'plain.yaml', 'acme', '--out', 'some/', '--quiet'])
    await place.file('plain.yaml', yaml)
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^plain: The report has no logo\. The logo .*gone\.png .+\n$/),
    })
    expect(readdirSync(join(place.folder, 'some')).sort()).toEqual(['acme.html', 'index.html', 'plain.html'])
    expect(await place.read('some/index.html')).toContain('The report has no logo.')
  })
})

const meaningless = [
  [['--all', 'acme'], /--all takes every job/],
  [[], /Name a job or its file, or write --all/],
  [['--all', '--tag', 'x'], /--tag has no meaning for several jobs/],
  [['--all', '--explain', 'desk'], /--explain has no meaning for several jobs/],
  [['acme', 'mueller', '--comment', 'c.md'], /--comment has no meaning for several jobs/],
  [['--all', '--format', 'html'], /Name a file or a folder with --out/],
  [['--all', '--format', 'pdf'], /--format cannot be 'pdf'/],
  [['--all', '--raw'], /--raw has no meaning/],
  [['--all', '--period', '3x'], /--period cannot be '3x'/],
  [['--all', '--out', 'acme.yaml/'], /acme\.yaml/],
  [['acme', 'nobody'], /There is no job 'nobody'/],
  [['--all', '--tag', 'x', '--out', 'nothing/'], /--tag has no meaning/],
] as const
testTable(meaningless)('report %j is refused with one sentence', async (flags, sentence) => {
  const { code, stdout, stderr } = await place.call(['report', ...flags])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(sentence)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(existsSync(join(place.folder, 'nothing'))).toBe(false)
})
