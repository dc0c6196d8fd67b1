import { accountStop } from '../../../collect/account.ts'
import { UsageUnavailable } from '../../../collect/stop.ts'
import { quotaLeft, quotaUsage } from '../../../ledger/quotas.ts'
import { RanklineError } from '../../../model/errors.ts'
import { exitCodes, isStoppedFromOutside, type StopCause } from '../../../model/run.ts'
import type { Clock } from '../../../model/time.ts'
import type { Terminal } from '../../../output/terminal.ts'
import { connectFreely } from '../../../run/app.ts'
import { forgetEnvFile } from '../../../run/config.ts'
import { openWhatIsStored } from '../../../run/open-stored.ts'
import { accountOf } from '../../../run/plan-jobs.ts'
import type { LastValidJob } from '../../../unattended/scheduler/job-files.ts'
import type { CheckResult, CollectDue } from '../../../unattended/scheduler/scheduler.ts'
import { reportNotStarted } from './not-started.ts'
import { type SaidMistakes, saidInThisProcess } from './repeated-stop.ts'
import { runDueJobs } from './run-due.ts'
import type { ScheduleFlags } from './schedule-flags.ts'

/**
 * Collects what is due of a scheduler's jobs, as `rankline run --due` does; never waits for another process.
 *
 * @param said mistakes that were logged as the files were read
 */
export function dueCollector(
  flags: ScheduleFlags,
  terminal: Terminal,
  clock: Clock,
  said: SaidMistakes = saidInThisProcess(),
): CollectDue {
  const reported = new Set<string>()
  const reportedPings = new Set<string>()
  return async (jobs, stop, isTrial) => {
    forgetEnvFile()
    const request = {
      ...flags,
      json: false,
      job: jobs.map(({ path }) => path),
      texts: textsOf(jobs),
      'skip-bad': true,
    }
    const above = { stop, reported, reportedPings, isTrial, exitCode: () => exitCodes.interrupted }
    await reportNotStarted(
      request,
      terminal,
      (heard, beginning) => runDueJobs(request, heard, { ...beginning, said, clock, above }),
      clock,
    )
    return await endsOf(flags, jobs, stop.cause())
  }
}

/** Asks for the usage record, which is free, whether the service takes calls with the key, and balance and quotas cover one. */
export function usageProbe(flags: ScheduleFlags, clock: Clock): () => Promise<boolean> {
  return async () => {
    forgetEnvFile()
    try {
      await using app = await connectFreely(flags, { stored: 'not-read' }, clock)
      const account = await accountOf(app)
      if (account instanceof UsageUnavailable || accountStop(account, account.at) !== null) return false
      const quotas = await quotaUsage(app.store, app.keyHash, account, clock.wall())
      return (account.remaining ?? 0) > 0 && quotaLeft(quotas) > 0
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      return false
    }
  }
}

/** What broken files said when they last had no mistakes. */
function textsOf(jobs: readonly LastValidJob[]): ReadonlyMap<string, Buffer> {
  return new Map(jobs.flatMap(({ path, text, isBroken }) => (isBroken ? [[path, text] as const] : [])))
}

async function endsOf(
  flags: ScheduleFlags,
  jobs: readonly LastValidJob[],
  cause: StopCause | null,
): Promise<ReadonlyMap<string, CheckResult>> {
  await using store = await openWhatIsStored(flags, 'may be missing')
  const ends = new Map<string, CheckResult>()
  for (const { settings } of jobs) {
    const run = await store.latestRun(settings.name)
    const { id = null, finishReason = null, finishedAt = null } = run ?? {}
    const retry = !isStoppedFromOutside(finishReason) ? null : cause?.source === 'answers' ? 'paid' : 'free'
    ends.set(settings.name, { run: id, finishReason, finishedAt, retry })
  }
  return ends
}
