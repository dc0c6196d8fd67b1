import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import type { DiffDocument } from '../../src/report/diff/serp-diff.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

const sites = ['acme.com', 'rival.com']
const jobFile = `name: acme
pages: 3
matrix: { gl: [us, gb] }
operation: [alpha.search, alpha.news]
targets: [acme.com]
competitors: [rival.com]
queries: [standing desk, lamp]
`
const today = new Date().toISOString().slice(0, 10)
const ago = (days: number): string => addDays(today, -days)

let sandbox: Sandbox
let place: Workspace

/** Runs the job with the results of a day so far back, and moves the run there. */
async function ran(days: number, rules: Parameters<Sandbox['control']>[0]['rules'] = []): Promise<void> {
  sandbox.control({ date: ago(days), rules })
  const { code } = await place.call(['run', 'acme.yaml', '--fresh'])
  expect(code).toBe(rules.length === 0 ? 0 : 3)
  place.change(`UPDATE runs_ SET date = '${ago(days)}' WHERE id = (SELECT max(id) FROM runs_)`)
}

async function documents(...flags: readonly string[]): Promise<readonly DiffDocument[]> {
  const { code, stdout, stderr } = await place.call(['diff', 'acme', '--json', ...flags])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const one = ['--query', 'standing desk', '--operation', 'alpha.search', '-p', 'gl=us']

beforeAll(async () => {
  sandbox = await startSandbox({ sites })
  place = await workspace(sandbox)
  await place.file('acme.yaml', jobFile)
  await ran(9)
  await ran(2)
  await ran(1, [{ query: 'lamp', operation: 'alpha.search', after: 2, do: { status: 400 } }])
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

interface Stored {
  readonly rank: number
  readonly link: string
}

const stored = (run: number, most = 1000) =>
  place.sql<Stored>(
    `SELECT min(rank) AS rank, link FROM organic_results WHERE run_id = ${run} AND query = 'standing desk' AND gl = 'us'
    GROUP BY link HAVING min(rank) <= ${most} ORDER BY 1`,
  )
const links = (rows: readonly { readonly link: string | null }[]) => rows.map(({ link }) => link)

test('of a query, who came, went and moved is what the stored results of both days say', async () => {
  const [diff, ...more] = await documents(...one)
  expect(more).toEqual([])
  const [before, after] = [stored(2), stored(3)]
  const most = Math.min(before.length, after.length)
  expect(diff).toMatchObject({
    job: 'acme',
    query: 'standing desk',
    operation: 'alpha.search',
    params: { gl: 'us' },
    from: { run_id: 2, date: ago(2), depth: before.length, unbroken_depth: before.length, missed: [] },
    to: { run_id: 3, date: ago(1), depth: after.length },
    compared_depth: most,
  })
  expect(links(diff?.entered ?? [])).toEqual(
    links(after.filter(({ rank, link }) => rank <= most && !links(before).includes(link))),
  )
  expect(links(diff?.left ?? [])).toEqual(
    links(before.filter(({ rank, link }) => rank <= most && !links(after).includes(link))),
  )
  const ranks = new Map(before.map(({ rank, link }) => [link, rank]))
  expect(
    diff?.moved.map(({ link, previous_rank, rank, change }) => [link, previous_rank, rank, change]),
  ).toEqual(
    after.flatMap(({ link, rank }) => {
      const old = ranks.get(link)
      return old === undefined || old === rank ? [] : [[link, old, rank, old - rank]]
    }),
  )
  expect(diff?.moved.length).toBeGreaterThan(0)
  const whose = [...(diff?.entered ?? []), ...(diff?.left ?? []), ...(diff?.moved ?? [])]
  for (const { link, targets } of whose) {
    const site = sites.find((site) =>
      new RegExp(`^https://([a-z]+\\.)?${site.replace('.', '\\.')}/`).test(link ?? ''),
    )
    expect(targets).toEqual(site === undefined ? [] : [{ target: site, own: site === 'acme.com' }])
  }
})

test('the same text asked with several params and operations is as many diffs', async () => {
  const asked = (await documents('--query', 'standing desk')).map(
    ({ query, operation, params }) => `${query} ${operation} ${params.gl}`,
  )
  expect(asked).toEqual([
    'standing desk alpha.news gb',
    'standing desk alpha.news us',
    'standing desk alpha.search gb',
    'standing desk alpha.search us',
  ])
  expect(await documents('--query', 'standing desk', '-p', 'gl=us')).toHaveLength(2)
  const { stdout } = await place.call(['diff', 'acme', '--query', 'standing desk'])
  expect(stdout.match(/^"standing desk" {2}alpha\.\w+ {2}gl=\w\w$/gm)).toHaveLength(4)
})

test('without a query there is a line for each, what changed most first, and all documents as JSON', async () => {
  const all = await documents()
  expect(all).toHaveLength(8)
  const turnovers = all.map(({ turnover_top10: turnover }) => turnover ?? -1)
  expect(turnovers).toEqual(turnovers.toSorted((a, b) => b - a))
  expect(all).toContainEqual((await documents(...one))[0])
  const { stdout, stderr } = await place.call(['diff', 'acme', '--out', 'diff.txt'])
  expect({ stdout, stderr }).toEqual({
    stdout: '',
    stderr: expect.stringMatching(/^Written: diff.txt, [\d.]+ (bytes|kB)\n$/),
  })
  const lines = (await place.read('diff.txt')).split('\n')
  expect(lines.slice(1, 9).map((line) => line.split(/ {2,}/).slice(0, 3).join(' '))).toEqual(
    all.map(({ query, operation, params }) => `${query} ${operation} gl=${params.gl}`),
  )
  expect(lines).toContain('2 queries lack pages on one of the days; --query says which.')
})

test('a failed page is unknown, and says so: below it nothing came or went', async () => {
  for (const diff of await documents('--query', 'lamp', '--operation', 'alpha.search')) {
    expect(diff.to).toMatchObject({ run_id: 3, missed: [expect.stringContaining('page 2 failed')] })
    expect(diff.compared_depth).toBe(diff.to?.unbroken_depth)
    expect(diff.from?.not_compared).toBeGreaterThan(0)
    for (const { rank } of [...diff.entered, ...diff.left])
      expect(rank).toBeLessThanOrEqual(diff.compared_depth ?? 0)
  }
  const { stdout } = await place.call(['diff', 'acme', '--query', 'lamp', '--operation', 'alpha.search'])
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d: page 2 failed \(.*\); checked without a gap: \d+ results\.$/m)
})

test('any two days are compared, to any depth', async () => {
  const days = async (...flags: readonly string[]) => {
    const [diff] = await documents(...one, ...flags)
    return [diff?.from?.date ?? null, diff?.to?.date ?? null]
  }
  expect(await days('--compare', '7d')).toEqual([ago(9), ago(1)])
  expect(await days('--compare', ago(10))).toEqual([ago(9), ago(1)])
  expect(await days('--date', ago(2))).toEqual([ago(9), ago(2)])
  expect(await days('--date', ago(2), '--compare', '1d', '--tolerance', '1d')).toEqual([null, ago(2)])
  expect(await days('--date', ago(9))).toEqual([null, ago(9)])
  const [diff] = await documents(...one, '--depth', '5')
  expect(diff).toMatchObject({ compared_depth: 5 })
  for (const { rank, previous_rank: before } of diff?.moved ?? [])
    expect(Math.min(rank, before)).toBeLessThanOrEqual(5)
  for (const { rank } of [...(diff?.entered ?? []), ...(diff?.left ?? [])])
    expect(rank).toBeLessThanOrEqual(5)
})

test('a file may name the job; its targets are marked, and nothing is written', async () => {
  const watched = () => place.sql('SELECT count(*) AS n FROM run_targets')
  const before = watched()
  await place.file('other.yaml', jobFile.replace('[acme.com]', '[{ site: acme.com, label: Us }]'))
  const { stdout } = await place.call(['diff', 'other.yaml', ...one, '--compare', '7d', '--json'])
  const [diff] = JSON.parse(stdout) as readonly DiffDocument[]
  const labels = [...(diff?.entered ?? []), ...(diff?.left ?? []), ...(diff?.moved ?? [])].flatMap(
    ({ targets }) => targets.map(({ target }) => target),
  )
  expect(labels).not.toContain('acme.com')
  expect(watched()).toEqual(before)
})

test('a terminal without Unicode gets the signs that it has', async () => {
  const plain = await place.call(['diff', 'acme', ...one, '--compare', '7d'])
  const ascii = await place.call(['diff', 'acme', ...one, '--compare', '7d'], { LC_ALL: 'C' })
  expect(plain.stdout).toMatch(/[▲▼] \d/)
  expect(ascii.stdout).toBe(plain.stdout.replaceAll('▲', '+').replaceAll('▼', '-'))
})

test('a target that has its history from what is stored is named once', async () => {
  const again = '[rival.com, { site: rival.com, match: prefix, label: Again }]'
  await place.file('again.yaml', jobFile.replace('[rival.com]', again))
  const { stderr } = await place.call(['report', 'again.yaml'])
  expect(stderr).toContain('targets are new')
  const named = async (job: string) => {
    const { stdout } = await place.call(['diff', job, '--compare', '7d', '--json'])
    // Of all queries: on some days a target moves in none of the results of one of them.
    const all = (JSON.parse(stdout) as readonly DiffDocument[]).flatMap(({ entered, left, moved }) => [
      ...entered,
      ...left,
      ...moved,
    ])
    const lists = all.map(({ targets }) => targets.map(({ target }) => target))
    return [...new Set(lists.map((list) => list.join()))].sort()
  }
  expect(await named('again.yaml')).toEqual(['', 'acme.com', 'rival.com,Again'])
  expect(await named('acme')).toEqual(['', 'acme.com', 'rival.com'])
})

describe('asking for', () => {
  testTable<[string, readonly string[], string]>([
    ['a query that was never asked', ['--query', 'standing desc'], "Did you mean 'standing desk'?"],
    ['an operation that is none', ['--operation', 'alpha.serch'], "There is no operation 'alpha.serch'"],
    [
      'another operation',
      ['--query', 'lamp', '--operation', 'beta.search'],
      "asks for 'lamp' otherwise: alpha.news gl=gb, alpha.news gl=us, alpha.search gl=gb, alpha.search gl=us",
    ],
    ['another place', ['-p', 'gl=de'], 'asks for nothing such, but: alpha.'],
    ['a parameter without a value', ['-p', 'gl'], "-p cannot be 'gl'; write name=value"],
    ['no depth', ['--depth', '0'], "--depth cannot be '0'; write a whole number from 1 up"],
    ['a day that is none', ['--date', '2026-02-30'], "--date cannot be '2026-02-30'"],
    ['a day to come', ['--compare', '2999-01-01'], "--compare cannot be '2999-01-01'; write a day before 2"],
    ['a tolerance of nothing', ['--tolerance', '3d'], '--tolerance has no meaning without --compare'],
    ['a flag of another command', ['--format', 'csv'], 'rankline diff takes no --format'],
    ['the earlier day by another name', ['--from', '2026-01-01'], 'rankline diff takes no --from'],
  ])('%s is refused in a sentence, with exit code 2', async (_, args, words) => {
    const { code, stdout, stderr } = await place.call(['diff', 'acme', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('a job that nobody knows is refused with the nearest', async () => {
    const { code, stderr } = await place.call(['diff', 'acmee'])
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean acme?') })
  })

  test('a day before the first is told to be too early', async () => {
    const { code, stdout, stderr } = await place.call(['diff', 'acme', '--date', '2020-01-01', '--json'])
    expect({ code, stdout: JSON.parse(stdout) }).toEqual({ code: 0, stdout: [] })
    expect(stderr).toContain('No run of the job acme had started by 2020-01-01')
  })
})
