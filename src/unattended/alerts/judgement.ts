import { queryConditions } from '../../model/condition.ts'
import { isComplete, type Suspicion } from '../../model/run.ts'
import {
  type AlertDetails,
  type AlertKind,
  type AlertMessage,
  type AlertNews,
  type AlertRule,
  ruleIdentity,
} from '../../model/settings.ts'
import { groupedBy } from '../../model/text.ts'
import type { Judgement, Mute, StoredAlert } from '../../store/sqlite/unattended/alerts.ts'
import { alertId, type RunHealth, runRules } from './causes.ts'
import {
  judgePair,
  judgeSites,
  type RuleVerdict,
  type WatchedPair,
  type WatchedQuery,
  type WatchedSerp,
} from './query-rules.ts'

/** What is known of a job's alerts before it is judged. */
interface JudgementContext {
  readonly open: readonly StoredAlert[]
  /** Ids of open alerts about queries that the job no longer has: they end without a message. */
  readonly gone: ReadonlySet<string>
  /** Until when identities are muted, those that are not left out. */
  readonly muted: ReadonlyMap<string, number>
  /** What is muted of alerts that begin, whatever their identity. */
  readonly mutes: readonly Mute[]
  /** Names of the channels of the workspace. */
  readonly channels: readonly string[]
  /** For whom the job is; null where it does not say. */
  readonly client: string | null
  /** Null where no query is judged. */
  readonly describe: DescribeAlert | null
  /** The run that is judged; null where the job could not run. */
  readonly run: Judgement['run']
  readonly now: number
}

/** What is said of an alert on a query beside its sentence. */
interface Described {
  readonly details: AlertDetails
  /** The share of the searches whose clicks are at stake. */
  readonly share: number
}

/** Finds what is said of an alert. */
export type DescribeAlert = (change: AlertChange, query: WatchedQuery) => Described

const undescribed: Described = {
  details: { locale: null, tags: [], url: null, volume: null, clicks: null, there_now: null },
  share: 0,
}

/**
 * Judges a run and decides what is told of it. What is muted is stored and not sent: an alert that began so is told when it is muted no
 * longer, if it is not over by then; its end is sent only where its beginning was.
 */
export function judge(
  facts: AlertFacts,
  { open: all, gone, muted: identities, mutes, channels, client, describe, run, now }: JudgementContext,
): Judgement {
  const open = all.filter(({ id }) => !gone.has(id))
  const { changes, dropped: ofNoRule } = evaluate(facts, open)
  const muted = new Map(identities)
  for (const change of changes)
    if (change.state === 'open')
      for (const { until } of mutes.filter((mute) => isMutedBy(mute, change, facts.job)))
        muted.set(change.identity, Math.max(until, muted.get(change.identity) ?? 0))
  const dropped = [...gone, ...ofNoRule]
  const byId = new Map(open.map((alert) => [alert.id, alert]))
  const ended = new Set([...dropped, ...changes.flatMap(({ state, id }) => (state === 'over' ? [id] : []))])
  const isTold = ({ state, id, identity }: AlertChange): boolean =>
    !muted.has(identity) && (state === 'open' || byId.get(id)?.told === true)
  const late = open.filter(({ id, identity, told }) => !told && !ended.has(id) && !muted.has(identity))
  const told = [
    ...late.flatMap((alert) => lateNews(alert, allRules(facts.rules))),
    ...changes.filter(isTold).map((change) => newsOf(change, describe)),
  ]
  const { job, at } = facts
  const about = run === null ? job : `run ${run.id}`
  return {
    job,
    run,
    at,
    now,
    dropped,
    opened: changes.flatMap((change) => (change.state === 'open' ? [openedBy(change, muted)] : [])),
    over: changes.flatMap(({ state, id, now, text }) => (state === 'over' ? [{ id, now, text }] : [])),
    toldNow: late.map(({ id }) => id),
    messages: messagesOf(told, { job, client, run: run?.id ?? null, channels }).map(
      ({ channel, message }) => ({
        // A run that is continued ends more than once.
        identity: `alerts:${about}:${at}:${channel}`,
        kind: 'alerts' as const,
        channel,
        job,
        runId: run?.id ?? null,
        message,
      }),
    ),
  }
}

function isMutedBy({ job, tag, when }: Mute, { rule, query }: AlertChange, ofJob: string): boolean {
  return (
    (job === null || job === ofJob) &&
    (when === null || when === rule.when) &&
    (tag === null || query?.tags.includes(tag) === true)
  )
}

