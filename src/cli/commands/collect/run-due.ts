import { openApp } from '../../../machines/open-app.ts'
import { busyExitCode, RanklineError } from '../../../model/errors.ts'
import { noFile } from '../../../model/job.ts'
import { exitCodes } from '../../../model/run.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import { isScreen, note, type Terminal } from '../../../output/terminal.ts'
import { databasePath } from '../../../run/config.ts'
import { type DueFlags, findDue, planDue } from '../../../run/due-work.ts'
import type { PlanEvents } from '../../../run/job-files.ts'
import { collectorLock, type LockFlags } from '../../../run/lock.ts'
import { openWhatIsStored } from '../../../run/open-stored.ts'
import { outgoing } from '../../../run/outgoing.ts'
import { sendWithoutRun } from '../../../unattended/messages/without-run.ts'
import { planEvents } from '../../progress.ts'
import { type CollectFlags, collectRuns, readCollectFlags } from './collect-runs.ts'
import { withDueJobs } from './job-arguments.ts'
import { type JobFileStarts, reportNotStarted } from './not-started.ts'
import { reportStopOnce, type SaidMistakes, saidBefore, saidInThisProcess } from './repeated-stop.ts'

type DueRunFlags = DueFlags & CollectFlags & LockFlags

/**
 * `rankline run --due`: collects what is due and no more. Under cron it says nothing where nothing is, or where another process
 * collects.
 */
export async function runDue(
  given: Omit<DueRunFlags, 'job'> & { readonly job?: readonly string[] | undefined },
  terminal: Terminal,
): Promise<number> {
  readCollectFlags(given)
  const flags = await withDueJobs(given, terminal)
  try {
    const said = isScreen(terminal) || terminal.event ? saidInThisProcess() : saidBefore(databasePath(flags))
    return await reportNotStarted(flags, terminal, (heard, beginning) =>
      runDueJobs(flags, heard, { ...beginning, said }),
    )
  } catch (error) {
    const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
    if (!isBusy || flags.wait !== undefined) throw error
    return nothing(
      terminal,
      'Another process on this machine is collecting. What is due waits for the next rankline run --due.',
    )
  }
}

interface DueMeans extends JobFileStarts {
  /** Mistakes in files that were said before. */
  readonly said: SaidMistakes
  readonly clock?: Clock
  /** The command that this is a part of; by default, signals interrupt the runs. */
  readonly above?: Parameters<typeof collectRuns>[4]
}

/** Collects what is due of jobs, and no more; answers the exit code. Others are at work undisturbed while nothing is due. */
export async function runDueJobs(
  flags: DueRunFlags,
  terminal: Terminal,
  { begin, refuse, onMistakes, said, clock = systemClock, above }: DueMeans,
): Promise<number> {
  const events = saidOnce(planEvents(terminal, onMistakes), said)
  // Standard input can be read only once.
  if (!flags.job.includes(noFile)) {
    await using store = await openWhatIsStored(flags, 'may be missing')
    const found = await findDue(store, flags, events, clock.wall())
    said.end()
    if (found === null) return 2
    if (!found.isDue) {
      await sendWhatWaits(flags, terminal)
      nothing(terminal, 'Nothing is due.')
      begin(found.sound)
      return found.isLeftOut ? 2 : 0
    }
  }
  using lock = collectorLock({ ...flags, wait: flags.wait ?? '0' }, (line) => note(terminal, line))
  await using app = await openApp(flags, lock, clock)
  const turn = async (): Promise<void> => {
    await lock.acquire()
    await app.store.rejectDamaged()
  }
  const planned = await planDue(app, flags, events, turn, above?.stop.signal)
  if (planned === null) return 2
  const { listed, isLeftOut, refused, stoppedBefore, end } = planned
  begin(listed.map(({ run }) => run.settings.file))
  refuse(refused)
  const collect = (heard: Terminal): Promise<number> => collectRuns(app, listed, flags, heard, above)
  const code =
    listed.length === 0 ? 0 : await reportStopOnce(app.store, listed, stoppedBefore, terminal, collect)
  await end()
  if (listed.length === 0) await sendWhatWaits(flags, terminal)
  if (listed.length === 0 && refused.size === 0) nothing(terminal, 'Nothing is due.')
  if (code !== 0 && code !== 3) return code
  return refused.size > 0 ? exitCodes.budget : isLeftOut ? 2 : code
}

/** Messages that failed are tried again though nothing runs. What is wrong with their channels was said by the run, and cron keeps quiet. */
async function sendWhatWaits(flags: DueRunFlags, terminal: Terminal): Promise<void> {
  const send = sendWithoutRun({
    database: databasePath(flags),
    clock: systemClock,
    outgoing: () => outgoing(flags['allow-http'] === true),
    log: (line) => void nothing(terminal, line),
  })
  await send([])
}

function nothing(terminal: Terminal, line: string): number {
  if (isScreen(terminal)) note(terminal, line)
  return 0
}

/** Files are read twice: before the turn is taken, and in it. Their mistakes are told once, and not again while they stay as they are. */
function saidOnce(events: PlanEvents, said: SaidMistakes): PlanEvents {
  return { ...events, logMistake: (line) => (said.isNew(line) ? events.logMistake(line) : undefined) }
}
