import { dirname, resolve } from 'node:path'
import { jobPlaces } from '../jobfile/files.ts'
import type { BudgetStanding } from '../ledger/budget.ts'
import { countLimits, limitsOf, limitsOfJob, type PeriodLimit } from '../ledger/period-limits.ts'
import { RanklineError } from '../model/errors.ts'
import { type JobSettings, noFile, removedJob } from '../model/job.ts'
import { exitCodes, type Run } from '../model/run.ts'
import type { Workspace } from '../model/settings.ts'
import { count, grouped } from '../model/text.ts'
import { sanitize } from '../output/terminal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { PlanDraft } from '../store/sqlite/planning/draft.ts'
import type { PlannedJob } from '../store/sqlite/planning/staging.ts'
import { type PlanEvents, searchJob, workspaces } from './job-files.ts'
import type { JobDecision } from './plan-jobs.ts'

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
    const workspace = folders.get(folder) ?? (await workspaces.of(file))
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
  return resolve(jobPlaces.workspaceFolder(file === noFile ? '.' : dirname(file)))
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

/** What a run may still cost, and the price from which on the user must agree. */
export type PricedRun = Awaited<ReturnType<typeof dearRuns>>[number]

/** The jobs whose runs may still cost more than their `confirm_over`. */
async function dearRuns(
  store: Pick<Store, 'creditsOf'>,
  draft: Pick<PlanDraft, 'summary'>,
  decided: readonly JobDecision[],
) {
  /** In credits. */
  const dear: { readonly job: string; readonly credits: number; readonly confirmOver: number }[] = []
  for (const { decision, planned } of decided) {
    const { name, budget } = planned.settings
    if (decision.do === 'show' || budget.confirmOver === null) continue
    const { max } = (await draft.summary(planned)).credits
    const credits = Math.min(max, await leftOfRun(store, planned.continues, budget.maxCredits))
    if (credits > budget.confirmOver) dear.push({ job: name, credits, confirmOver: budget.confirmOver })
  }
  return dear
}

/** A run that is to go on, where it may still cost more than its `confirm_over`. */
async function dearToGoOn(
  store: Pick<Store, 'creditsOf' | 'creditsToCome'>,
  { id, job, settings: { budget } }: Run,
  failed: 'count' | 'ignore',
): Promise<readonly PricedRun[]> {
  const { confirmOver, maxCredits } = budget
  if (confirmOver === null) return []
  const toCome = await store.creditsToCome(id, failed)
  const credits = Math.min(toCome, await leftOfRun(store, id, maxCredits))
  return credits > confirmOver ? [{ job, credits, confirmOver }] : []
}

/** What `max_credits` leaves of a run, infinite without it. */
async function leftOfRun(
  store: Pick<Store, 'creditsOf'>,
  run: number | null,
  maxCredits: number | null,
): Promise<number> {
  if (maxCredits === null) return Number.POSITIVE_INFINITY
  const { spent, ambiguous } = await store.creditsOf(run === null ? [] : [run])
  return Math.max(0, maxCredits - spent - ambiguous)
}

/** Whether these runs may be bought: there are none, or the person who is asked says yes. */
async function areAgreed(dear: readonly PricedRun[], ask: PlanEvents['ask']): Promise<boolean> {
  return dear.length === 0 || (ask !== null && (await ask(`${priceList(dear)}. Buy?`)))
}

/** Asks whether these runs may be bought, where there are any; throws where the answer is not yes. */
async function confirmPrices(dear: readonly PricedRun[], ask: PlanEvents['ask']): Promise<void> {
  if (!(await areAgreed(dear, ask))) throw refusal(dear)
}

function refusal(dear: readonly PricedRun[]): RanklineError {
  return new RanklineError(
    `${priceList(dear)}. Nothing was sent; to buy ${dear.length === 1 ? 'it' : 'them'}, run the same command with --yes`,
    exitCodes.budget,
  )
}

/** `acme may cost 500 credits (confirm_over: 300), beta 900 (confirm_over: 400)`. */
function priceList(dear: readonly PricedRun[]): string {
  return dear
    .map(({ job, credits, confirmOver }, index) => {
      const price = index === 0 ? `may cost ${count(credits, 'credit')}` : grouped(credits)
      return `${sanitize(job)} ${price} (confirm_over: ${grouped(confirmOver)})`
    })
    .join(', ')
}

/** What runs may still cost, and whether that is agreed to. */
export const prices = {
  dear: dearRuns,
  dearToGoOn,
  areAgreed,
  confirm: confirmPrices,
  refusal,
  list: priceList,
}
