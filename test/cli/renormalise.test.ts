import { describe, expect, test } from 'vitest'
import { normaliserVersion } from '../../src/catalog/answers.ts'
import { queriesCsv, type Workspace } from '../support/rankline.ts'
import { madeOnce, stage } from '../support/stage.ts'
import { staged, waitWhile } from './staged.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'
const job = (targets: string) => `depth: 20\ntargets: [${targets}]\nqueries: [oak desk, walnut desk]\n`

/** Two jobs that were run once: `tracked` with four answers, `other` with one. */
async function collected() {
  const staged = await stage({ sites: ['northdesk.example', 'risewell.example'] })
  const { place } = staged
  await place.file('tracked.yaml', job('northdesk.example'))
  await place.file('other.csv', queriesCsv(1))
  expect((await place.call(['run', 'tracked.yaml', 'other.csv'])).code).toBe(0)
  return staged
}

const shown = ({ sql }: Workspace) => [
  sql('SELECT * FROM organic_results ORDER BY task_id, place'),
  sql('SELECT * FROM rankings ORDER BY query, target'),
]

describe('renormalise', () => {
  const world = madeOnce(collected)

  test('derives everything again without a call, and says what came of it', async () => {
    const { place, sandbox } = world()
    const before = shown(place)
    const requests = sandbox.ledger.requests.length
    place.change(
      "UPDATE answers_ SET items = NULL WHERE id < 3; UPDATE observations SET state = 'absent', rank = 99",
    )

    const json = await place.call(['renormalise', '--json'])
    expect(shown(place)).toEqual(before)
    const said = await place.call(['renormalise'])

    const results = before[0]?.length
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(json.stdout)).toEqual({
      ...{ normaliser: normaliserVersion, queries: 3, answers: 5 },
      // Related searches are results, too.
      ...{ results: place.sql<{ n: number }>('SELECT count(*) AS n FROM results')[0]?.n },
      ...{ malformed_items: 0, unreadable_answers: 0, changed_observations: 2, mended_tasks: 0 },
    })
    expect(results).toBe(50)
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout).toMatch(
      /^5 answers derived again by normaliser \d+: \d+ results, no observation changed\. Nothing was spent\.\n$/,
    )
    expect(sandbox.ledger.requests).toHaveLength(requests)
  })

  test('looks at one job, and at what an older normaliser derived, where that is said', async () => {
    const { place } = world()
    const answers = async (...args: readonly string[]) =>
      JSON.parse((await place.call(['renormalise', '--json', ...args])).stdout).answers
    expect(await answers('tracked')).toBe(4)
    expect(await answers('other.csv')).toBe(1)
    place.change('UPDATE answers_ SET normaliser = 1 WHERE id = 1')
    expect(await answers('--outdated')).toBe(1)
    const again = await place.call(['renormalise', '--outdated'])
    expect(again).toMatchObject({ code: 0, stdout: 'Nothing to derive again.\n' })
  })

  test('says that answers cannot be read, and keeps what they said', async () => {
    const { place } = world()
    const before = shown(place)
    place.change("UPDATE raw_answers SET encoding = 'zip' WHERE answer_id = 2")

    const { code, stdout, stderr } = await place.call(['renormalise'])

    expect(code).toBe(0)
    expect(stdout).toContain('4 answers derived again')
    expect(stderr).toContain(
      '1 answer cannot be read; what was derived from them before stays. See: rankline runs 1',
    )
    expect(shown(place)).toEqual(before)

    place.change("UPDATE raw_answers SET encoding = 'zip'")
    expect((await place.call(['renormalise'])).stderr).toContain(
      'stays. They are of the runs 1, 2. See each, as in: rankline runs 2',
    )
  })

  test('gives new targets of a job file their history, without a run', async () => {
    const { place, sandbox } = world()
    const spent = sandbox.ledger.charged
    await place.file('tracked.yaml', job('northdesk.example, risewell.example'))

    const { code, stderr } = await place.call(['renormalise', 'tracked.yaml'])

    expect(code).toBe(0)
    expect(stderr).toContain(
      'tracked: targets are new; 2 stored queries were evaluated again for them, at no cost.',
    )
    expect(place.sql('SELECT run_id, query, target FROM rankings ORDER BY query, target')).toEqual([
      { run_id: 1, query: 'oak desk', target: 'northdesk.example' },
      { run_id: 1, query: 'oak desk', target: 'risewell.example' },
      { run_id: 1, query: 'walnut desk', target: 'northdesk.example' },
      { run_id: 1, query: 'walnut desk', target: 'risewell.example' },
    ])
    expect(sandbox.ledger.charged).toBe(spent)
  })

  test('refuses a job that nobody knows in one sentence', async () => {
    const { place } = world()
    const { code, stdout, stderr } = await place.call(['renormalise', 'trakced'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe(
      "rankline: There is no job 'trakced': no such file, and no job of that name in the database. Did you mean tracked?\n",
    )
  })

  test('tells the mistakes of a job file, and changes nothing', async () => {
    const { place } = world()
    await place.file('tracked.yaml', 'targets: [risewell.example]\nquerys: [a]\n')
    const { code, stdout, stderr } = await place.call(['renormalise', 'tracked.yaml'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^tracked\.yaml:2:1: /)
    expect(place.sql('SELECT DISTINCT target FROM rankings')).toEqual([{ target: 'northdesk.example' }])
  })

  test('waits while another process collects; with --wait 0 it exits 7', async () => {
    const { sandbox, place } = await staged({ latencyMs: 400 })
    const a = await place.file('a.csv', queriesCsv(6))
    const first = place.start(['run', a, '--concurrency', '1'])
    await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)

    const refused = await place.call(['renormalise', '--wait', '0'])
    const waiting = await place.call(['renormalise', '--json'])

    expect(refused).toMatchObject({ code: 7, stdout: '' })
    expect(refused.stderr).toContain(`process ${first.child.pid}`)
    expect(waiting.stderr).toContain('Waiting')
    expect(JSON.parse(waiting.stdout)).toMatchObject({ answers: 6 })
    expect((await first.ended).code).toBe(0)
  })
})
