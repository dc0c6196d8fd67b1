import { count, grouped } from '../model/text.ts'
import { localDay } from '../model/time.ts'
import type { BudgetStanding } from './budget.ts'

/** `per_day of acme`, `per_month of the tag acme in rankline.yaml`. */
export function limitName(standing: BudgetStanding): string {
  if (!('limit' in standing)) return `max_credits of ${standing.job}`
  const { scope, name, period } = standing.limit
  const setting = `per_${period}`
  if (scope === 'job') return `${setting} of ${name}`
  return scope === 'folder' ? `${setting} in rankline.yaml` : `${setting} of the tag ${name} in rankline.yaml`
}

/** What a limit allows, what was spent of it, and what is left, in credits. */
export function amounts(standing: BudgetStanding): {
  readonly credits: number
  readonly used: number
  readonly left: number
} {
  const { used } = standing
  const credits = 'limit' in standing ? standing.limit.credits : standing.credits
  return { credits, used, left: Math.max(0, credits - used) }
}

/** The day on which a limit begins anew, and its time zone; null for a run's own, which never does. */
export function beginsAnew(
  standing: BudgetStanding,
): { readonly day: string; readonly timezone: string } | null {
  if (!('limit' in standing)) return null
  const { timezone } = standing.limit
  return { day: localDay(standing.span.until, timezone), timezone }
}

/** The message where a limit for a day or a month covers no more. */
export function reachedMessage(standing: BudgetStanding, price: number): string {
  const { credits, left } = amounts(standing)
  const name = limitName(standing)
  const anew = beginsAnew(standing)
  if (anew === null || credits < price)
    return `${name} allows ${count(credits, 'credit')}, and ${grouped(left)} of them are left: too few for a call of ${grouped(price)}. Raise it, then run the same command again.`
  return `${name} is reached: ${grouped(left)} of ${count(credits, 'credit')} are left until ${anew.day} begins (${anew.timezone}). The rest stays open; run the same command again then, or raise the limit.`
}

/** Of limits, what the tightest one leaves of a whole job; those of tags hold for some queries only. Infinite without any. */
export function leastLeft(standings: readonly BudgetStanding[]): number {
  const wholeJob = standings.filter((one) => !('limit' in one) || one.limit.scope !== 'tag')
  return Math.min(Number.POSITIVE_INFINITY, ...wholeJob.map((one) => amounts(one).left))
}

/** A limit and what is left of it: `per_day of acme: 12 of 800 credits left until 2026-11-24 begins (UTC).` */
export function limitLine(standing: BudgetStanding): string {
  const { credits, left } = amounts(standing)
  return `${limitName(standing)}: ${grouped(left)} of ${count(credits, 'credit')} left${untilAnew(standing)}.`
}

function untilAnew(standing: BudgetStanding): string {
  const anew = beginsAnew(standing)
  return anew === null ? '' : ` until ${anew.day} begins (${anew.timezone})`
}

/** Of a limit, used so far before users are warned. */
const warnedPercent = 80

/** The warning where most of a limit is used; null where it is not. */
export function limitWarning(standing: BudgetStanding): string | null {
  const { credits, used, left } = amounts(standing)
  if (used <= 0 || used * 100 < credits * warnedPercent) return null
  return `${limitName(standing)}: ${grouped(used)} of ${count(credits, 'credit')} are used, ${grouped(left)} left${untilAnew(standing)}.`
}

/** Names a limit and its period: it is reported once. */
export function limitKey(standing: BudgetStanding): string {
  return JSON.stringify([limitName(standing), beginsAnew(standing)])
}
