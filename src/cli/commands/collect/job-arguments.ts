import { dueJobFiles } from '../../../app/planning/due-files.ts'
import { selectionFlags } from '../../../app/planning/selection.ts'
import { UsageError } from '../../../model/errors.ts'
import { type Flags, switchFlag } from '../../../model/flag.ts'
import { jobFlags } from '../../../model/settings/job-settings.ts'

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
}

type WithJobs<F> = F & { readonly job: readonly string[] }

/** Throws a sentence where no job was named. */
export function withNamedJobs<F extends JobArguments>(flags: F): WithJobs<F> {
  const { job = [] } = flags
  if (job.length > 0) return { ...flags, job }
  throw new UsageError('Name a job file, or add --due for what is due of the jobs of this folder')
}

/** The jobs that were named, or those of the working folder that say when they are due. */
export async function withDueJobs<F extends JobArguments>(flags: F): Promise<WithJobs<F>> {
  const { job = [] } = flags
  return { ...flags, job: job.length > 0 ? job : await dueJobFiles('.') }
}
