import { openApp } from '../../../machines/open-app.ts'
import { type Flags, switchFlag } from '../../../model/flag.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { collectorLock } from '../../../run/lock.ts'
import { planRuns } from '../../../run/run-jobs.ts'
import {
  type Command,
  clockFlags,
  collectFlags,
  confirmFlags,
  fitFlags,
  leaseFlags,
  logFlags,
  queueFlags,
  serviceFlags,
  type TypedFlags,
  waitFlags,
} from '../../flags.ts'
import { collectingExits } from '../../help.ts'
import { planEvents } from '../../progress.ts'
import { collectRuns, readCollectFlags } from './collect-runs.ts'
import { jobFileFlags, withNamedJobs } from './job-arguments.ts'
import { type JobFileStarts, reportNotStarted } from './not-started.ts'
import { plan } from './plan.ts'
import { runDue } from './run-due.ts'

const flags = {
  ...jobFileFlags,
  ...serviceFlags,
  ...clockFlags,
  ...collectFlags,
  ...logFlags,
  ...confirmFlags,
  ...waitFlags,
  ...fitFlags,
  ...queueFlags,
  ...leaseFlags,
  'dry-run': switchFlag('The same as plan'),
  'skip-bad': switchFlag('Leave out job files with mistakes, and end with exit code 2 after the others'),
} satisfies Flags

export type RunFlags = TypedFlags<typeof flags> & { readonly job?: readonly string[] | undefined }

export const runCommand = {
  flags,
  exits: collectingExits,
  docs: 'jobs/README.md',
  examples: [
    ['run keywords.csv --target acme.com --depth 30', 'ranks among the first 30 results'],
    ['run --skip-bad acme.yaml umbrella.yaml', 'several jobs, for cron'],
    ['run --due', 'what is due of the jobs of this folder, for cron'],
    ['cat keywords.csv | rankline run - --name keywords --target acme.com', 'a job through a pipe'],
  ],
  readsStdin: true,
  run,
} satisfies Command

/** `rankline run`: collects jobs, or goes on with what an earlier command did not finish. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags['dry-run'] === true) return await plan(flags, terminal)
  if (flags.due === true) return await runDue(flags, terminal)
  const named = await withNamedJobs(flags, terminal)
  return await reportNotStarted(named, terminal, (heard, beginning) => runJobs(named, heard, beginning))
}

async function runJobs(
  flags: RunFlags & { readonly job: readonly string[] },
  terminal: Terminal,
  { begin, onMistakes }: JobFileStarts,
): Promise<number> {
  readCollectFlags(flags)
  using lock = collectorLock(flags, (line) => note(terminal, line))
  await using app = await openApp(flags, lock)
  const turn = async (): Promise<void> => {
    await lock.acquire()
    await app.store.rejectDamaged()
  }
  const planned = await planRuns(app, flags, planEvents(terminal, onMistakes), turn)
  if (planned === null) return 2
  const { listed, isLeftOut } = planned
  begin(listed.map(({ run }) => run.settings.file))
  const code = await collectRuns(app, listed, flags, terminal)
  return isLeftOut && (code === 0 || code === 3) ? 2 : code
}
