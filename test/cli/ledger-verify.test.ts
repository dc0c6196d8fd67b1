import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, type Workspace, workspace } from '../support/rankline.ts'
import { staged, waitWhile } from './staged.ts'

async function verified(place: Workspace) {
  const { code, stdout, stderr } = await place.call(['ledger', 'verify', '--json'])
  expect(stderr).toBe('')
  const [{ total, spans, unverified }, ...others] = JSON.parse(stdout)
  expect(others).toEqual([])
  const { from: _, until: __, ...numbers } = total ?? {}
  return { code, total: numbers, spans, unverified }
}

const clean = { ambiguous: 0, ambiguous_billed: 0, by_others: 0, not_counted: 0 }
const everything = { before: 0, after: 0 }

/** Spends credits with the same key, as somebody else would. */
async function spendElsewhere(sandbox: Sandbox, calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const response = await fetch(`${sandbox.url}/v1/alpha/search?query=elsewhere`, {
      headers: { 'x-api-key': sandbox.key },
    })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
}

test('after clean runs all that the service counted is billed here, batch by batch', async () => {
  // A batch is 50 calls under this limit, so that the account is read in mid-run.
  const { sandbox, place, job } = await staged({ account: { perMinute: 300 } }, 125)
  expect((await place.call(['run', job])).code).toBe(0)
  // What is bought between them changes the balance, not the count.
  sandbox.control({ topUp: { credits: 70 } })
  expect((await place.call(['run', job])).code).toBe(0)

  expect(sandbox.ledger.charged).toBe(250)
  expect(await verified(place)).toMatchObject({
    code: 0,
    total: { used: 250, billed: 250, ...clean },
    unverified: everything,
  })
  const { code, stdout } = await place.call(['ledger', 'verify'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^sandbox \(key [0-9a-f]{8}\)\nThe service counted 250 credits, and so does this ledger\.\n$/,
  )
})

test('a reading is kept with when it was asked for, for it may be counted at any time from then on', async () => {
  const { place } = await staged({ rules: [{ operation: 'usage', do: { latency: 300 } }] })
  expect((await place.call(['usage'])).code).toBe(0)
  const [reading] = place.sql<{ ms: number }>('SELECT read_at - asked_at AS ms FROM usage_readings')
  expect(reading?.ms).toBeGreaterThanOrEqual(290)
})

test('calls that others make with the same key are told apart, between runs and beside them', async () => {
  const { sandbox, place, job } = await staged({}, 40)
  expect((await place.call(['run', job])).code).toBe(0)
  await spendElsewhere(sandbox, 3)
  sandbox.control({ latencyMs: 100 })
  const ended = place.call(['run', job, '--concurrency', '4'])
  await waitWhile(() => sandbox.ledger.charged < 48)
  await spendElsewhere(sandbox, 4)
  const { code: runCode, stdout } = await ended
  expect(runCode).toBe(0)
  expect(stdout).toContain('4 spent by others')
  expect(stdout).toMatch(
    /^ {2}Another program uses this key: 4 credits .+ UTC are in no call of this database\. Hosts/m,
  )

  const { code, total, spans, unverified } = await verified(place)
  expect(sandbox.ledger.charged).toBe(87)
  expect({ code, total, unverified }).toEqual({
    code: 0,
    total: { ...clean, used: 87, billed: 80, by_others: 7 },
    unverified: everything,
  })
  expect(spans[1]).toMatchObject({ used: 3, billed: 0, by_others: 3 })
})

test('of lost connections it tells how many were charged', async () => {
  const { sandbox, place } = await staged({
    rules: [
      { do: { hangUp: 'after' }, times: 2 },
      { do: { hangUp: 'before' }, times: 1 },
    ],
  })
  const run = await place.call(['run', await place.file('job.csv', queriesCsv(60)), '--json'])
  const { credits } = JSON.parse(run.stdout)

  const lost = sandbox.ledger.requestsFor(({ fault }) => fault === 'hangUp')
  expect(lost.map(({ charged }) => charged).sort()).toEqual([0, 1, 1])
  expect(credits.ambiguous).toBe(3)
  const { code, total } = await verified(place)
  expect({ code, total }).toEqual({
    code: 0,
    total: {
      ...clean,
      used: sandbox.ledger.charged,
      billed: credits.spent,
      ambiguous: 3,
      ambiguous_billed: 2,
    },
  })
})

test('an asynchronous job is billed where its answer is, whatever was read while it went on', async () => {
  const { sandbox, place } = await staged({ asyncMs: 1_500 })
  const job = await place.file(
    'job.yaml',
    'operation: alpha.images\nasync: always\nqueries: [one, two, three]\n',
  )
  const { child, ended } = place.start(['run', job])
  await waitWhile(() => sandbox.ledger.requestsFor(({ path }) => path.includes('/jobs/')).length < 3)
  child.kill('SIGKILL')
  await ended
  expect((await place.call(['usage'])).code).toBe(0)
  expect(await verified(place)).toMatchObject({ code: 0, total: {}, unverified: { before: 0, after: 3 } })

  expect((await place.call(['run', job])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(3)
  const { code, total, spans, unverified } = await verified(place)
  expect({ code, total, unverified }).toEqual({
    code: 0,
    total: { ...clean, used: 3, billed: 3 },
    unverified: everything,
  })
  expect(spans).toHaveLength(1)
})

test.each([
  ['charges', true, 1],
  ['does not charge', false, 0],
])(
  'a 404 is ambiguous, and is known to be billed where the account %s for it',
  async (_, chargeFor404, n) => {
    const { sandbox, place } = await staged({
      account: { chargeFor404 },
      rules: [{ query: 'query 7', do: { status: 404 } }],
    })
    expect((await place.call(['run', await place.file('job.csv', queriesCsv(9))])).code).toBe(3)

    expect(sandbox.ledger.charged).toBe(8 + n)
    const { code, total } = await verified(place)
    expect({ code, total }).toEqual({
      code: 0,
      total: { ...clean, used: 8 + n, billed: 8, ambiguous: 1, ambiguous_billed: n },
    })
  },
)

test('a killed run is not compared until it goes on; then nothing of it is taken for others', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 250 }, 70)
  const { child, ended } = place.start(['run', job, '--concurrency', '8'])
  await waitWhile(() => sandbox.ledger.charged < 40)
  child.kill('SIGKILL')
  await ended
  expect((await place.call(['usage'])).code).toBe(0)
  const before = await verified(place)
  expect(before).toMatchObject({ code: 0, total: {} })
  expect(before.unverified.after).toBeGreaterThanOrEqual(40)

  sandbox.control({ latencyMs: 0 })
  const { stdout } = await place.call(['run', job, '--json'])
  const { credits } = JSON.parse(stdout)
  const { charged } = sandbox.ledger
  expect(await verified(place)).toMatchObject({
    code: 0,
    total: {
      ...clean,
      used: charged,
      billed: 70,
      ambiguous: credits.ambiguous,
      ambiguous_billed: charged - 70,
    },
    unverified: everything,
  })
})

