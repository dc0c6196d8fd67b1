import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { hashText, mix, unit } from '../../src/sandbox/world/hash.ts'
import { isBillable } from '../support/judge.ts'
import { often } from '../support/long.ts'
import { type Started, type Workspace, workspace } from '../support/rankline.ts'
import { seed } from '../support/seed.ts'

const kills = often(60, 5)
const queriesOfAJob = 3

/** A job whose slot of this year has passed: it is due at once, and once. */
async function newJob(place: Workspace, number: number): Promise<void> {
  const queries = Array.from({ length: queriesOfAJob }, (_, index) => `job ${number} query ${index}`)
  await place.file(`job-${number}.yaml`, `schedule: "0 0 1 1 *"\nqueries: [${queries.join(', ')}]\n`)
}

/** Until everything that was due is done. */
async function idle({ child }: Started): Promise<void> {
  let log = ''
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (piece: string) => {
      log += piece
      if (log.includes('Next: ')) resolve()
    })
    child.once('close', () => resolve())
  })
}

test(`${kills} kills of a scheduler, with cron beside it: each slot has its run, and none has two`, async () => {
  await using sandbox = await startSandbox({ latencyMs: [5, 80] })
  await using place = await workspace(sandbox)
  const salt = hashText(`${seed} scheduler`)
  let draws = 0
  const random = (): number => unit(mix(salt, draws++))

  await newJob(place, 0)
  const began = performance.now()
  const undisturbed = place.start(['schedule'])
  await idle(undisturbed)
  const wholeMs = performance.now() - began
  undisturbed.child.kill('SIGTERM')
  expect((await undisturbed.ended).code).toBe(0)

  let interrupted = 0
  for (let kill = 1; kill <= kills; kill++) {
    await newJob(place, kill)
    const scheduler = place.start(['schedule'])
    const cron = random() < 0.5 ? place.start(['run', '--due', '--quiet']) : null
    await new Promise((resolve) => setTimeout(resolve, (0.2 + random()) * wholeMs))
    scheduler.child.kill('SIGKILL')
    await scheduler.ended
    expect(scheduler.child.signalCode).toBe('SIGKILL')
    const done = place.sql(`SELECT 1 FROM runs WHERE job = 'job-${kill}' AND finish_reason = 'completed'`)
    if (done.length === 0) interrupted++
    const end = await cron?.ended
    // Nothing due, another one at work, or done; never a word of trouble.
    if (end !== undefined) expect([end.code, end.stderr], `RANKLINE_TEST_SEED=${seed}`).toEqual([0, ''])
  }
  expect(interrupted).toBeGreaterThan(0)
  const last = place.start(['schedule'])
  await idle(last)
  last.child.kill('SIGTERM')
  expect((await last.ended).code).toBe(0)

  const jobs = Array.from({ length: kills + 1 }, (_, number) => `job-${number}`).sort()
  const slots = place.sql(`SELECT s.job, s.outcome, r.finish_reason AS reason, r.tasks_done AS done
    FROM slots s LEFT JOIN runs r ON r.run_id = s.run_id AND r.job = s.job ORDER BY s.job`)
  const whole = { outcome: 'ran', reason: 'completed', done: queriesOfAJob }
  expect(slots, `RANKLINE_TEST_SEED=${seed}`).toEqual(jobs.map((job) => ({ job, ...whole })))
  expect(place.sql('SELECT count(*) AS n FROM runs')).toEqual([{ n: jobs.length }])
  expect(place.sql('SELECT count(*) AS n FROM answers')).toEqual([{ n: jobs.length * queriesOfAJob }])
  // What a kill left in the air was sent once more; nothing else was sent twice.
  const [{ n: inTheAir } = { n: 0 }] = place.sql<{ n: number }>(
    'SELECT count(*) AS n FROM calls WHERE billed IS NULL',
  )
  expect(sandbox.ledger.requestsFor(isBillable).length).toBeLessThanOrEqual(
    jobs.length * queriesOfAJob + inTheAir,
  )
})
