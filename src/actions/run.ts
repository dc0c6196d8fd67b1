import { type JobSettings, noFile } from '../model/job.ts'
import type { Run } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { askToBuyAgain, sayBoughtAgain } from './buying-again.ts'
import { type CollectFlags, collectRuns, type Listed, readCollectFlags } from './collecting.ts'
import { collectorLock, type LockFlags } from './collector-lock.ts'
import { beginDesk } from './desk.ts'
import { areLeftOut, type JobFileFlags, stageJobs } from './job-files.ts'
import { observeThePast } from './new-targets.ts'
import { type PlanFlags, type Plotted, plan, plot } from './plan.ts'
import { keepHeapSmall } from './small-heap.ts'
import { type Connection, connect } from './wire.ts'

export interface RunFlags extends PlanFlags, CollectFlags, LockFlags {
  readonly 'dry-run'?: boolean
}

/** `rankline run`: collects jobs, or goes on with what an earlier command did not finish. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags['dry-run'] === true) return await plan(flags, terminal)
  readCollectFlags(flags)
  keepHeapSmall()
  using lock = collectorLock(flags, terminal)
  await using connection = await connect(flags, lock)
  await using desk = beginDesk()
  const turn = async (): Promise<void> => {
    await lock.acquire()
    await connection.store.refuseDamage()
  }
  const listed = await planRuns(connection, flags, terminal, turn)
  if (listed === null) return 2
  const code = await collectRuns(connection, listed, flags, terminal, desk.open)
  return areLeftOut(flags, listed) && (code === 0 || code === 3) ? 2 : code
}

/** Plans jobs into the store when it is this process's turn; null after mistakes in their files, which were told. */
export async function planRuns(
  { store, clock }: Pick<Connection, 'store' | 'clock'>,
  flags: JobFileFlags & { readonly fresh?: boolean },
  terminal: Terminal,
  turn: () => Promise<void>,
): Promise<readonly Listed[] | null> {
  await using draft = await store.draft()
  const jobs = await stageJobs(flags, draft, store, terminal)
  if (jobs === null) return null
  const fresh = flags.fresh === true
  // The user is asked before the turn is taken: others need not wait for the answer.
  const wanted = fresh ? [] : await plot(store, jobs, { fresh, change: false }, clock.wall())
  const told = await askToBuyAgain(store, draft, wanted, terminal)
  await turn()
  const plotted = await plot(store, jobs, { fresh, change: true }, clock.wall())
  if (!fresh) await sayBoughtAgain(store, draft, plotted, told, terminal)
  for (const { job } of plotted) await nameJob(store, job.settings)
  const planned = plotted.filter(({ course }) => course.do !== 'show').map((one) => one.planned)
  // What a dead process left in the air must not outlive an edited file.
  await store.recover(
    planned.flatMap(({ continues }) => continues ?? []),
    clock.wall(),
  )
  const runs = await draft.commit(planned, clock.wall())
  for (const { id, settings } of runs) await observeThePast(store, settings, id, terminal)
  return await inOrder(store, plotted, runs)
}

/** What comes through standard input does not take a name from a file. */
async function nameJob(store: Store, { name, file }: JobSettings): Promise<void> {
  if (file !== noFile || (await store.jobFile(name)) === null) await store.nameJob(name, file)
}

/** Runs in the order of the jobs: those just planned, and those that are only shown again. */
async function inOrder(
  store: Store,
  plotted: readonly Plotted[],
  planned: readonly Run[],
): Promise<readonly Listed[]> {
  const left = [...planned]
  const listed: Listed[] = []
  for (const { course } of plotted) {
    if (course.do === 'show') {
      listed.push({ run: (await store.run(course.run.id)) as Run, show: 'as-stored' })
      continue
    }
    const run = left.shift()
    if (run !== undefined) listed.push({ run, show: 'collect' })
  }
  return listed
}