test('a run that goes on after one that was killed says what the books say of the calls in between', async () => {
  // What is in the air when the process dies is charged after the next one has read the account.
  const { sandbox, place, job } = await staged(
    {
      rules: [{ query: 'query 9', times: 1, do: { latency: 60_000 } }],
    },
    9,
  )
  const { child, ended } = place.start(['run', job])
  const isInTheAir = () => sandbox.ledger.requestsFor(({ params }) => params.query === 'query 9').length > 0
  await waitWhile(
    () =>
      sandbox.ledger.charged < 8 || !isInTheAir() || place.sql('SELECT 1 FROM calls WHERE billed').length < 8,
  )
  child.kill('SIGKILL')
  await ended
  const readings = sandbox.ledger.requestsFor(({ operation }) => operation === 'usage').length
  const again = place.call(['run', job, '--json'])
  await waitWhile(
    () => sandbox.ledger.requestsFor(({ operation }) => operation === 'usage').length === readings,
  )
  // As if the service counted late what was in the air.
  await spendElsewhere(sandbox, 1)
  const { credits } = JSON.parse((await again).stdout)

  expect(credits).toMatchObject({ spent: 9, ambiguous: 1, unexplained: 0 })
  const { total } = await verified(place)
  expect(total).toMatchObject({ ambiguous: 1, ambiguous_billed: 1, by_others: 0, not_counted: 0 })
})

test('what the books hold and the service did not count is told, with exit code 3', async () => {
  const { place } = await staged()
  await place.call(['run', await place.file('job.csv', queriesCsv(10))])
  const db = new Database(join(place.folder, 'data/rankline.db'))
  db.exec('UPDATE calls_ SET credits = 5 WHERE id = (SELECT max(id) FROM calls_ WHERE billed = 1)')
  db.close()

  const { code, total } = await verified(place)
  expect({ code, total }).toEqual({ code: 3, total: { ...clean, used: 10, billed: 14, not_counted: 4 } })
  const printed = await place.call(['ledger', 'verify'])
  expect(printed.code).toBe(3)
  expect(printed.stdout).toContain('  4 in this ledger and not counted')
})

test('a new key goes on with the run of a job and its history, and each key has books of its own', async () => {
  const { sandbox, place } = await staged({})
  await using renewed = await startSandbox()
  // Removes the lock of the key.
  await using _ = await workspace(renewed)
  const newKey = { RANKLINE_BASE_URL: renewed.url, RANKLINE_API_KEY: renewed.key }
  const job = (credits: number) =>
    `budget: { max_credits: ${credits} }\ntargets: [acme.com]\nqueries: [a, b, c, d, e]\n`
  await place.file('acme.yaml', job(2))
  expect((await place.call(['run', 'acme.yaml'])).code).toBe(4)
  await place.file('acme.yaml', job(9))

  const ended = await place.call(['run', 'acme.yaml', '--json'], newKey)

  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({ run: 1, tasks: { done: 5 }, credits: { spent: 5 } })
  expect([sandbox.ledger.charged, renewed.ledger.charged]).toEqual([2, 3])
  expect(place.sql("SELECT count(*) AS ranks FROM rankings WHERE job = 'acme'")).toEqual([{ ranks: 5 }])
  const { code, stdout } = await place.call(['ledger', 'verify', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout).map((key: { total: { billed: number } }) => key.total.billed)).toEqual([2, 3])
})
