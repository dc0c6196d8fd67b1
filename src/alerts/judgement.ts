import { type AlertMessage, type AlertNews, type AlertRule, ruleIdentity } from '../model/settings/alert.ts'
import type { Judgement, NewAlert, StoredAlert } from '../store/alerts.ts'
import { allRules, type Change, evaluate, type Facts, ruleOf } from './rules/evaluate.ts'

/** What is known of a job's alerts before it is judged. */
export interface Known {
  readonly open: readonly StoredAlert[]
  /** Ids of open alerts about queries that the job no longer has: they end without a word. */
  readonly gone: ReadonlySet<string>
  /** Until when identities are muted, those that are not left out. */
  readonly muted: ReadonlyMap<string, number>
  /** Names of the channels of the workspace. */
  readonly channels: readonly string[]
  /** The run that is judged; null where the job could not run. */
  readonly run: Judgement['run']
  readonly now: number
}

/** An alert as it is told, with the channels that its rule names. */
interface ToldAlert {
  readonly to: AlertRule['to']
  readonly news: AlertNews
}

/**
 * Judges a run and decides what is told of it. What is muted is stored and not sent: an alert that began so is told when it is muted no
 * longer, if it is not over by then; its end is sent only where its beginning was.
 */
export function judge(facts: Facts, { open: all, gone, muted, channels, run, now }: Known): Judgement {
  const open = all.filter(({ id }) => !gone.has(id))
  const { changes, dropped: ofNoRule } = evaluate(facts, open)
  const dropped = [...gone, ...ofNoRule]
  const byId = new Map(open.map((alert) => [alert.id, alert]))
  const ended = new Set([...dropped, ...changes.flatMap(({ state, id }) => (state === 'over' ? [id] : []))])
  const isTold = ({ state, id, identity }: Change): boolean =>
    !muted.has(identity) && (state === 'open' || byId.get(id)?.told === true)
  const late = open.filter(({ id, identity, told }) => !told && !ended.has(id) && !muted.has(identity))
  const told = [
    ...late.flatMap((alert) => lateNews(alert, allRules(facts.rules))),
    ...changes.filter(isTold).map(newsOf),
  ]
  const { job, at } = facts
  const about = run === null ? job : `run ${run.id}`
  return {
    ...{ job, run, at, now, dropped },
    opened: changes.flatMap((change) => (change.state === 'open' ? [openedBy(change, muted)] : [])),
    over: changes.flatMap(({ state, id, now, text }) => (state === 'over' ? [{ id, now, text }] : [])),
    toldNow: late.map(({ id }) => id),
    messages: messagesOf(told, { job, run: run?.id ?? null, channels }).map(({ channel, message }) => ({
      // A run that is continued ends more than once.
      identity: `alerts:${about}:${at}:${channel}`,
      ...{ kind: 'alerts' as const, channel, job, runId: run?.id ?? null, message },
    })),
  }
}

function openedBy(change: Change, muted: Known['muted']): NewAlert {
  const { id, identity, rule, query, target, before, now, text } = change
  const mutedUntil = muted.get(identity) ?? null
  return {
    ...{ id, identity, when: rule.when, queryId: query?.id ?? null, target, before, now, text },
    ...{ mutedUntil, told: mutedUntil === null },
  }
}

function newsOf({ id, rule, state, query, target, before, now, text }: Change): ToldAlert {
  const news = { id, when: rule.when, state, query: query?.text ?? null, target, before, now, text }
  return { to: rule.to, news }
}

function lateNews(alert: StoredAlert, rules: readonly AlertRule[]): readonly ToldAlert[] {
  const { id, identity, when, query, target, before, now, text } = alert
  const rule = rules.find((one) => ruleIdentity(one) === ruleOf(identity))
  return rule === undefined
    ? []
    : [{ to: rule.to, news: { id, when, state: 'open', query, target, before, now, text } }]
}

/**
 * One message for each channel that has something to tell: what begins first, then what is over. A rule without names goes to all
 * channels of the workspace. A message to one that it does not have waits until it has.
 */
function messagesOf(
  told: readonly ToldAlert[],
  { job, run, channels }: Pick<AlertMessage, 'job' | 'run'> & { readonly channels: readonly string[] },
): readonly { readonly channel: string; readonly message: AlertMessage }[] {
  return [...new Set([...channels, ...told.flatMap(({ to }) => to ?? [])])].flatMap((channel) => {
    const news = told.flatMap(({ to, news }) =>
      (to === null ? channels.includes(channel) : to.includes(channel)) ? [news] : [],
    )
    if (news.length === 0) return []
    const alerts = (['open', 'over'] as const).flatMap((state) => news.filter((one) => one.state === state))
    return [{ channel, message: { job, run, alerts } }]
  })
}
