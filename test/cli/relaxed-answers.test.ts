import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inflated } from '../../src/page/packed.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Ended, type Workspace, workspace } from '../support/rankline.ts'

const job = `targets: [acme.com]
params: { gl: us }
queries: [standing desk, oak desk, desk lamp]
`
const marks = 'see the column echo_mismatch of the view answers'

let sandbox: Sandbox
let place: Workspace
let first: Ended
beforeAll(async () => {
  const answerAs = { q: 'garden chair', gl: 'de' }
  sandbox = await startSandbox({ sites: ['acme.com'], rules: [{ query: 'oak', do: { answerAs } }] })
  place = await workspace(sandbox)
  await place.file('desks.yaml', job)
  first = await place.call(['run', 'desks.yaml'])
})
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

async function said(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.call(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('a service that answers another question than the one asked', () => {
  test('is paid, and the run says how often it did', async () => {
    expect(first.code).toBe(0)
    expect(`${first.stdout}${first.stderr}`).toContain(
      `1 answer repeats a different query than asked; ${marks}`,
    )
    expect(sandbox.ledger.requests.filter(({ fault }) => fault === 'answerAs')).toHaveLength(1)
    expect(sandbox.ledger.charged).toBe(3)
  })

  test('is told of by the list of runs, in words and as JSON', async () => {
    expect(await said('runs', '1')).toContain(`1 answer repeats a different query than asked; ${marks}`)
    expect(JSON.parse(await said('runs', '1', '--json'))).toMatchObject({ mismatched_answers: 1 })
    expect(await said('runs')).toMatch(/suspect\n.* 1\n$/)
  })

  test('leaves what differs beside the answer, and marks the rank that rests on it', () => {
    const [answer] = place.sql<{ said: string }>(
      "SELECT echo_mismatch AS said FROM answers WHERE query = 'oak desk'",
    )
    expect(JSON.parse(answer?.said ?? '')).toEqual({
      q: { asked: 'oak desk', answered: 'garden chair' },
      gl: { asked: 'us', answered: 'de' },
    })
    expect(place.sql('SELECT query FROM rankings WHERE suspect = 1')).toEqual([{ query: 'oak desk' }])
  })

  test('is a reason that an explained query names', async () => {
    const text = (await said('report', 'desks', '--explain', 'oak desk')).replace(/\s+/g, ' ')
    expect(text).toContain('In doubt, for page 1 answered a different query than requested.')
  })

  test('is seen in every form of the report', async () => {
    const table = await said('report', 'desks')
    expect(table).toMatch(/^oak desk .* (?:\d+|>\d+)!/m)
    expect(table).toContain('!: suspect')
    const rows = JSON.parse(await said('report', 'desks', '--format', 'json')) as { suspect: boolean }[]
    expect(rows.map(({ suspect }) => suspect).sort()).toEqual([false, false, true])
    expect(await said('report', 'desks', '--format', 'csv')).toMatch(/,best_date,suspect,/)
    expect(await said('report', 'desks', '--format', 'md')).toContain(
      'a different query than requested: 1 observation',
    )
    const [, data = ''] =
      (await said('report', 'desks', '--format', 'html')).match(/id="page-data"[^>]*>(.*?)<\/script>/s) ?? []
    expect(await inflated(data)).toContain('"mismatched":1')
    expect(JSON.parse(await said('report', 'desks', '--metrics', '--format', 'json'))).toMatchObject({
      suspect_observations: 1,
    })
  })
})

describe('with strict_echo its answers are no look at the ranks', () => {
  test.each([
    ['in the file', `strict_echo: true\n${job}`, []],
    ['as a flag', job, ['--strict-echo']],
    ['as a flag over the file', `strict_echo: false\n${job}`, ['--strict-echo']],
  ])('%s', async (where, text, flags) => {
    const name = where.replaceAll(' ', '-')
    await place.file(`${name}.yaml`, text)
    expect(await place.call(['run', `${name}.yaml`, ...flags, '--json'])).toMatchObject({ code: 0 })
    const states = place.sql(
      `SELECT query, state = 'unknown' AS unknown, suspect FROM rankings WHERE job = '${name}' ORDER BY query`,
    )
    expect(states).toEqual([
      { query: 'desk lamp', unknown: 0, suspect: 0 },
      { query: 'oak desk', unknown: 1, suspect: 1 },
      { query: 'standing desk', unknown: 0, suspect: 0 },
    ])
    const why = (await said('report', name, '--explain', 'oak desk')).replace(/\s+/g, ' ')
    expect(why).toContain('no page that was fetched, but page 1 answered a different query than requested.')
  })

  test('anything but true or false is a mistake with its place', async () => {
    await place.file('wrong.yaml', `strict_echo: yes\n${job}`)
    expect(await place.call(['run', 'wrong.yaml'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "wrong.yaml:1:14: strict_echo cannot be 'yes'; write one of true, false\n",
    })
  })
})
