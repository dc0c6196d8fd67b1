import { isFolder, jobFileNamed } from '../../../jobfile/files.ts'
import { yamlJobFiles } from '../../../jobfile/peek.ts'
import { isWorkspaceFile } from '../../../jobfile/workspace.ts'
import { UsageError } from '../../../model/errors.ts'
import { type Flags, switchFlag } from '../../../model/flag.ts'
import { noFile } from '../../../model/job.ts'
import { jobFlags } from '../../../model/settings/job-settings.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { dueJobFiles } from '../../../run/due-work.ts'
import { selectionFlags } from '../../../run/selection.ts'

/** What a job file says can be said, and overruled, by flags. */
export const jobFileFlags = {
  ...jobFlags,
  ...selectionFlags,
  due: switchFlag(
    'Only what is due; without a job: of every job file of this folder that says when it is due',
  ),
  fresh: switchFlag('Begin a new run, also where one is unfinished'),
} satisfies Flags

interface JobArguments {
  readonly job?: readonly string[] | undefined
  readonly 'max-credits'?: string | undefined
}

type WithJobs<F> = F & { readonly job: readonly string[] }

/** Throws a sentence where no job was named. */
export async function withNamedJobs<F extends JobArguments>(
  flags: F,
  terminal: Terminal,
): Promise<WithJobs<F>> {
  refuseNothing(flags)
  const { job = [] } = flags
  if (job.length > 0) return { ...flags, job: await meantJobs(job, terminal) }
  throw new UsageError('Name a job file, or add --due for what is due of the jobs of this folder')
}

/** The jobs that were named, or those of the working folder that say when they are due. */
export async function withDueJobs<F extends JobArguments>(
  flags: F,
  terminal: Terminal,
): Promise<WithJobs<F>> {
  refuseNothing(flags)
  const { job = [] } = flags
  return { ...flags, job: job.length > 0 ? await meantJobs(job, terminal) : await dueJobFiles('.') }
}

/** A run that may cost nothing would end where it begins. */
function refuseNothing({ 'max-credits': most }: JobArguments): void {
  if (most !== undefined && /^\s*0+\s*$/.test(most))
    throw new UsageError(
      "--max-credits cannot be '0', which buys nothing; write at least 1, or look at the price with: rankline plan",
    )
}

/**
 * The job files that were meant: a name without its ending is that file, a folder is its jobs, and `rankline.yaml` among other files is
 * left out, which is said.
 */
export async function meantJobs(named: readonly string[], terminal: Terminal): Promise<readonly string[]> {
  const jobs: string[] = []
  for (const one of named) {
    const path = one === noFile ? one : (jobFileNamed(one) ?? one)
    const inFolder = path !== noFile && isFolder(path) ? await yamlJobFiles(path) : []
    if (named.length > 1 && isWorkspaceFile(path))
      note(terminal, `${path} is left out: it holds what the jobs share, and no job.`)
    else jobs.push(...(inFolder.length > 0 ? inFolder : [path]))
  }
  return jobs.length > 0 ? jobs : named
}
