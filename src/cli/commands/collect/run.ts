import { areLeftOut } from '../../../app/job-files.ts'
import { collectorLock } from '../../../app/lock.ts'
import { openApp } from '../../../app/open-app.ts'
import { planRuns } from '../../../app/run-jobs.ts'
import { type Flags, switchFlag } from '../../../model/flag.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import {
  type Command,
  collectFlags,
  confirmFlags,
  fitFlags,
  logFlags,
  serviceFlags,
  type TypedFlags,
  waitFlags,
} from '../../flags.ts'
import { planEvents } from '../../progress.ts'
import { collectRuns, readCollectFlags } from './collect-runs.ts'
import { tellNotStarted } from './not-started.ts'
import { jobFileFlags, plan } from './plan.ts'

const flags = {
  ...jobFileFlags,
  ...serviceFlags,
  ...collectFlags,
  ...logFlags,
  ...confirmFlags,
  ...waitFlags,
  ...fitFlags,
  'dry-run': switchFlag('The same as plan'),
  'skip-bad': switchFlag('Leave out job files with mistakes, and end with exit code 2 after the others'),
} satisfies Flags

export type RunFlags = TypedFlags<typeof flags> & { readonly job: readonly string[] }

export const runCommand = {
  flags,
  examples: [
    ['run keywords.csv --target acme.com --depth 30', 'ranks among the first 30 results'],
    ['run --skip-bad acme.yaml umbrella.yaml', 'several jobs, for cron'],
    ['cat keywords.csv | rankline run - --name keywords --target acme.com', 'a job through a pipe'],
  ],
  readsStdin: true,
  run,
} satisfies Command

/** `rankline run`: collects jobs, or goes on with what an earlier command did not finish. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags['dry-run'] === true) return await plan(flags, terminal)
  return await tellNotStarted(flags, terminal, (heard, begin) => runJobs(flags, heard, begin))
}

async function runJobs(
  flags: RunFlags,
  terminal: Terminal,
  begin: (jobFiles: readonly string[]) => void,
): Promise<number> {
  readCollectFlags(flags)
  using lock = collectorLock(flags, (line) => note(terminal, line))
  await using app = await openApp(flags, lock)
  const turn = async (): Promise<void> => {
    await lock.acquire()
    await app.store.rejectDamaged()
  }
  const listed = await planRuns(app, flags, planEvents(terminal), turn)
  if (listed === null) return 2
  begin(listed.map(({ run }) => run.settings.file))
  const code = await collectRuns(app, listed, flags, terminal)
  return areLeftOut(flags, listed) && (code === 0 || code === 3) ? 2 : code
}
