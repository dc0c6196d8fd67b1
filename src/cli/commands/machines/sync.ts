import { keptAnswers, neededQueue, syncDatabase } from '../../../machines/queue.ts'
import { UsageError } from '../../../model/errors.ts'
import { type OptionSpecs, textOption } from '../../../model/option.ts'
import { count, parseDuration } from '../../../model/text.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { databasePath, makeDefaultFolder, ownKeyHash } from '../../../run/config.ts'
import { waitForLocks } from '../../../run/lock.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { type Command, logFlags, queueFlags, type TypedOptions, waitFlags } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'

const flags = {
  ...queueFlags,
  ...waitFlags,
  'keep-answers': textOption('Answers stay in the queue for so long, for databases that come later [90d]'),
  'forget-readers': textOption(
    'Databases that were not synced for so long keep no answers in the queue [30d]',
  ),
  ...logFlags,
} satisfies OptionSpecs

type SyncFlags = TypedOptions<typeof flags>

export const syncCommand = {
  flags,
  exits: [0, 1, 2, 6, 7, 130, 143],
  docs: 'docs/many-machines.md',
  examples: [
    ['sync --queue postgres://queue.example/rankline?sslmode=verify-full', 'before reports, by cron'],
  ],
  run: sync,
} satisfies Command

/** `rankline sync`: brings runs, calls and answers of all machines into this database. */
export async function sync(flags: SyncFlags, terminal: Terminal): Promise<number> {
  const url = neededQueue(flags)
  const keepMs = timeOf('--keep-answers', flags.keepAnswers) ?? keptAnswers.keepMs
  const forgetAfterMs = timeOf('--forget-readers', flags.forgetReaders) ?? keptAnswers.forgetAfterMs
  const database = databasePath(flags)
  makeDefaultFolder(database)
  const notice = (line: string): void => note(terminal, line)
  using lock = waitForLocks([databaseLock(database)], flags.wait, notice)
  await lock.acquire()
  using interrupts = listenForInterrupts(terminal)
  const { signal } = interrupts.stop
  const ownKey = ownKeyHash(flags)
  const came = await syncDatabase({ url, database, keepMs, forgetAfterMs, ownKey, notice, signal })
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ database, ...came }, null, 2)}\n`
      : `Synced: ${count(came.runs, 'run')}, ${count(came.calls, 'call')}, ${count(came.answers, 'answer')}, ${count(came.tasks, 'task')} that ended.\n`,
  )
  return signal.aborted ? interrupts.exitCode() : 0
}

function timeOf(flag: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : parseDuration(text, 'smhd')
  if (ms !== null) return ms
  throw new UsageError(`${flag} cannot be '${text}'; write a time such as 30d`)
}