function openedBy(change: AlertChange, muted: JudgementContext['muted']) {
  const { id, identity, rule, query, target, before, now, text } = change
  const mutedUntil = muted.get(identity) ?? null
  return {
    id,
    identity,
    when: rule.when,
    queryId: query?.id ?? null,
    target,
    before,
    now,
    text,
    mutedUntil,
    told: mutedUntil === null,
  }
}

/** An alert as it is told, with the channels that its rule names. */
function newsOf(change: AlertChange, describe: DescribeAlert | null) {
  const { id, rule, state, query, target, before, now, text } = change
  const { details, share } = (query && describe?.(change, query)) ?? undescribed
  const about = { id, when: rule.when, state, query: query?.text ?? null, target, before, now, text }
  const news: AlertNews = { ...about, ...details }
  /** The query and target whose ranks it is about; null for all other alerts. */
  const pair = query === null ? null : `${query.key} ${target}`
  return { to: rule.to, news, share, pair }
}

type ToldAlert = ReturnType<typeof newsOf>

function lateNews(alert: StoredAlert, rules: readonly AlertRule[]): readonly ToldAlert[] {
  const { id, identity, when, query, target, before, now, text } = alert
  const rule = rules.find((one) => ruleIdentity(one) === ruleOf(identity))
  return rule === undefined
    ? []
    : [
        {
          to: rule.to,
          share: undescribed.share,
          pair: null,
          news: { id, when, state: 'open', query, target, before, now, text, ...undescribed.details },
        },
      ]
}

/** Alerts on one rank of a target that tell of the same event; the first of them says most. */
const events: readonly (readonly AlertKind[])[] = [
  ['lost', 'left', 'drop'],
  ['entered', 'gain'],
]

/** One alert for each event, those that are over by what they say of the rank: a drop that is over says most. */
function oneOfEach(told: readonly ToldAlert[]): readonly ToldAlert[] {
  const eventOf = ({ pair, news: { id, when, state } }: ToldAlert): string => {
    const event = events.findIndex((kinds) => kinds.includes(when))
    return pair === null || event === -1 ? id : `${state} ${event} ${pair}`
  }
  const placeOf = ({ news: { when, state } }: ToldAlert): number => {
    const place = events.flat().indexOf(when)
    return state === 'open' ? place : -place
  }
  return [...groupedBy(told, eventOf).values()].flatMap((same) => {
    const [first, ...others] = same.toSorted((a, b) => placeOf(a) - placeOf(b))
    if (first === undefined || others.length === 0) return first ?? []
    return { ...first, news: { ...first.news, also: others.map(({ news: { id, when } }) => ({ id, when })) } }
  })
}

/** What is about the whole job first, then by clicks at stake; those of unknown volume last, by the share of their clicks. */
function byStake(a: ToldAlert, b: ToldAlert): number {
  const isOfQuery = ({ news: { query } }: ToldAlert): number => Number(query !== null)
  const clicks = ({ news: { clicks: at } }: ToldAlert): number => at ?? -1
  return isOfQuery(a) - isOfQuery(b) || clicks(b) - clicks(a) || b.share - a.share
}

/**
 * One message for each channel that has something to tell: what begins first, then what is over, one line for an event. A rule
 * without names goes to all channels of the workspace. A message to one that it does not have waits until it has.
 */
function messagesOf(
  told: readonly ToldAlert[],
  {
    job,
    client,
    run,
    channels,
  }: Pick<AlertMessage, 'job' | 'run'> & Pick<JudgementContext, 'client' | 'channels'>,
): readonly { readonly channel: string; readonly message: AlertMessage }[] {
  return [...new Set([...channels, ...told.flatMap(({ to }) => to ?? [])])].flatMap((channel) => {
    const here = told.filter(({ to }) => (to === null ? channels.includes(channel) : to.includes(channel)))
    if (here.length === 0) return []
    const news = oneOfEach(here)
      .toSorted(byStake)
      .map((one) => one.news)
    const alerts = (['open', 'over'] as const).flatMap((state) => news.filter((one) => one.state === state))
    return [{ channel, message: { job, client, run, alerts } }]
  })
}

