import { forgetEnvFile } from '../../../app/config.ts'
import { openWhatIsStored } from '../../../app/connect/open-stored.ts'
import type { JobForm } from '../../../app/scheduler/job-files.ts'
import type { CollectDue, JobEnd } from '../../../app/scheduler/scheduler.ts'
import { exitCodes } from '../../../model/run.ts'
import type { Clock } from '../../../model/time.ts'
import type { Terminal } from '../../../output/terminal.ts'
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
  return async (forms, stop) => {
    forgetEnvFile()
    const request = {
      ...flags,
      json: false,
      job: forms.map(({ path }) => path),
      texts: textsOf(forms),
      'skip-bad': true,
    }
    const above = { stop, reported, reportedPings, exitCode: () => exitCodes.interrupted }
    const code = await reportNotStarted(
      request,
      terminal,
      (heard, beginning) => runDueJobs(request, heard, { ...beginning, said, clock, above }),
      clock,
    )
    return await endsOf(flags, forms, code)
  }
}

/** What broken files said when they last had no mistakes. */
function textsOf(forms: readonly JobForm[]): ReadonlyMap<string, Buffer> {
  return new Map(forms.flatMap(({ path, text, isBroken }) => (isBroken ? [[path, text] as const] : [])))
}

async function endsOf(
  flags: ScheduleFlags,
  forms: readonly JobForm[],
  code: number,
): Promise<ReadonlyMap<string, JobEnd>> {
  await using store = await openWhatIsStored(flags, 'may be missing')
  const ends = new Map<string, JobEnd>()
  for (const { settings } of forms) {
    const run = await store.latestRun(settings.name)
    const { id = null, finishReason = null, finishedAt = null } = run ?? {}
    const isRetried = code === exitCodes.unavailable && finishReason === 'unavailable'
    ends.set(settings.name, { run: id, finishReason, finishedAt, isRetried })
  }
  return ends
}
