import { normaliserVersion } from '../../../catalog/answers.ts'
import { type OptionSpecs, switchOption } from '../../../model/option.ts'
import { count } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import { note, statusLine, type Terminal } from '../../../output/terminal.ts'
import { databasePath } from '../../../run/config.ts'
import { backfillAndNotify, type Renormalised, renormalise } from '../../../run/derive.ts'
import { waitForLocks } from '../../../run/lock.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { openStore } from '../../../store/sqlite/open.ts'
import { findJob } from '../../arguments.ts'
import { type Command, type TypedOptions, waitFlags } from '../../flags.ts'

const flags = {
  ...waitFlags,
  outdated: switchOption('Only what an older normaliser derived'),
} satisfies OptionSpecs

export type RenormaliseFlags = TypedOptions<typeof flags> & { readonly job?: string }

export const renormaliseCommand = {
  flags,
  exits: [0, 1, 2, 3, 6, 7],
  docs: 'docs/database.md',
  examples: [
    ['renormalise', 'all jobs'],
    ['renormalise --outdated', 'only what an older version derived'],
  ],
  run: renormaliseAnswers,
} satisfies Command

/** `rankline renormalise`: derives all results again from stored answers; calls nothing. */
export async function renormaliseAnswers(flags: RenormaliseFlags, terminal: Terminal): Promise<number> {
  const database = databasePath(flags)
  const notify = (line: string): void => note(terminal, line)
  using turn = waitForLocks([databaseLock(database)], flags.wait, notify)
  requireDatabase(database)
  await turn.acquire()
  await using store = await openStore(database)
  const named = flags.job === undefined ? null : await findJob(store, { ...flags, job: flags.job }, terminal)
  if (named === null && flags.job !== undefined) return 2
  if (named?.settings) await backfillAndNotify(store, named.settings, null, notify)
  const line = statusLine<Renormalised>(
    terminal,
    systemClock,
    ({ answers, queries }) =>
      `${count(answers, 'answer')} of ${count(queries, 'query', 'queries')} derived again`,
  )
  const which = { unless: flags.outdated === true ? normaliserVersion : null, job: named?.name ?? null }
  const done = await renormalise(store, which, line.show)
  if (which.unless === null) await store.invalidateRankCounts(which.job)
  await store.countRanks(Number.POSITIVE_INFINITY)
  line.end()
  await terminal.write(
    flags.json === true ? `${JSON.stringify(documentOf(done), null, 2)}\n` : `${sentence(done)}\n`,
  )
  if (done.unreadable > 0)
    terminal.log(
      `${count(done.unreadable, 'answer')} cannot be read; what was derived from them before stays. See: rankline runs <run>`,
    )
  return 0
}

function documentOf({
  unreadable,
  unusable,
  malformed,
  repaired: mended,
  failed,
  changed,
  ...counted
}: Renormalised) {
  return {
    normaliser: normaliserVersion,
    ...counted,
    malformed_items: malformed,
    unreadable_answers: unreadable,
    changed_observations: changed,
    mended_tasks: mended,
    ...(unusable === 0 ? {} : { unusable_answers: unusable, failed_tasks: failed }),
  }
}

function sentence({ answers, results, malformed, changed, repaired: mended, failed }: Renormalised): string {
  if (answers + failed === 0) return 'Nothing to derive again.'
  const parts = [
    `${count(answers, 'answer')} derived again by normaliser ${normaliserVersion}: ${count(results, 'result')}`,
    malformed === 0 ? null : count(malformed, 'malformed item'),
    changed === 0 ? 'no observation changed' : `${count(changed, 'observation')} changed`,
    mended === 0 ? null : `${count(mended, 'failed task')} done now`,
    failed === 0 ? null : `${count(failed, 'task')} failed now, because the answer says nothing`,
  ]
  return `${parts.filter((part) => part !== null).join(', ')}. Nothing was spent.`
}