/** What a run, or a slot at which none began, is judged by. */
export interface AlertFacts {
  readonly job: string
  readonly rules: readonly AlertRule[]
  /** When the run ended; it makes the ids of what begins. */
  readonly at: number
  /** How the run went; null where that was judged before. */
  readonly health: RunHealth | null
  /** Why the job could not run at its time; null where it ran. */
  readonly skipped: string | null
  /** Why the run as a whole is suspect; null where it is not, or may still go on. */
  readonly suspicion: Suspicion | null
  /** Empty where observations are not judged: the run may still go on. */
  readonly pairs: readonly WatchedPair[]
  readonly serps: readonly WatchedSerp[]
  /** The address of a link, by its number. */
  readonly linkText: (id: number) => string
}

/** An alert as it is stored while it is open. */
export type KnownAlert = Pick<StoredAlert, 'id' | 'identity' | 'before' | 'now'>

/** What an alert is about: at most one of an identity is open. */
export function alertIdentity(job: string, rule: AlertRule, watched: WatchedPlace): string {
  return identityOf(job, ruleIdentity(rule), watched)
}

type WatchedPlace = { readonly queryKey: string; readonly target: string } | null

function identityOf(job: string, rule: string, watched: WatchedPlace): string {
  return JSON.stringify([job, rule, watched?.queryKey ?? null, watched?.target ?? null])
}

/** The identity of the rule that an alert is of. */
function ruleOf(identity: string): string {
  return (JSON.parse(identity) as readonly [job: string, rule: string])[1]
}

/**
 * Everything that begins and everything that is over: that the run is suspect as a whole, then in the order of the rules, then of the
 * queries. Of the queries of a suspect run nothing is told.
 */
export function evaluate(
  all: AlertFacts,
  stored: readonly KnownAlert[],
): {
  readonly changes: readonly AlertChange[]
  /** Ids of open alerts whose rule the job no longer has: they end without a message. */
  readonly dropped: readonly string[]
} {
  const open = new Map(stored.map((alert) => [alert.identity, alert]))
  const facts = all.suspicion === null ? all : { ...all, pairs: [], serps: [] }
  const changes = [
    ...wholeRun(all, open),
    ...facts.rules.flatMap((rule) => judges[rule.when](rule, facts, open)),
  ]
  const known = new Set(allRules(facts.rules).map(ruleIdentity))
  const dropped = stored.flatMap(({ id, identity }) => (known.has(ruleOf(identity)) ? [] : [id]))
  return { changes, dropped }
}

/** The rules of a job, and the one that tells of suspect runs. */
function allRules(rules: readonly AlertRule[]): readonly AlertRule[] {
  const rule = runRules.ofWholeRun(rules)
  return rule === null ? rules : [...rules, rule]
}

type OpenAlerts = ReadonlyMap<string, KnownAlert>

function wholeRun(
  { job, rules, suspicion, health, at }: AlertFacts,
  open: OpenAlerts,
): readonly AlertChange[] {
  const rule = runRules.ofWholeRun(rules)
  if (rule === null) return []
  const identity = alertIdentity(job, rule, ofWholeRun)
  const known = open.get(identity) ?? null
  const verdict = runRules.wholeRun({ job, suspicion, hasEnded: health !== null }, known)
  return verdict === null ? [] : [change(verdict, { rule, identity, known, at, query: null, target: null })]
}

/** Apart from the alert of a rule on answers to other queries. */
const ofWholeRun = { queryKey: 'run', target: '' } as const

type AlertJudge = (rule: AlertRule, facts: AlertFacts, open: OpenAlerts) => readonly AlertChange[]

const health: AlertJudge = (rule, { job, rules, health, skipped, at }, open) => {
  // What stopped a run says why its tasks are missing.
  if (rule.when === 'coverage' && health !== null && !isComplete(health.finishReason))
    if (rules.some((other) => other.when === 'run-failed' && reaches(other, rule))) return []
  const identity = alertIdentity(job, rule, null)
  const known = open.get(identity) ?? null
  const verdict =
    skipped !== null
      ? rule.when === 'run-skipped'
        ? runRules.skipped(job, skipped, known)
        : null
      : health && runRules.health(rule, { job, health }, known)
  return verdict === null ? [] : [change(verdict, { rule, identity, known, at, query: null, target: null })]
}

/** Rules on the account begin for all jobs together. One that began for a job alone, in an earlier version, ends here. */
const account: AlertJudge = (rule, { job, health, at }, open) => {
  const identity = alertIdentity(job, rule, null)
  const known = open.get(identity)
  const reading = health === null ? null : runRules.account(rule, health)
  if (known === undefined || reading === null || reading.isBad) return []
  const verdict: RuleVerdict = { state: 'over', before: known.now, now: reading.now, text: reading.text }
  return [change(verdict, { rule, identity, known, at, query: null, target: null })]
}

