import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inflated, unpacked } from '../../src/page/packed.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'
import { testTable } from '../support/test-table.ts'

const jobOf = (queries: readonly string[], targets = ['acme.com', 'rival.com']) =>
  `name: acme\npages: 2\ntargets: [${targets.join(', ')}]\nqueries: [${queries.join(', ')}]\n`

/** Sets the days of runs so far back by hand: nobody waits for them here. */
const aged = (days: number) =>
  `UPDATE runs_ SET date = date(date, '-${days} days'); UPDATE observations SET observed_at = observed_at - ${days * 86_400_000}`

function setting(options: Parameters<typeof stage>[0] = {}): Promise<Stage> {
  return stage({ sites: ['acme.com', 'rival.com'], ...options })
}

async function rowsOf(place: Workspace, ...flags: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await place.call(['report', 'acme', '--json', ...flags])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

describe('what the job no longer asks', () => {
  test('is in no report, and the table says how much that is', async () => {
    await using set = await setting()
    const { place } = set
    const file = await place.file('acme.yaml', jobOf(['desk', 'lamp', 'chair']))
    await place.call(['run', file])
    place.change(aged(1))
    await place.file('acme.yaml', jobOf(['desk', 'sofa'], ['acme.com']))
    await place.call(['run', file])

    const rows = await rowsOf(place)
    expect(rows.map(({ query, target }) => `${query} ${target}`)).toEqual(['desk acme.com', 'sofa acme.com'])
    expect(rows[0]).toMatchObject({ previous_state: expect.stringMatching('ranked|absent') })
    expect(rows[1]).toMatchObject({ previous_date: null, previous_rank: null, movement: 'new' })
    const csv = await place.call(['report', 'acme', '--format', 'csv'])
    expect(csv.stdout.trim().split('\n')).toHaveLength(1 + 2)
    const table = await place.call(['report', 'acme'])
    expect(table.stdout).toContain('Left out: 2 queries and 1 target that the job no longer asks for.')
    expect((await rowsOf(place, '--date', String(rows[0]?.previous_date))).length).toBe(6)
  })

  test('is everything where it tracks no targets any more', async () => {
    await using set = await setting()
    const { place } = set
    const file = await place.file('acme.yaml', jobOf(['desk']))
    await place.call(['run', file])
    await place.file('acme.yaml', 'name: acme\nqueries: [desk]\n')
    await place.call(['run', file])
    const { code, stdout, stderr } = await place.call(['report', 'acme'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('it tracks no targets')
  })
})

test('targets stand in the order of the job file, and a result counts for each that it belongs to', async () => {
  await using set = await stage({ sites: ['acme.com', 'zeta.com', 'rival.com'] })
  const { place } = set
  const targets = ['acme.com', '{ site: acme.com, match: host, label: A host }']
  const file = await place.file(
    'acme.yaml',
    `${jobOf(['desk', 'lamp'], targets)}competitors: [zeta.com, rival.com]\n`,
  )
  await place.call(['run', file])
  const order = ['acme.com', 'A host', 'zeta.com', 'rival.com']
  const rows = await rowsOf(place)
  expect(rows.map(({ target }) => target)).toEqual([...order, ...order])
  const said = async (...args: readonly string[]) => JSON.parse((await place.call(args)).stdout)
  const metrics = await said('report', 'acme', '--metrics', '--json')
  expect(metrics.targets.map(({ target }: { target: string }) => target)).toEqual(order)
  const [explained] = await said('report', 'acme', '--explain', 'desk', '--json')
  expect(explained.targets.map(({ target }: { target: string }) => target)).toEqual(order)

  const { stdout: html } = await place.call(['report', 'acme', '--format', 'html'])
  const [, packed = ''] = /<script id="page-data"[^>]*>(.*?)<\/script>/s.exec(html) ?? []
  const data = unpacked(JSON.parse(await inflated(packed)))
  expect(data.history.targets.map(({ label }) => label)).toEqual(order)
  const owners = data.serps.flatMap(({ results }) => results.map(([, , , , whose]) => whose.join()))
  expect(owners).toContain('0,1')
  expect(owners).not.toContain('0')
})

test('a target that is matched otherwise now is one row: by its file the new one, by name or day what the run asked', async () => {
  await using set = await setting()
  const { place } = set
  const file = await place.file('acme.yaml', jobOf(['desk'], ['acme.com']))
  await place.call(['run', file])
  const [run] = place.sql<{ date: string }>('SELECT date FROM runs')
  await place.file(
    'acme.yaml',
    jobOf(['desk'], ['{ site: acme.com/nowhere, match: prefix, label: acme.com }']),
  )

  const states = async (...args: readonly string[]) => {
    const { stdout } = await place.call(['report', ...args, '--json'])
    return JSON.parse(stdout).map(({ state }: { state: string }) => state)
  }
  expect(await states(file)).toEqual(['absent'])
  expect(await states('acme')).toEqual(['ranked'])
  expect(await states(file, '--date', String(run?.date))).toEqual(['ranked'])
})

test('of a file that names no targets those are reported that flags named', async () => {
  await using set = await setting()
  const { place } = set
  const file = await place.file('acme.csv', 'query\ndesk\n')
  await place.call(['run', file, '--target', 'acme.com'])
  expect(JSON.parse((await place.call(['report', file, '--json'])).stdout)).toMatchObject([
    { target: 'acme.com' },
  ])
})

test('what a run did not come to is unknown today, beside what was known before', async () => {
  await using set = await setting({ account: { subscription: { total: 5 } } })
  const { place } = set
  const file = await place.file('acme.yaml', jobOf(['desk', 'lamp']))
  expect((await place.call(['run', file])).code).toBe(0)
  place.change(aged(1))
  expect((await place.call(['run', file])).code).toBe(4)

  const rows = await rowsOf(place)
  expect(new Set(rows.map(({ date }) => date)).size).toBe(1)
  const unfetched = rows.filter(({ query }) => query === 'lamp')
  expect(unfetched).toHaveLength(2)
  for (const row of unfetched) {
    expect(row).toMatchObject({ state: 'unknown', rank: null, change: null, movement: 'unknown' })
    expect(row.previous_state).toMatch(/ranked|absent/)
  }
  // As a process leaves it that was killed before it came to that query.
  place.change("DELETE FROM observations WHERE run_id = 2 AND state = 'unknown'")
  expect((await rowsOf(place)).map(({ observed_at, ...row }) => ({ ...row, depth: 0 }))).toEqual(
    rows.map(({ observed_at, ...row }) => ({ ...row, depth: 0 })),
  )
})

describe('a query', () => {
  let set: Stage
  let place: Workspace
  beforeAll(async () => {
    set = await setting({ rules: [{ query: 'lamp', after: 1, do: { status: 400 } }] })
    place = set.place
    const job = jobOf(['desk', 'lamp']).replace('pages', 'operation: [alpha.search, alpha.news]\npages')
    await place.call(['run', await place.file('acme.yaml', job)])
  })
  afterAll(() => set[Symbol.asyncDispose]())

  test('is explained for a person, once for each operation', async () => {
    const { code, stdout, stderr } = await place.call(['report', 'acme', '--explain', 'desk'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^"desk" {2}alpha\.\w+$/gm)).toEqual(['"desk"  alpha.news', '"desk"  alpha.search'])
    const [found] = place.sql<{ url: string }>(
      "SELECT url FROM rankings WHERE query = 'desk' AND operation = 'alpha.search' AND rank IS NOT NULL",
    )
    const url = String(found?.url).replace(/[.?]/g, '\\$&')
    expect(stdout).toMatch(new RegExp(` {2}${url}\n +(acme|rival)\\.com: it is on `))
    expect(stdout).toMatch(/^Page 2, fetched \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m)
  })

  test('of which a page failed says so', async () => {
    const { stdout } = await place.call(['report', 'acme', '--explain', 'lamp', '--out', 'lamp.txt'])
    expect(stdout).toBe('')
    expect(await place.read('lamp.txt')).toMatch(/^Page 2: failed, /m)
  })

  test('is explained as JSON with the ranks that exports have', async () => {
    const { stdout } = await place.call(['report', 'acme', '--explain', 'desk', '--json'])
    const explained = JSON.parse(stdout)
    expect(explained.map(({ operation }: { operation: string }) => operation)).toEqual([
      'alpha.news',
      'alpha.search',
    ])
    for (const { operation, targets, pages } of explained) {
      const view = operation === 'alpha.news' ? 'news_results' : 'organic_results'
      const stored = place.sql(
        `SELECT rank, position, link FROM ${view} WHERE query = 'desk' ORDER BY page, place`,
      )
      type Result = { rank: number; position: number; link: string; matches: { target: string }[] }
      const results: readonly Result[] = pages.flatMap(({ results }: { results: Result[] }) => results)
      expect(results.map(({ rank, position, link }) => ({ rank, position, link }))).toEqual(stored)
      for (const { target, rank } of targets) {
        const own = results.filter(({ matches }) => matches.some((match) => match.target === target))
        expect(own[0]?.rank ?? null).toBe(rank)
      }
    }
  })
})

describe('asking for a report with', () => {
  let place: Workspace
  beforeAll(async () => {
    await using sandbox = await startSandbox()
    place = await workspace(sandbox)
    await place.call(['run', await place.file('acme.yaml', jobOf(['standing desk', 'lamp']))])
  })
  afterAll(() => place[Symbol.asyncDispose]())

  testTable<[string, readonly string[], string]>([
    [
      'a day that is none',
      ['--compare', '2026-02-30'],
      "--compare cannot be '2026-02-30'; write previous-period, year, a day such as",
    ],
    ['a span of hours', ['--compare', '12h'], "--compare cannot be '12h'; write previous-period"],
    [
      'a period that is none',
      ['--period', 'fortnight'],
      "--period cannot be 'fortnight'; write a period such as 28d",
    ],
    [
      'a period without a run',
      ['--period', '2020-01-01..2020-01-31'],
      'acme has no run from 2020-01-01 to 2020-01-31',
    ],
    ['no time at all', ['--compare', '0d'], "--compare cannot be '0d'"],
    ['more days than there are', ['--compare', '99999999w'], "--compare cannot be '99999999w'"],
    [
      'a day to come',
      ['--compare', '2999-01-01'],
      'cannot be compared with 2999-01-01; write an earlier day for --compare',
    ],
    [
      'a tolerance of hours',
      ['--compare', '7d', '--tolerance', '12h'],
      "--tolerance cannot be '12h'; write days",
    ],
    ['a tolerance without a number', ['--compare', '7d', '--tolerance', 'd'], "--tolerance cannot be 'd'"],
    [
      'a tolerance of nothing',
      ['--tolerance', '3d', '--metrics'],
      '--tolerance has no meaning without --period or --compare',
    ],
    ['a date that is none', ['--date', '7d'], "--date cannot be '7d'; write a day such as 2026-01-31"],
    ['a query that was never asked', ['--explain', 'standing desc'], "Did you mean 'standing desk'?"],
    ['a query like no other', ['--explain', 'xyzzy plugh'], 'rankline report acme'],
    [
      'a query of a day before',
      ['--explain', 'lamp', '--date', '2020-01-01'],
      "looked for 'lamp' by 2020-01-01",
    ],
    ['a query and a day', ['--explain', 'lamp', '--compare', '7d'], '--compare has no meaning for --explain'],
    [
      'a query and a format',
      ['--explain', 'lamp', '--format', 'csv'],
      '--format has no meaning for --explain',
    ],
  ])('%s is refused in a sentence, with exit code 2', async (_, args, words) => {
    const { code, stdout, stderr } = await place.call(['report', 'acme', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('a day before the first is told to be too early', async () => {
    const { code, stdout, stderr } = await place.call(['report', 'acme', '--date', '2020-01-01'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('No run of the job acme had started by 2020-01-01')
  })

  test('a span of which nothing is stored names the day in the table', async () => {
    const { stdout } = await place.call(['report', 'acme', '--compare', '4w', '--tolerance', '1d'])
    expect(stdout).toMatch(/, nothing to compare with \(asked for: \d+ \w+ \d{4}, ±1 day\)\.$/m)
  })
})
