import type { IncomingMessage, ServerResponse } from 'node:http'
import { UsageError } from '../model/errors.ts'
import { topUp } from './account.ts'
import { badRequest, errorReply, jsonObject, type Reply, readBody, readTarget } from './http.ts'
import type { ControlChange } from './options.ts'
import { kindOf, send } from './respond.ts'
import type { SandboxState } from './state.ts'

/** Other processes control the sandbox and read its ledger here: without a key, a charge or a ledger entry. */
export const controlPrefix = '/_sandbox/'

/** Answers a request below the control prefix. */
export async function serveControl(
  state: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) return
  const { path, params } = readTarget(request.url ?? '')
  const route = `${request.method} ${path.slice(controlPrefix.length)}`
  if (route === 'POST control')
    return send(response, null, body === null ? errorReply(413) : changed(state, body))
  if (route === 'GET ledger')
    return send(response, null, { status: 200, body: ledgerOf(state, 'summary' in params) })
  send(response, null, errorReply(404))
}

function changed(state: SandboxState, body: Buffer): Reply {
  const change = jsonObject(body)
  if (change === undefined) return badRequest('the body is no JSON object')
  try {
    applyChange(state, change)
  } catch (error) {
    if (error instanceof UsageError) return badRequest(error.message)
    throw error
  }
  return { status: 200, body: { now: new Date(state.worldClock.now()).toISOString() } }
}

function ledgerOf(state: SandboxState, summaryOnly: boolean): object {
  const { ledger } = state.log
  const summary = ledger.summary()
  return summaryOnly ? summary : { ...summary, requests: ledger.requests }
}

type ValueCheck = (value: unknown) => boolean

const isNumber: ValueCheck = (value) => typeof value === 'number' && Number.isFinite(value)
const isObject: ValueCheck = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isOneOf =
  (...values: readonly unknown[]): ValueCheck =>
  (value) =>
    values.includes(value)

const checks: Readonly<Record<keyof ControlChange, ValueCheck>> = {
  date: (value) => typeof value === 'string' && noonOf(value) !== null,
  now: (value) => value === null || isNumber(value),
  dateHeader: (value) => value === null || typeof value === 'string',
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

/** Changes a running sandbox, all or nothing; throws a UsageError that names a wrong field. */
export function applyChange(state: SandboxState, change: ControlChange): void {
  for (const [name, value] of Object.entries(change)) {
    const check = checks[name as keyof ControlChange]
    if (check === undefined)
      throw new UsageError(`sandbox: nothing is called '${name}'; use ${Object.keys(checks).join(', ')}`)
    if (!check(value)) throw new UsageError(`sandbox: '${name}' cannot be ${JSON.stringify(value)}`)
  }
  applyTime(state, change)
  if (change.rules !== undefined) state.faults.replace(change.rules)
  if (change.addRules !== undefined) state.faults.add(change.addRules)
  if (change.topUp !== undefined) topUp(state.account, change.topUp, state.worldClock.now())
  if (change.account !== undefined) {
    const { settings } = state.account
    const quotas = { ...settings.quotas, ...change.account.quotas }
    state.account.settings = { ...settings, ...change.account, quotas }
  }
  const { settings } = state
  settings.latencyMs = change.latencyMs ?? settings.latencyMs
  settings.asyncMs = change.asyncMs ?? settings.asyncMs
  settings.pages = change.pages ?? settings.pages
  settings.positions = change.positions ?? settings.positions
  if (change.dateHeader !== undefined) settings.dateHeader = change.dateHeader
  settings.stats = { ...settings.stats, ...change.stats }
}

function applyTime({ worldClock }: SandboxState, { date, now, advanceDays }: ControlChange): void {
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
