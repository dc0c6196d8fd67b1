import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { findOperation } from '../../catalog/index.ts'
import { mistakeLines } from '../../jobfile/source.ts'
import { isWorkspaceMistake } from '../../jobfile/workspace.ts'
import { RanklineError } from '../../model/errors.ts'
import type { JobSettings, Problem, Target } from '../../model/job.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { kindCodes } from '../../model/result.ts'
import { endOf, isComplete, type Run, type StopCause } from '../../model/run.ts'
import type { AlertKind, AlertRule } from '../../model/settings.ts'
import { firstNames, groupedBy } from '../../model/text.ts'
import { compileTarget, matcherOf } from '../../rank/match.ts'
import { localeText } from '../../report/cells.ts'
import { defaultCurve } from '../../report/ctr.ts'
import { type CtrCurve, rateOf } from '../../report/metrics/figure.ts'
import type { App, Outgoing } from '../../run/app.ts'
import { dueWork } from '../../run/due-work.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { QueryOfRun } from '../../store/sqlite/unattended/observations.ts'
import { deliver, knownChannels } from '../messages/deliver.ts'
import { accountSpending } from '../status.ts'
import { type Cause, causes, type RunHealth } from './causes.ts'
import { type AlertFacts, type DescribeAlert, judge, watchedBy } from './judgement.ts'
import type { WatchedPair, WatchedQuery, WatchedSerp } from './query-rules.ts'

/**
 * Judges every run whose end no rule has judged yet: those that were collected now, and those of jobs whose process died before it judged
 * them. State and messages of a run are one change, so that a crash loses no alert and sends none twice.
 */
export async function judgeRuns({
  app,
  finished,
  cause,
  log,
}: {
  readonly app: Pick<App, 'store' | 'clock' | 'keyHash'>
  /** Runs that were collected now, with what only this process knows of them. */
  readonly finished: readonly {
    readonly run: Pick<Run, 'id' | 'job'>
    readonly document: {
      readonly credits: { readonly balance_after: number | null; readonly unexplained: number | null }
    }
  }[]
  /** Why the command stopped; null where it did not. */
  readonly cause: StopCause | null
  /** Prints a warning. */
  readonly log: (line: string) => void
}): Promise<void> {
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
        unexplained: await accountSpending.unexplainedSince(store, keyHash, one.run.startedAt),
        balance: lastRead,
      }
      const stop = ends.has(one.run.id) ? cause : null
      await judgeRun({ store, clock }, one, { ...end, balance: end.balance ?? lastRead, stop })
    }
  }
  /** Jobs by why they cannot be judged: the channels of a folder cannot be read, for instance. They are judged after the next run. */
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

type Parts = Pick<Parameters<typeof deliver>[0], 'store' | 'clock'>

async function judgeRun(
  { store, clock }: Parts,
  one: Awaited<ReturnType<Store['runsToJudge']>>[number],
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
  const describe = describing(store, run, await curveOfAlerts(store, run))
  const { folder, ...before } = await known({ store, clock }, settings)
  const about = { job, rules, folder, channels: before.channels }
  const { health } = facts
  await store.recordJudgement(judge(facts, { run, gone, describe, ...before }), (open, muted) =>
    health === null
      ? { alerts: [], messages: [] }
      : causes.change(causes.ofRun(about, health, stop), { open, muted, now: before.now }),
  )
}

/** What kept jobs from running: something that stops others, too, or their own price. */
export type Hindrance = Cause | { readonly kind: 'price'; readonly text: string }

/**
 * Stores that a job could not run at its time, or that nothing keeps it from running any more (null), where a rule asks for
 * that; what is to be sent waits in the outbox. False where there is nothing new to send. The rules are those of the job's last run: its
 * file may be what is broken.
 */