/** Whether one rule is told wherever another one is. */
function reaches(rule: AlertRule, other: AlertRule): boolean {
  return rule.to === null || (other.to?.every((channel) => rule.to?.includes(channel)) ?? false)
}

/** Which family of rules judges what. */
const judges: Readonly<Record<AlertKind, AlertJudge>> = {
  drop: ofPairs,
  gain: ofPairs,
  entered: ofPairs,
  left: ofPairs,
  lost: ofPairs,
  'new-competitor': newCompetitors,
  'url-changed': ofPairs,
  'citation-lost': ofPairs,
  'citation-won': ofPairs,
  coverage: health,
  'run-failed': health,
  'run-skipped': health,
  balance: account,
  'days-left': account,
  unexplained: account,
  suspect: health,
}

function ofPairs(
  rule: AlertRule,
  { job, pairs, at, linkText }: AlertFacts,
  open: OpenAlerts,
): readonly AlertChange[] {
  const changes: AlertChange[] = []
  const named = ruleIdentity(rule)
  const isWatched = watchedBy(rule)
  for (const pair of pairs) {
    const { query, target } = pair
    if (!isOfTarget(rule, pair) || !isWatched(query)) continue
    const watched = { queryKey: query.key, target: `${target.match}:${target.site}` }
    // Most jobs have few open alerts, and most pairs say nothing: an identity takes longer to write than to judge.
    const known = open.size === 0 ? null : (open.get(identityOf(job, named, watched)) ?? null)
    const verdict = judgePair(rule, pair, known, linkText)
    if (verdict === null) continue
    const about = { rule, identity: identityOf(job, named, watched), at, query, target: target.label }
    changes.push(change(verdict, { ...about, known }))
    // What is over may begin anew at once: a third page ranks.
    const next = verdict.state === 'over' ? judgePair(rule, pair, null, linkText) : null
    if (next !== null) changes.push(change(next, { ...about, known: null }))
  }
  return changes
}

function newCompetitors(
  rule: AlertRule,
  { job, serps, at }: AlertFacts,
  open: OpenAlerts,
): readonly AlertChange[] {
  const named = ruleIdentity(rule)
  const openSites = new Map<string, Map<string, KnownAlert>>()
  for (const alert of open.values()) {
    const [, ofRule, queryKey, site] = JSON.parse(alert.identity) as readonly string[]
    if (ofRule !== named || queryKey === undefined || site === undefined) continue
    openSites.set(queryKey, (openSites.get(queryKey) ?? new Map()).set(site, alert))
  }
  const isWatched = watchedBy(rule)
  return serps.flatMap((serp) => {
    const { query } = serp
    if (!isWatched(query)) return []
    return judgeSites(rule, serp, openSites.get(query.key) ?? new Map()).map(({ site, ...verdict }) => {
      const identity = alertIdentity(job, rule, { queryKey: query.key, target: site })
      return change(verdict, { rule, identity, known: open.get(identity) ?? null, at, query, target: site })
    })
  })
}

/** An alert that begins or is over. */
function change(
  verdict: RuleVerdict,
  {
    known,
    at,
    ...about
  }: {
    readonly known: KnownAlert | null
    readonly at: number
    readonly identity: string
    readonly rule: AlertRule
    readonly query: WatchedQuery | null
    readonly target: string | null
  },
) {
  /** Twelve hexadecimal digits: the same when it begins and when it is over. */
  const id = known?.id ?? alertId(about.identity, at)
  return { ...verdict, ...about, id }
}

type AlertChange = ReturnType<typeof change>

function isOfTarget(rule: AlertRule, { target }: WatchedPair): boolean {
  const { targets } = rule.for
  return targets === null ? target.own : targets.includes(target.site) || targets.includes(target.label)
}

/** Which queries a rule watches: those with one of its tags of which its condition is true. */
export function watchedBy({ when, for: { tags, where } }: AlertRule): (query: WatchedQuery) => boolean {
  const condition =
    where === undefined
      ? null
      : queryConditions.of(`The condition of an alert 'when: ${when}'`, where, 'store')
  return (query) =>
    (tags === null || query.tags.some((tag) => tags.includes(tag))) && condition?.isMet(query) !== false
}
