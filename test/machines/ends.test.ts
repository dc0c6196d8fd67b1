import { expect, test } from 'vitest'
import { finishOnMachines, noteEnds } from '../../src/machines/coordinate.ts'
import { CoordinationLost, JournalUnreachable } from '../../src/machines/journal.ts'
import { syncJournal } from '../../src/machines/sync.ts'
import type { FinishReason, Run } from '../../src/model/run.ts'
import { systemClock } from '../../src/model/time.ts'
import { aStore, noon } from '../store/build.ts'
import { aJournal, aKey, aSharedRun, coordinator, planned } from './postgres/journal.ts'

/** Runs of one job that are under way in a journal, and a database that has them. */
async function runsOfOneJob(count: number) {
  const journal = await aJournal()
  const keyHash = aKey()
  const shared = Array.from({ length: count }, () => aSharedRun({ keyHash }))
  for (const run of shared) await planned(journal, run)
  const { store } = await aStore()
  await syncJournal({ journal, store, clock: systemClock, name: 'here', ownKey: keyHash })
  const runHere = async (index: number): Promise<Run> => {
    const known = await store.localRun(shared[index]?.id as string)
    return (await store.run(known?.runId as number)) as Run
  }
  const finishHere = async (index: number, reason: FinishReason = 'completed'): Promise<void> =>
    store.finishRun((await runHere(index)).id, reason, noon, 5)
  const ends = () =>
    journal.sql(
      `SELECT finish_reason AS reason, finished_at::float8 AS at, closed_at::float8 AS closed FROM rankline.runs ORDER BY array_position($1::uuid[], id)`,
      shared.map(({ id }) => id),
    )
  return { journal, keyHash, shared, store, runHere, finishHere, ends }
}

test('an end of which the queue was not told, and a close, are told when the job runs next, save for a run that goes on', async () => {
  const { journal, keyHash, shared, store, runHere, finishHere, ends } = await runsOfOneJob(5)
  const [, goesOnElsewhere] = shared
  for (const index of [0, 1, 2]) await finishHere(index)
  await store.closeRun((await runHere(3)).id, noon)
  await journal.plans.publish(coordinator, goesOnElsewhere as (typeof shared)[0], async function* () {})

  await noteEnds({ store, journal, coordinator, keyHash }, [await runHere(2)])

  const none = { reason: null, at: null, closed: null }
  const completed = { reason: 'completed', at: noon, closed: null }
  expect(await ends()).toEqual([completed, none, none, { ...none, closed: noon }, none])
})

test('a run that is through ends well where the queue cannot be told; one that is to go on ends with what is wrong', async () => {
  const { store, journal, runHere, finishHere } = await runsOfOneJob(2)
  await finishHere(0)
  await finishHere(1, 'balance')
  const told: string[] = []
  const finish = async (index: number, error: Error) => {
    const plans = { ...journal.plans, finish: () => Promise.reject(error) }
    const notify = (line: string) => void told.push(line)
    const options = { store, journal: { ...journal, plans }, coordinator, notify }
    await finishOnMachines(options, [await runHere(index)], noon)
  }
  const away = new JournalUnreachable('connection refused')

  await finish(0, away)
  await expect(finish(1, away)).rejects.toThrow(away)
  const lost = new CoordinationLost('another process has it')
  await expect(finish(0, lost)).rejects.toThrow(lost)

  expect(told).toEqual([
    'The queue could not be reached (connection refused) to tell other hosts that the run has ended here. The next run of the job tells them.',
  ])
})