async function judgeSkippedJob(
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
    const said = causes.ofStart({ job, rules, folder, channels }, hindrance)
    return (
      (await store.recordCauses((known, muted) => causes.change(said, { open: known, muted, now }), now)) > 0
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

/** What the store does not hold of the end of a run. */
type EndOfRun = Pick<RunHealth, 'unexplained' | 'balance'>

type Watching = Pick<AlertFacts, 'suspicion' | 'pairs' | 'serps' | 'linkText'>

/** How a run went as a whole. */
async function healthOf(
  store: Store,
  run: Run,
  rules: readonly AlertRule[],
  end: EndOfRun,
): Promise<RunHealth> {
  const now = endOf(run)
  const balance = end.balance === null ? null : { credits: end.balance, readAt: now }
  const isAsked = (kind: AlertKind): boolean => rules.some(({ when }) => when === kind)
  return {
    finishReason: run.finishReason ?? 'crashed',
    hasCause: causes.ofReason(run.finishReason ?? 'crashed', false) !== null,
    tasks: await store.taskCounts(run.id),
    mismatched: isAsked('suspect') ? (store.runQuality(run.id).mismatched ?? 0) : 0,
    ...end,
    daysLeft: isAsked('days-left')
      ? accountSpending.daysLeft({ balance, spent: await accountSpending.recent(store, now) }, now)
      : null,
  }
}

const ofPairs: readonly AlertKind[] = [
  ...(['drop', 'gain', 'entered', 'left', 'lost'] as const),
  ...(['url-changed', 'citation-lost', 'citation-won'] as const),
]

/** What a run observed, with what was observed before: nothing for a run that may still go on, and what no rule watches is not read. */
async function observedFacts(
  store: Store,
  { run }: { readonly run: Run },
  rules: readonly AlertRule[],
): Promise<Watching> {
  const linkText = (id: number): string => store.links([id])[0] ?? ''
  const ofQueries = rules.filter(({ when }) => ofPairs.includes(when) || when === 'new-competitor')
  const isAsked = ofQueries.length > 0 || rules.some(({ when }) => when === 'suspect')
  const suspicion = isAsked && isOver(run) ? store.suspicionOf(run.id) : null
  if (ofQueries.length === 0 || !isOver(run)) return { suspicion, pairs: [], serps: [], linkText }
  const watched = watchedQueries(store.queriesOfRun(run.id))
  return {
    suspicion,
    pairs: await watchedPairs(store, run, ofQueries, watched),
    serps: [...watchedSerps(store, run, ofQueries, watched)],
    linkText,
  }
}

type Queries = ReadonlyMap<number, WatchedQuery>

function watchedQueries(queries: readonly QueryOfRun[]): Queries {
  const sameText = groupedBy(queries, ({ text }) => text)
  return new Map(
    queries.map((query) => {
      const variant = variantOf(query, sameText.get(query.text) ?? [])
      const cites = kindOf(query.operation) === 'reference'
      return [query.id, { ...query, variant, locale: localeText(query.params), cites }]
    }),
  )
}

/** What tells a query apart from others of the same text: its operation and parameters, where they differ. */
function variantOf({ operation, params }: QueryOfRun, same: readonly QueryOfRun[]): string {
  const differs = (value: (query: QueryOfRun) => unknown): boolean => new Set(same.map(value)).size > 1
  const names = [...new Set(same.flatMap((query) => Object.keys(query.params)))]
  const told = names.filter((name) => name in params && differs((query) => query.params[name]))
  return [
    ...(differs((query) => query.operation) ? [operation] : []),
    ...told.map((name) => `${name}=${params[name]}`),
  ].join(', ')
}

function kindOf(operation: string) {
  const found = findOperation(operation)
  return found?.billable === true ? found.kind : null
}

async function watchedPairs(
  store: Store,
  run: Run,
  rules: readonly AlertRule[],
  watched: Queries,
): Promise<readonly WatchedPair[]> {
  const named = new Set(rules.flatMap((rule) => rule.for.targets ?? []))
  const isNew = await newTargets(store, run)
  const targets = store
    .targetsOfRun(run.id)
    .filter((target) => target.own || named.has(target.site) || named.has(target.label))
    .filter((target) => !isNew(target))
  const byId = new Map(targets.map((target) => [target.id, target]))
  const pairs: WatchedPair[] = []
  for (const { query: queryId, target: targetId, observations } of store.lastObservations(run, [
    ...byId.keys(),
  ])) {
    const [query, target] = [watched.get(queryId), byId.get(targetId)]
    if (query === undefined || target === undefined || observations.length < 2) continue
    pairs.push({ query, target, observations: observations.map(observationFrom).reverse() })
  }
  return inOrder(pairs, watched)
}

function observationFrom([rank, depth, pages, link]: readonly [
  number | null,
  number,
  number | null,
  number | null,
]) {
  return { rank, depth, pages, link }
}

/** In the order of the queries' texts. */
function inOrder(pairs: readonly WatchedPair[], watched: Queries): readonly WatchedPair[] {
  const place = new Map([...watched.keys()].map((id, index) => [id, index]))
  return [...pairs].sort((a, b) => (place.get(a.query.id) ?? 0) - (place.get(b.query.id) ?? 0))
}

/** How many runs are read to find the run before one that is judged late: such runs are few. */
const lateRuns = 10

/**
 * Targets of the whole job that the run before did not have. Their earlier ranks were looked up in stored answers later: compared
 * with those, alerts would tell of changes from before the target was watched.
 */
async function newTargets(
  store: Store,
  run: Run,
): Promise<(target: { readonly site: string; readonly match: string }) => boolean> {
  const leftOut = new Set(store.notComparedWith(run))
  const newest = await store.runs({ job: run.job, limit: lateRuns })
  const before = newest.find(({ id }) => id < run.id && !leftOut.has(id))
  const keyOf = ({ site, match }: { readonly site: string; readonly match: string }): string =>
    `${match}:${site}`
  const keysOf = (one: Run): ReadonlySet<string> => new Set(one.settings.targets.map(keyOf))
  if (before === undefined) return () => false
  const [now, earlier] = [keysOf(run), keysOf(before)]
  return (target) => {
    const key = keyOf(target)
    return now.has(key) && !earlier.has(key)
  }
}

/** Lists of results before the run's that tell whether a site is new. */
const listsBefore = 3

function* watchedSerps(
  store: Store,
  run: Run,
  rules: readonly AlertRule[],
  watched: Queries,
): Generator<WatchedSerp> {
  const sites = rules.filter(({ when }) => when === 'new-competitor')
  if (sites.length === 0) return
  const top = Math.max(...sites.map((rule) => rule.top ?? 0))
  const watches = sites.map(watchedBy)
  const isAsked = (query: WatchedQuery): boolean => watches.some((isWatched) => isWatched(query))
  const isOwn = ownResults(run.settings.targets)
  const leftOut = new Set(store.notComparedWith(run))
  const needsAll = sites.some(({ confirm }) => confirm > 1)
  for (const query of watched.values()) {
    const kind = kindOf(query.operation)
    if (kind === null || query.cites || !isAsked(query)) continue
    const runs = store.runsWithResults(run, query.id, listsBefore).filter((id) => !leftOut.has(id))
    if (runs[0] !== run.id) continue
    const listOf = (id: number) =>
      siteList(store.resultList({ run: id, query: query.id, kind: kindCodes[kind], top }), isOwn)
    const now = listOf(run.id)
    const [last, ...earlier] = runs.slice(1)
    const before = last === undefined ? [] : [listOf(last)]
    // On most days the same sites are there, and nothing is new.
    const isQuiet = before.every(({ ranks }) => [...now.ranks.keys()].every((site) => ranks.has(site)))
    yield { query, lists: [now, ...before, ...(isQuiet && !needsAll ? [] : earlier.map(listOf))].reverse() }
  }
}

function siteList(
  { results, depth }: ReturnType<Store['resultList']>,
  isOwn: (site: string, link: string) => boolean,
) {
  const ranks = new Map<string, number>()
  for (const { rank, site, link } of results)
    if (!ranks.has(site) && !isOwn(site, link)) ranks.set(site, rank)
  return { ranks, depth }
}

/** Whether a result is an own target's. Only links of their sites are compared. */
function ownResults(targets: readonly Target[]): (site: string, link: string) => boolean {
  const own = targets.filter((target) => target.own)
  const matchers = groupedBy(
    own.map((target) => ({ target, matches: matcherOf(target) })),
    ({ target }) => {
      const host = compileTarget(target)?.site.host ?? target.site
      return siteOf(host) ?? host
    },
  )
  return (site, link) => matchers.get(site)?.some(({ matches }) => matches(link)) ?? false
}

/** With which clicks at stake are estimated: most jobs need nothing that reports do. */
async function curveOfAlerts(store: Store, { job, settings }: Run): Promise<CtrCurve> {
  if ((settings.ctr ?? null) === null || (settings.alerts ?? []).length === 0) return defaultCurve
  const { clickCurves } = await import('../../run/job-curve.ts')
  return await clickCurves.orDefault(store, { job, settings })
}

/** Alerts of a rank that someone else has now. */
const ofLosses: readonly AlertKind[] = ['drop', 'left', 'lost']

/** What messages say of an alert beside its sentence. */
function describing(
  store: Pick<Store, 'links' | 'resultList'>,
  { id: run }: Pick<Run, 'id'>,
  curve: CtrCurve,
): DescribeAlert {
  const resultAt = ({ id, operation }: WatchedQuery, rank: number) => {
    const kind = kindOf(operation)
    if (kind === null) return undefined
    const { results } = store.resultList({ run, query: id, kind: kindCodes[kind], top: rank })
    return results.find((one) => one.rank === rank)
  }
  return ({ rule: { when }, state, before, now, link, rank }, query) => {
    const { locale, tags, volume } = query
    const [was, is] = [rankIn(before), rank ?? rankIn(now)]
    const share = Math.abs(rateOf(curve, is) - rateOf(curve, was))
    const rival = when === 'new-competitor' && is !== null ? resultAt(query, is) : undefined
    const successor =
      ofLosses.includes(when) && state === 'open' && was !== null ? resultAt(query, was) : undefined
    const own = link == null ? null : (store.links([link])[0] ?? null)
    return {
      share,
      details: {
        tags,
        volume,
        locale: locale === '' ? null : locale,
        url: rival?.link ?? own,
        clicks: volume === null ? null : Math.round(volume * share),
        there_now: successor?.site ?? null,
      },
    }
  }
}

/** What is told of a page has addresses there. */
function rankIn(value: number | string | null): number | null {
  return typeof value === 'number' ? value : null
}

/** The mistakes that keep a job from running, as a cause that it shares with others of the same file. */
function causeOfMistakes(mistakes: readonly Problem[]): Cause {
  const shared = mistakes.filter(isWorkspaceMistake)
  const told = shared.length > 0 ? shared : mistakes
  const place = resolve(told[0]?.where ?? '')
  const text = mistakeLines.first(told) ?? 'A file has mistakes'
  return { kind: shared.length > 0 ? 'workspace' : 'file', place, text, now: null, when: 'run-skipped' }
}

/** What keeps every job from running: no call can be made with the settings. */
function causeOfSettings(text: string): Cause {
  return { kind: 'settings', place: '', text, now: null, when: 'run-skipped' }
}

/**
 * Says of jobs, by their files, what kept them from running at their time, and of others that nothing does any more, where
 * their rules ask for that (`when: run-skipped`). The rules are those of the last run.
 */
async function alertSkippedJobs(
  {
    skipped,
    running,
    isConcerned = () => true,
  }: {
    readonly skipped: ReadonlyMap<string, Hindrance>
    readonly running: readonly string[]
    /** Whether a skipped job is told of, by the settings of its last run. */
    readonly isConcerned?: (settings: JobSettings) => boolean
  },
  {
    database,
    clock,
    outgoing,
    log,
  }: Omit<Parameters<typeof deliver>[0], 'store'> & {
    /** Path of the database. Where there is none, or one of an older rankline, nothing is said. */
    readonly database: string
  },
): Promise<void> {
  if ((skipped.size === 0 && running.length === 0) || !existsSync(database)) return
  const { openCurrent, openStore } = await import('../../store/sqlite/open.ts')
  // A file has more than one job where the name in it was changed.
  let jobs: ReadonlyMap<string, readonly { readonly name: string }[]>
  {
    await using reader = await openCurrent(database)
    if (reader === null) return
    jobs = groupedBy(await reader.jobFiles(), ({ file }) => file)
    const back = running.flatMap((file) => jobs.get(resolve(file))?.map(({ name }) => name) ?? [])
    if (skipped.size === 0 && !(await reader.isAnyStopped(back))) return
  }
  await using store = await openStore(database)
  let isTold = false
  const note = async (job: string, hindrance: Hindrance | null): Promise<void> => {
    isTold = (await judgeSkippedJob({ store, clock }, job, hindrance)) || isTold
  }
  for (const file of running) for (const { name } of jobs.get(resolve(file)) ?? []) await note(name, null)
  for (const [file, hindrance] of skipped) {
    const lasts: Run[] = []
    for (const { name } of jobs.get(resolve(file)) ?? [])
      lasts.push(...(await store.runs({ job: name, limit: 1 })))
    const last = lasts.toSorted((a, b) => b.id - a.id)[0]
    if (last !== undefined && isConcerned(last.settings)) await note(last.job, hindrance)
  }
  if (isTold) await deliver({ store, clock, outgoing, log })
}

/**
 * Says of jobs whose files are left out, for they had mistakes when they were first read, that they are not run: whenever that
 * changes. That is over when the files are run. Nothing that goes wrong is thrown; it is logged once, and tried again.
 */
function leftOutTeller(
  leftOut: () => ReadonlyMap<string, readonly Problem[]>,
  options: Omit<Parameters<typeof alertSkippedJobs>[1], 'outgoing'> & { readonly outgoing: () => Outgoing },
): () => Promise<void> {
  let told = JSON.stringify([])
  let failure = ''
  return async () => {
    const files = [...leftOut()]
    const now = JSON.stringify(files)
    if (now === told) return
    const skipped = new Map(files.map(([file, mistakes]) => [file, causeOfMistakes(mistakes)]))
    try {
      const outgoing = options.outgoing()
      await alertSkippedJobs(
        { skipped, running: [], isConcerned: dueWork.saysWhen },
        { ...options, outgoing },
      )
      told = now
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== failure)
        options.log(
          error instanceof RanklineError ? message : `Alerts were not sent: internal error: ${message}`,
        )
      failure = message
    }
  }
}

/** Whether a run never goes on. */
function isOver({ finishReason, closedAt }: Pick<Run, 'finishReason' | 'closedAt'>): boolean {
  return isComplete(finishReason) || closedAt !== null
}

/** Jobs that could not run, as their rules have it told. */
export const skippedJobs = {
  alert: alertSkippedJobs,
  ofMistakes: causeOfMistakes,
  ofSettings: causeOfSettings,
  teller: leftOutTeller,
}
