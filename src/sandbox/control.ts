import { UsageError } from '../errors.ts'
import { topUp } from './account.ts'
import type { Box } from './box.ts'
import { kindOf } from './deliver.ts'
import type { ControlChange } from './options.ts'

type Check = (value: unknown) => boolean

const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isOneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)

const checks: Readonly<Record<keyof ControlChange, Check>> = {
  date: (value) => typeof value === 'string' && noonOf(value) !== null,
  now: (value) => value === null || isNumber(value),
  advanceDays: isNumber,
  rules: areRules,
  addRules: areRules,
  topUp: isObject,
  account: isObject,
  latencyMs: (value) =>
    Array.isArray(value) ? value.length === 2 && value.every(isNumber) : isNumber(value),
  asyncMs: isNumber,
  pages: isOneOf('even', 'short', 'overlap'),
  positions: isOneOf('restart', 'continue'),
  stats: (value) => isObject(value) && Object.values(value as object).every(isObject),
}

const ruleKeys = ['operation', 'query', 'after', 'times', 'probability', 'do']

/** Changes a running sandbox, all or nothing; throws a UsageError that names the field that cannot be. */
export function applyChange(box: Box, change: ControlChange): void {
  for (const [name, value] of Object.entries(change)) {
    const check = checks[name as keyof ControlChange]
    if (check === undefined)
      throw new UsageError(`sandbox: nothing is called '${name}'; use ${Object.keys(checks).join(', ')}`)
    if (!check(value)) throw new UsageError(`sandbox: '${name}' cannot be ${JSON.stringify(value)}`)
  }
  applyTime(box, change)
  if (change.rules !== undefined) box.faults.replace(change.rules)
  if (change.addRules !== undefined) box.faults.add(change.addRules)
  if (change.topUp !== undefined) topUp(box.account, change.topUp, box.worldClock.now())
  if (change.account !== undefined) {
    const { settings } = box.account
    const quotas = { ...settings.quotas, ...change.account.quotas }
    box.account.settings = { ...settings, ...change.account, quotas }
  }
  const { latencyMs, asyncMs, pages, positions, stats } = box.settings
  Object.assign(box.settings, {
    latencyMs: change.latencyMs ?? latencyMs,
    asyncMs: change.asyncMs ?? asyncMs,
    pages: change.pages ?? pages,
    positions: change.positions ?? positions,
    stats: { ...stats, ...change.stats },
  })
}

function applyTime({ worldClock }: Box, { date, now, advanceDays }: ControlChange): void {
  if (date !== undefined) worldClock.stopAt(noonOf(date))
  if (now !== undefined) worldClock.stopAt(now)
  if (advanceDays !== undefined) worldClock.advance(advanceDays)
}

function noonOf(date: string): number | null {
  const noon = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T12:00:00Z`) : Number.NaN
  return Number.isNaN(noon) ? null : noon
}

function areRules(value: unknown): boolean {
  return Array.isArray(value) && value.every(isRule)
}

function isRule(value: unknown): boolean {
  if (!isObject(value)) return false
  const rule = value as Record<string, unknown>
  const known = Object.keys(rule).every((name) => ruleKeys.includes(name))
  return known && isObject(rule.do) && kindOf(rule.do as object) !== null
}
