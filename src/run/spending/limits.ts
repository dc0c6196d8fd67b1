import { dirname, resolve } from 'node:path'
import { workspaceFolder } from '../../jobfile/upward.ts'
import type { BudgetStanding } from '../../ledger/budget.ts'
import { countLimits, limitsOf, limitsOfJob, type PeriodLimit } from '../../ledger/period-limits.ts'
import { type JobSettings, noFile, removedJob } from '../../model/job.ts'
import type { Workspace } from '../../model/settings/workspace.ts'
import type { PlannedJob } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import { searchJob } from '../job-files.ts'
import { workspaceOf } from '../workspace.ts'

type LimitedJob = Pick<JobSettings, 'name' | 'file' | 'timezone'>

/**
 * The limits that `rankline.yaml` sets for the folders of these jobs, in each of their time zones. All jobs of a folder count to
 * them, also those that are not collected now.
 */
export async function sharedLimits(
  store: Pick<Store, 'jobFiles' | 'jobsOfOthers'>,
  jobs: readonly LimitedJob[],
): Promise<readonly PeriodLimit[]> {
  const folders = new Map<string, Workspace>()
  const limits = new Map<string, readonly PeriodLimit[]>()
  const files = await store.jobFiles()
  const ofOthers = await store.jobsOfOthers()
  for (const { name, file, timezone } of jobs) {
    if (name === searchJob) continue
    const folder = folderOf(file)
    const workspace = folders.get(folder) ?? (await workspaceOf(file))
    folders.set(folder, workspace)
    const ofFolder = jobs.filter((job) => job.name !== searchJob && folderOf(job.file) === folder)
    const here = files.filter((job) => isIn(folder, job.file) && !ofOthers.includes(job.name))
    const names = new Set([...here, ...ofFolder].map((job) => job.name))
    const elsewhere = files.filter((job) => !names.has(job.name)).map((job) => job.name)
    const members = { timezone, jobs: [...names], elsewhere }
    limits.set(JSON.stringify([folder, timezone]), limitsIn(workspace, folder, members))
  }
  return [...limits.values()].flat()
}

/** A job that came through standard input belongs to the folder in which it is collected; later that is not known. */
function isIn(folder: string, file: string): boolean {
  return file === noFile || folderOf(file) === folder
}

/** The workspace of a job file: all that lies below its folder shares the limits. */
function folderOf(file: string): string {
  return resolve(workspaceFolder(file === noFile ? '.' : dirname(file)))
}

function limitsIn(
  { budget: { byTag, ...budget } }: Workspace,
  folder: string,
  members: Pick<PeriodLimit, 'timezone' | 'jobs' | 'elsewhere'>,
): readonly PeriodLimit[] {
  return [
    // Of which folder a removed job was is not known any more.
    ...limitsOf(budget, { ...members, scope: 'folder', name: folder, jobs: [...members.jobs, removedJob] }),
    ...Object.entries(byTag).flatMap(([tag, ofTag]) =>
      limitsOf(ofTag, { ...members, scope: 'tag', name: tag, folder }),
    ),
  ]
}

/** The limits of each of these jobs, in their order, with what the ledger says was spent. */
export async function plannedLimits(
  store: Store,
  jobs: readonly PlannedJob[],
  now: number,
): Promise<readonly (readonly BudgetStanding[])[]> {
  const counted = await countLimits(
    store,
    [
      ...jobs.flatMap(({ settings }) => limitsOfJob(settings)),
      ...(await sharedLimits(
        store,
        jobs.map(({ settings }) => settings),
      )),
    ],
    now,
  )
  return await Promise.all(
    jobs.map(async (job) => [
      ...(await maxCreditsOf(store, job)),
      ...counted.filter(({ limit }) => limit.jobs.includes(job.settings.name)),
    ]),
  )
}

/** The `max_credits` of the run that a job goes on with, or begins. */
async function maxCreditsOf(
  store: Pick<Store, 'creditsOf'>,
  { settings, continues }: PlannedJob,
): Promise<readonly BudgetStanding[]> {
  const credits = settings.budget.maxCredits
  if (credits === null) return []
  const { spent, ambiguous } = await store.creditsOf(continues === null ? [] : [continues])
  return [{ job: settings.name, credits, used: spent + ambiguous }]
}
