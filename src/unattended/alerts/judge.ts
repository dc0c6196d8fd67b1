import { RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import { isOver, type Run, type StopCause } from '../../model/run.ts'
import { firstNames } from '../../model/text.ts'
import type { Clock } from '../../model/time.ts'
import type { App } from '../../run/connect/app.ts'
import type { RunToJudge } from '../../store/alerts.ts'
import type { Store } from '../../store/store.ts'
import { knownChannels } from '../messages/known-channels.ts'
import { unexplainedSince } from '../status/spending.ts'
import { type Cause, causesOfRun, causesOfStart, changeCauses } from './causes.ts'
import { describing, type EndOfRun, healthOf, observedFacts } from './gather-facts.ts'
import { judge } from './judgement.ts'

/** Runs that were collected now, with what only this process knows of them. */
interface Collected {
  readonly app: Pick<App, 'store' | 'clock' | 'keyHash'>
  readonly finished: readonly {
    readonly run: Pick<Run, 'id' | 'job'>
    readonly document: {
      readonly credits: { readonly balance_after: number | null; readonly unexplained: number | null }
    }
  }[]
  /** Why the command stopped; null where it did not. */
  readonly cause: StopCause | null
  /** Called with a line that must be read. */
  readonly log: (line: string) => void
}

/**
 * Judges every run whose end no rule has judged yet: those that were collected now, and those of any job whose process died before it
 * came to that. State and messages of a run are one change, so that a crash loses no alert and sends none twice.
 */
export async function judgeRuns({ app, finished, cause, log }: Collected): Promise<void> {
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
      const stop = ends.has(one.run.id) ? cause : null
      await judgeRun({ store, clock }, one, { ...end, balance: end.balance ?? lastRead, stop })
    }
  }
  /** By what is in the way: the channels of a folder cannot be read, for instance. These runs are judged after the next one. */
  const waiting = new Map<string, string[]>()
  for (const job of await store.jobsThatRan())
    try {
      await judgeJob(job)
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      waiting.set(error.message, [...(waiting.get(error.message) ?? []), job])
    }
  for (const [reason, jobs] of waiting) log(`The alerts of ${firstNames(jobs)} wait: ${reason}`)
}

type Parts = { readonly store: Store; readonly clock: Pick<Clock, 'wall'> }

async function judgeRun(
  { store, clock }: Parts,
  one: RunToJudge,
  { stop, ...end }: EndOfRun & { readonly stop: StopCause | null },
): Promise<void> {
  const { run, hasEnded } = one
  const { job, settings } = run
  const rules = settings.alerts ?? []
  const facts = {
    job,
    rules,
    skipped: null,
    at: Math.max(run.finishedAt ?? 0, run.closedAt ?? 0),
    health: hasEnded ? await healthOf(store, run, rules, end) : null,
    ...(await observedFacts(store, one, rules)),
  }
  const gone = new Set(isOver(run) ? await store.goneAlerts(run) : [])
  const describe = describing(store, run)
  const { folder, ...before } = await known({ store, clock }, settings)
  const about = { job, rules, folder, channels: before.channels }
  const { health } = facts
  await store.recordJudgement(judge(facts, { run, gone, describe, ...before }), (open, muted) =>
    health === null
      ? { alerts: [], messages: [] }
      : changeCauses(causesOfRun(about, health, stop), { open, muted, now: before.now }),
  )
}

/** What kept jobs from running: something that stops others, too, or their own price. */
export type Hindrance = Cause | { readonly kind: 'price'; readonly text: string }

/**
 * Stores that a job could not run at its time, or that nothing keeps it from running any more (null), where a rule asks for
 * that; what is to be sent waits in the outbox. False where there is nothing new to send. The rules are those of the job's last run: its
 * file may be what is broken.
 */
export async function judgeSkippedJob(
  { store, clock }: Parts,
  job: string,
  hindrance: Hindrance | null,
): Promise<boolean> {
  const from = (await store.runs({ job, limit: 1 }))[0]?.settings
  if (from === undefined) return false
  const rules = from.alerts?.filter(({ when }) => when === 'run-skipped') ?? []
  const { open, folder, ...others } = await known({ store, clock }, from)
  const { now, channels } = others
  if (hindrance?.kind !== 'price') {
    const causes = causesOfStart({ job, rules, folder, channels }, hindrance)
    return (
      (await store.recordCauses((known, muted) => changeCauses(causes, { open: known, muted, now }), now)) > 0
    )
  }
  if (rules.length === 0) return false
  const nothing = { health: null, suspicion: null, pairs: [], serps: [], linkText: () => '' }
  const facts = { job, rules, at: now, skipped: hindrance.text, ...nothing }
  // The other rules of the job are not asked: their alerts go on.
  const judgement = judge(facts, {
    run: null,
    gone: new Set(),
    describe: null,
    ...others,
    open: open.filter(({ when }) => when === 'run-skipped'),
  })
  if (judgement.opened.length === 0) return false
  await store.recordJudgement(judgement, () => ({ alerts: [], messages: [] }))
  return true
}

async function known(
  { store, clock }: Parts,
  { name, file, report }: Pick<JobSettings, 'name' | 'file' | 'report'>,
) {
  const now = clock.wall()
  const { folder, channels, isSound } = await knownChannels(store, file)
  if (isSound) await store.rememberChannels(folder, channels)
  return {
    client: report?.client ?? null,
    now,
    folder,
    channels: Object.keys(channels),
    // Those of causes are judged by themselves.
    open: (await store.openAlerts(name)).filter(({ stopped }) => stopped === null),
    muted: await store.mutedIdentities(name, now),
    mutes: await store.mutes(now),
  }
}
