import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { tryLock } from '../../src/store/sqlite/connection/lock.ts'
import { isBillable } from '../support/judge.ts'
import { queriesCsv, type Started, type Workspace, workspace } from '../support/rankline.ts'
import { jobsAsked, moment, spokenOrEnded } from '../support/turns.ts'

const processes = 20
const queriesOfAJob = 8

const names = Array.from({ length: processes }, (_, index) => `job${index + 1}`)

/** One process for each job, all at once; the word before the number of a query names its job. */
async function crowd(place: Workspace, flags: readonly string[]): Promise<readonly Started[]> {
  for (const name of names) await place.file(`${name}.csv`, queriesCsv(queriesOfAJob, name))
  return names.map((name) => place.start(['run', `${name}.csv`, ...flags]))
}

/** Which job the requests came from, in their order, each name once for as long as it went on. */
function turns({ ledger }: Sandbox): readonly string[] {
  return jobsAsked(ledger).filter((name, index, all) => name !== all[index - 1])
}

test(`of ${processes} processes with --wait 0 one collects; the others exit 7 and have sent nothing`, async () => {
  // Slow, so that the one that collects is there until all others have looked; then no longer.
  await using sandbox = await startSandbox({ latencyMs: 2_000 })
  await using place = await workspace(sandbox)
  const all = await crowd(place, ['--wait', '0', '--concurrency', '1'])
  let left = processes
  const codes = Promise.all(all.map(({ ended }) => ended.finally(() => left--)))
  while (left > 1) await moment()
  sandbox.control({ latencyMs: 0 })

  const ended = await codes

  const winners = names.filter((_, index) => ended[index]?.code === 0)
  expect(winners).toHaveLength(1)
  for (const { code, stdout, stderr } of ended.filter((one) => one.code !== 0)) {
    const busy = expect.stringContaining('Another process on this machine is collecting')
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: '', stderr: busy })
  }
  expect(turns(sandbox)).toEqual(winners)
  expect(place.sql('SELECT job, finish_reason FROM runs')).toEqual([
    { job: winners[0], finish_reason: 'completed' },
  ])
})

test(`${processes} processes that wait collect in turn, keep the rate together, and buy each query once`, async () => {
  await using sandbox = await startSandbox({ account: { perSecond: 20 }, latencyMs: [5, 30] })
  await using place = await workspace(sandbox)
  // Nobody begins until all are there: what they took from the database when they started is old by then.
  const turn = tryLock(join(place.folder, 'data/rankline.db.lock'))
  const all = await crowd(place, [])
  await Promise.all(all.map(spokenOrEnded))
  turn?.release()

  const ended = await Promise.all(all.map((one) => one.ended))

  expect(ended.filter(({ code }) => code !== 0)).toEqual([])
  expect(sandbox.ledger.refusals).toBe(0)
  expect([...turns(sandbox)].sort()).toEqual([...names].sort())
  const queries = names.flatMap((name) => queriesCsv(queriesOfAJob, name).trim().split('\n').slice(1))
  const bought = sandbox.ledger.requestsFor(isBillable).map(({ params }) => String(params.query))
  expect(bought.sort()).toEqual(queries.sort())
  expect(sandbox.ledger.charged).toBe(queries.length)
  expect(place.sql("SELECT count(*) AS n FROM runs WHERE finish_reason = 'completed'")).toEqual([
    { n: processes },
  ])
  expect(place.sql('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
})
