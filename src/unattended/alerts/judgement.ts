import { groupedBy } from '../../model/groups.ts'
import {
  type AlertDetails,
  type AlertKind,
  type AlertMessage,
  type AlertNews,
  type AlertRule,
  ruleIdentity,
} from '../../model/settings/alert.ts'
import type { Judgement, Mute, NewAlert, StoredAlert } from '../../store/alerts.ts'
import { type AlertChange, type AlertFacts, allRules, evaluate, ruleOf } from './evaluate.ts'
import type { WatchedQuery } from './facts.ts'

/** What is known of a job's alerts before it is judged. */
export interface JudgementContext {
  readonly open: readonly StoredAlert[]
  /** Ids of open alerts about queries that the job no longer has: they end without a word. */
  readonly gone: ReadonlySet<string>
  /** Until when identities are muted, those that are not left out. */
  readonly muted: ReadonlyMap<string, number>
  /** What is muted of alerts that begin, whatever their identity. */
  readonly mutes: readonly Mute[]
  /** Names of the channels of the workspace. */
  readonly channels: readonly string[]
  /** For whom the job is; null where it does not say. */
  readonly client: string | null
  /** What is said of an alert on a query beside its sentence; null where no query is judged. */
  readonly describe: ((change: AlertChange, query: WatchedQuery) => Described) | null
  /** The run that is judged; null where the job could not run. */
  readonly run: Judgement['run']
  readonly now: number
}

export interface Described {
  readonly details: AlertDetails
  /** The share of the searches whose clicks are at stake. */
  readonly share: number
}

const undescribed: Described = {
  details: { locale: null, tags: [], url: null, volume: null, clicks: null, there_now: null },
  share: 0,
}

/** An alert as it is told, with the channels that its rule names. */
interface ToldAlert {
  readonly to: AlertRule['to']
  readonly news: AlertNews
  readonly share: Described['share']
  /** The query and target whose ranks it is about; null for all other alerts. */
  readonly pair: string | null
}

/**
 * Judges a run and decides what is told of it. What is muted is stored and not sent: an alert that began so is told when it is muted no
 * longer, if it is not over by then; its end is sent only where its beginning was.
 */
export function judge(facts: AlertFacts, known: JudgementContext): Judgement {
  const { open: all, gone, muted: identities, mutes, channels, client, run, now, describe } = known
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

function openedBy(change: AlertChange, muted: JudgementContext['muted']): NewAlert {
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

function newsOf(change: AlertChange, describe: JudgementContext['describe']): ToldAlert {
  const { id, rule, state, query, target, before, now, text } = change
  const { details, share } = (query && describe?.(change, query)) ?? undescribed
  const news = { id, when: rule.when, state, query: query?.text ?? null, target, before, now, text }
  const pair = query === null ? null : `${query.key} ${target}`
  return { to: rule.to, news: { ...news, ...details }, share, pair }
}

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
