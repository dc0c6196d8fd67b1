import { normaliserVersion } from '../catalog/understand.ts'
import { databasePath, type SettingFlags } from '../config.ts'
import { systemClock } from '../model/clock.ts'
import { type Renormalised, renormalise } from '../run/renormalise.ts'
import { refuseMissing } from '../store/sqlite/inspect.ts'
import { databaseLock } from '../store/sqlite/lock.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { namedJob } from './choices.ts'
import { waitForTurns } from './collector-lock.ts'
import { observeThePast } from './new-targets.ts'
import { display } from './progress.ts'

export interface RenormaliseFlags extends SettingFlags {
  readonly job?: string
  readonly outdated?: boolean
  readonly wait?: string
  readonly json?: boolean
}

/** `rankline renormalise`: derives all results again from stored answers; calls nothing. */
export async function renormaliseAnswers(flags: RenormaliseFlags, terminal: Terminal): Promise<number> {
  const database = databasePath(flags)
  using turn = waitForTurns([databaseLock(database)], flags.wait, terminal)
  refuseMissing(database)
  await turn.acquire()
  await using store = await openStore(database)
  const named = flags.job === undefined ? null : await namedJob(store, { ...flags, job: flags.job }, terminal)
  if (named === null && flags.job !== undefined) return 2
  if (named?.settings) await observeThePast(store, named.settings, null, terminal)
  const line = display<Renormalised>(
    terminal,
    systemClock,
    ({ answers, queries }) =>
      `${count(answers, 'answer')} of ${count(queries, 'query', 'queries')} derived again`,
  )
  const which = { unless: flags.outdated === true ? normaliserVersion : null, job: named?.name ?? null }
  const done = await renormalise(store, which, line.show)
  if (which.unless === null) await store.forgetRankCounts(which.job)
  await store.countRanks(Number.POSITIVE_INFINITY)
  line.end()
  await terminal.out(
    flags.json === true ? `${JSON.stringify(documentOf(done), null, 2)}\n` : `${sentence(done)}\n`,
  )
  if (done.unreadable > 0)
    terminal.say(
      `${count(done.unreadable, 'answer')} cannot be read; what was derived from them before stays. See: rankline runs <run>`,
    )
  return 0
}

function documentOf({ unreadable, malformed, mended, changed, ...counted }: Renormalised) {
  return {
    normaliser: normaliserVersion,
    ...counted,
    malformed_items: malformed,
    unreadable_answers: unreadable,
    changed_observations: changed,
    mended_tasks: mended,
  }
}

function sentence({ answers, results, malformed, changed, mended }: Renormalised): string {
  if (answers === 0) return 'Nothing to derive again.'
  const parts = [
    `${count(answers, 'answer')} derived again by normaliser ${normaliserVersion}: ${count(results, 'result')}`,
    malformed === 0 ? null : count(malformed, 'malformed item'),
    changed === 0 ? 'no observation changed' : `${count(changed, 'observation')} changed`,
    mended === 0 ? null : `${count(mended, 'failed task')} done now`,
  ]
  return `${parts.filter((part) => part !== null).join(', ')}. Nothing was spent.`
}
