import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isComplete } from '../../src/model/run.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { fastClock } from './fast-clock.ts'
import { apiKey, type FaultCase, type Go } from './fault-cases.ts'
import { type JobFile, ownSite } from './fault-jobs.ts'
import { databaseOf, type GoEnd, letGo, newestRuns, type Stage, type Story } from './fault-run.ts'
import { callRows, waitingJobs } from './stored-rows.ts'

/** After so many processes nothing goes wrong any more and nothing is scarce: the next ones must come to the end. */
const troubledGoes = 16
const calmGoes = 3
const leftAlone: Go = { interruption: null, fresh: false }
/** So many times faster than real time. */
const haste = 500

/** What was found wrong, and after which process. */
export interface Verdict {
  readonly problems: readonly string[]
  readonly story: Story
}

/** Lets one process after the other work on a case until its runs are complete; judges the books after each. */
export async function playOut(
  faultCase: FaultCase,
  judge: (story: Story, complete: boolean) => Promise<readonly string[]>,
): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-faults-'))
  using clock = fastClock(haste)
  await using sandbox = await open(faultCase, clock.wall)
  const stage = { case: faultCase, folder, sandbox, clock, isUnreachable: outages(faultCase) }
  try {
    return await goOn(stage, judge)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function goOn(
  stage: Stage,
  judge: (story: Story, complete: boolean) => Promise<readonly string[]>,
): Promise<Verdict> {
  const goes: GoEnd[] = []
  let jobs = stage.case.jobs
  for (;;) {
    const calm = goes.length >= troubledGoes
    if (calm) jobs = calmDown(stage.sandbox, jobs)
    goes.push(await letGo(stage, jobs, (calm ? null : stage.case.goes[goes.length]) ?? leftAlone))
    const complete = isOver(stage, jobs, goes.at(-1))
    const story = storyOf(stage, jobs, goes)
    const problems = [...(await judge(story, complete)), ...endless(goes, complete)]
    if (complete || problems.length > 0) return { problems, story }
    jobs = provide(stage, jobs)
  }
}

function open({ credits, quota, rules, sandbox }: FaultCase, now: () => number): Promise<Sandbox> {
  const { chargeFor404, statsEnabled, ...options } = sandbox
  return startSandbox({
    ...options,
    now,
    rules,
    key: apiKey,
    sites: [ownSite],
    account: {
      subscription: { total: credits.first },
      quotas: { daily: quota },
      chargeFor404,
      statsEnabled,
    },
  })
}

function outages({ outage }: FaultCase): () => boolean {
  let exchanges = 0
  return () => {
    exchanges += 1
    return outage !== null && exchanges > outage.after && exchanges <= outage.after + outage.times
  }
}

function storyOf({ sandbox, ...stage }: Stage, jobs: readonly JobFile[], goes: readonly GoEnd[]): Story {
  const { requests, charged } = sandbox.ledger
  return {
    case: stage.case,
    path: databaseOf(stage),
    jobs,
    goes: [...goes],
    requests: [...requests],
    calls: callRows(databaseOf(stage)),
    charged,
  }
}

/** Whoever was told that it stopped goes on where jobs of closed runs still wait, though the newest runs are complete. */
function isOver(stage: Stage, jobs: readonly JobFile[], last: GoEnd | undefined): boolean {
  if (last === undefined) return false
  const complete = last.reasons.length === jobs.length && last.reasons.every(isComplete)
  return complete && (last.stopped === null || waitingJobs(databaseOf(stage)) === 0)
}

function endless(goes: readonly GoEnd[], complete: boolean): readonly string[] {
  if (goes.at(-1)?.end === 'hung') return ['the last process waits for something that never comes']
  return complete || goes.length < troubledGoes + calmGoes ? [] : ['the runs do not come to their end']
}

/** What people do when money has run out: they buy more, or allow more. */
function provide({ sandbox, ...stage }: Stage, jobs: readonly JobFile[]): readonly JobFile[] {
  const { more } = stage.case.credits
  const runs = newestRuns(databaseOf(stage))
  if (runs.some(({ reason }) => reason === 'balance')) sandbox.control({ topUp: { credits: more } })
  if (runs.some(({ reason }) => reason === 'quota')) raiseQuota(sandbox, more)
  const short = new Set(runs.flatMap(({ job, reason }) => (reason === 'budget' ? [job] : [])))
  return jobs.map((job) => {
    const { max_credits: most } = job.budget
    return most === undefined || !short.has(job.name) ? job : { ...job, budget: { max_credits: most + more } }
  })
}

function raiseQuota(sandbox: Sandbox, more: number): void {
  const { daily } = sandbox.usage().api_key.quotas
  if (daily !== null) sandbox.control({ account: { quotas: { daily: daily + more } } })
}

function calmDown(sandbox: Sandbox, jobs: readonly JobFile[]): readonly JobFile[] {
  sandbox.control({ rules: [], topUp: { credits: 10_000 }, account: { quotas: { daily: null } } })
  return jobs.map((job) => ({ ...job, budget: {} }))
}
