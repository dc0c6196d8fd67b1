import { judge } from '../../alerts/judgement.ts'
import { RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import { isOver, type Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import type { RunToJudge } from '../../store/alerts.ts'
import type { Store } from '../../store/store.ts'
import type { App } from '../connect/app.ts'
import { unexplainedSince } from '../status/spending.ts'
import { workspaceOf } from '../workspace.ts'
import { describing } from './details.ts'
import { type EndOfRun, healthOf, observedFacts } from './facts.ts'

/** Runs that were collected now, with what only this process knows of them. */
interface Collected {
  readonly app: Pick<App, 'store' | 'clock' | 'keyHash'>
  readonly finished: readonly {
    readonly run: Pick<Run, 'id' | 'job'>
    readonly document: {
      readonly credits: { readonly balance_after: number | null; readonly unexplained: number | null }
    }
  }[]
  /** Called with a line that must be read. */
  readonly log: (line: string) => void
}

/**
 * Judges every run whose end no rule has judged yet: those that were collected now, and those of any job whose process died before it
 * came to that. State and messages of a run are one change, so that a crash loses no alert and sends none twice.
 */
export async function judgeRuns({ app, finished, log }: Collected): Promise<void> {
  const { store, clock, keyHash } = app
  const ends = new Map(
    finished.map(({ run, document: { credits } }) => [
      run.id,
      { unexplained: credits.unexplained, balance: credits.balance_after },
    ]),
  )
  const judgeJob = async (job: string): Promise<void> => {
    for (const one of await store.runsToJudge(job)) {
      const lastRead = (await store.lastUsage(keyHash))?.remaining ?? null
      const end = ends.get(one.run.id) ?? {
        unexplained: await unexplainedSince(store, keyHash, one.run.startedAt),
        balance: lastRead,
      }
      await judgeRun({ store, clock }, one, { ...end, balance: end.balance ?? lastRead })
    }
  }
  for (const job of await store.jobsThatRan())
    try {
      await judgeJob(job)
    } catch (error) {
      // The channels of one job cannot be read, for instance: its run is judged after the next one.
      if (!(error instanceof RanklineError)) throw error
      log(`The alerts of ${job} wait: ${error.message}`)
    }
}

type Parts = { readonly store: Store; readonly clock: Pick<Clock, 'wall'> }

async function judgeRun({ store, clock }: Parts, one: RunToJudge, end: EndOfRun): Promise<void> {
  const { run, hasEnded } = one
  const { job, settings } = run
  const rules = settings.alerts ?? []
  const facts = {
    ...{ job, rules, skipped: null },
    at: Math.max(run.finishedAt ?? 0, run.closedAt ?? 0),
    health: hasEnded ? await healthOf(store, run, rules, end) : null,
    ...(await observedFacts(store, one, rules)),
  }
  const gone = new Set(isOver(run) ? await store.goneAlerts(run) : [])
  const describe = describing(store, run)
  await store.recordJudgement(
    judge(facts, { run, gone, describe, ...(await known({ store, clock }, settings)) }),
  )
}

/**
 * Stores that a job could not run at its time, where a rule asks for that; what is to be sent waits in the outbox. False where
 * there is nothing new to send. The rules are those of the job's last run: its file may be what is broken.
 */
export async function judgeSkippedJob(
  { store, clock }: Parts,
  { job, reason }: { readonly job: string; readonly reason: string },
): Promise<boolean> {
  const from = (await store.runs({ job, limit: 1 }))[0]?.settings
  const rules = from?.alerts?.filter(({ when }) => when === 'run-skipped') ?? []
  if (from === undefined || rules.length === 0) return false
  const nothing = { health: null, suspicion: null, pairs: [], serps: [], linkText: () => '' }
  const facts = { job, rules, at: clock.wall(), skipped: reason, ...nothing }
  const { open, ...others } = await known({ store, clock }, from)
  // The other rules of the job are not asked: their alerts go on.
  const judgement = judge(facts, {
    run: null,
    gone: new Set(),
    describe: null,
    ...others,
    open: open.filter(({ when }) => when === 'run-skipped'),
  })
  if (judgement.opened.length === 0) return false
  await store.recordJudgement(judgement)
  return true
}

async function known(
  { store, clock }: Parts,
  { name, file, report }: Pick<JobSettings, 'name' | 'file' | 'report'>,
) {
  const now = clock.wall()
  return {
    client: report?.client ?? null,
    ...{ now, channels: Object.keys((await workspaceOf(file)).channels) },
    open: await store.openAlerts(name),
    muted: await store.mutedIdentities(name, now),
  }
}
