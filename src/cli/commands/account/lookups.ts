import { operations as catalog, finderCountries, finderLanguages, stats } from '../../../catalog/index.ts'
import type { FreeOperation } from '../../../catalog/operation.ts'
import { readPart } from '../../../catalog/operation.ts'
import {
  type AccountReading,
  accountStop,
  keyExpiry,
  parseUsage,
  unreadLines,
} from '../../../collect/account.ts'
import { exitCodeOf, UsageUnavailable } from '../../../collect/stop.ts'
import type { Outcome } from '../../../model/call.ts'
import { RanklineError } from '../../../model/errors.ts'
import { exitCodes } from '../../../model/run.ts'
import { grouped } from '../../../model/text.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { connections } from '../../../run/app.ts'
import { accountOf } from '../../../run/plan-jobs.ts'
import { type Command, sharedFlags, type TypedOptions, usualExits } from '../../flags.ts'

type LookupFlags = TypedOptions<typeof sharedFlags.service> & {
  readonly text?: string
  readonly engine?: string
}

export const usageCommand = {
  flags: sharedFlags.service,
  exits: usualExits.account,
  docs: 'docs/budgets.md',
  examples: [
    ['usage', 'balance, limits and quotas'],
    ['usage --json', 'the record as the service sends it'],
  ],
  run: usage,
} satisfies Command

/** `rankline usage`: balance, limits and quotas of the key. */
export async function usage(flags: LookupFlags, terminal: Terminal): Promise<number> {
  await using app = await connections.freely(flags, { stored: 'not-read' })
  const account = await accountOf(app)
  if (account instanceof UsageUnavailable) throw new RanklineError(account.message, exitCodeOf(account.stop))
  const record = (await app.store.lastUsage(app.keyHash))?.record ?? '{}'
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify(JSON.parse(record), null, 2)}\n`
      : usageTable(Buffer.from(record)),
  )
  for (const warning of accountWarnings(account)) terminal.log(warning)
  return 0
}

const expiryNoticeMs = 14 * 86_400_000

/** What stands in the way of a run now, or soon will. */
export function accountWarnings(account: AccountReading): readonly string[] {
  const stop = accountStop(account, account.at)
  if (stop !== null) return [stop.message]
  const left = (keyExpiry(account) ?? Number.POSITIVE_INFINITY) - account.at
  const expiry =
    left < expiryNoticeMs ? [`The API key expires on ${sanitize(account.keyExpires ?? '')}.`] : []
  return [...unreadLines(account), ...expiry]
}

function usageTable(record: Buffer): string {
  const account = parseUsage(record)
  const fields = readPart.fields(JSON.parse(record.toString('utf8'))) ?? {}
  const part = (name: string) => readPart.fields(fields[name]) ?? {}
  const shown = (value: unknown): string => {
    const read = readPart.number(value)
    return read === null ? '-' : grouped(read)
  }
  const limit = (name: string, value: number | null | undefined): string => {
    const parts = name.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'))
    if (parts.some((part) => account?.unread[part] !== undefined)) return 'cannot be read'
    return value == null ? 'no limit' : grouped(value)
  }
  const packs = readPart.fields(fields.packs)
  const rows = [
    ['remaining', shown(fields.remaining)],
    ['used in all', shown(fields.total_used)],
    ['subscription', `${shown(part('subscription').remaining)} of ${shown(part('subscription').total)}`],
    ['packs', packs === null ? 'none' : `${shown(packs.remaining)} of ${shown(packs.total)}`],
    ['credits', `${shown(part('credits').remaining)} of ${shown(part('credits').given)}`],
    ['calls per second', limit('rate_limit.per_second', account?.limits.perSecond)],
    ['calls per minute', limit('rate_limit.per_minute', account?.limits.perMinute)],
    ...Object.entries(account?.quotas ?? {}).map(([name, quota]) => [
      `${name} quota`,
      limit(`api_key.quotas.${name}`, quota),
    ]),
    [
      'key',
      `${readPart.text(part('api_key').alias) ?? '-'}${account?.keyActive === false ? ' (inactive)' : ''}`,
    ],
    ['key expires', account?.keyExpires ?? 'never'],
    ['renewal', readPart.text(fields.renewal_date) ?? '-'],
  ]
  const plain = rows.map((row) => row.map(sanitize))
  return formatTable(
    [{ title: 'account' }, { title: sanitize(readPart.text(part('account').name) ?? '') }],
    plain,
  )
}

export const healthCommand = {
  flags: sharedFlags.service,
  words: engines(),
  exits: usualExits.lookup,
  docs: 'docs/operations.md',
  examples: [
    ['health', 'every engine'],
    ['health /v1/alpha/search', 'one path'],
  ],
  run: health,
} satisfies Command

/** `rankline health`: how an engine, or a path, did over the last hour; all engines where none is named. */
export async function health(flags: LookupFlags, terminal: Terminal): Promise<number> {
  const asked = flags.engine === undefined ? engines() : [flags.engine]
  await using app = await connections.freely(flags, { stored: 'not-read' })
  const snapshots: Readonly<Record<string, unknown>>[] = []
  for (const one of asked)
    snapshots.push(
      readPart.fields(await ask(app, stats, one.startsWith('/') ? { path: one } : { engine: one })) ?? {},
    )
  if (flags.json === true)
    await terminal.write(`${JSON.stringify(snapshots.length === 1 ? snapshots[0] : snapshots, null, 2)}\n`)
  else await terminal.write(formatTable(healthColumns, snapshots.map(healthCells)))
  return 0
}

function engines(): readonly string[] {
  return [...new Set(catalog.flatMap((one) => (one.billable ? [one.engine] : [])))]
}

const healthColumns = [
  { title: 'engine' },
  { title: 'path' },
  { title: 'health' },
  { title: 'success', align: 'right' },
  { title: 'average', align: 'right' },
] as const

function healthCells(snapshot: Readonly<Record<string, unknown>>): readonly string[] {
  const { engine, path, health, success_rate, avg_response_time_ms } = snapshot
  return [
    sanitize(readPart.text(engine) ?? '-'),
    sanitize(readPart.text(path) ?? 'all'),
    sanitize(readPart.text(health) ?? '-'),
    `${readPart.text(success_rate) ?? '-'} %`,
    `${readPart.text(avg_response_time_ms) ?? '-'} ms`,
  ]
}

export const countriesCommand = {
  flags: sharedFlags.service,
  exits: usualExits.lookup,
  docs: 'docs/operations.md',
  examples: [['countries king', 'codes of the countries whose name contains king']],
  run: countries,
} satisfies Command

/** `rankline countries`: codes of the countries whose name contains a text. */
export function countries(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderCountries, flags, terminal)
}

export const languagesCommand = {
  flags: sharedFlags.service,
  exits: usualExits.lookup,
  docs: 'docs/operations.md',
  examples: [['languages port', 'codes of the languages whose name contains port']],
  run: languages,
} satisfies Command

/** `rankline languages`: codes of the languages whose name contains a text. */
export function languages(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderLanguages, flags, terminal)
}

async function find(operation: FreeOperation, flags: LookupFlags, terminal: Terminal): Promise<number> {
  await using app = await connections.freely(flags, { stored: 'not-read' })
  const found = await ask(app, operation, { query: flags.text ?? '' })
  const items = Array.isArray(found) ? found.map((item) => readPart.fields(item) ?? {}) : []
  const columns = operation.response.itemFields
  if (flags.json === true) await terminal.write(`${JSON.stringify(found, null, 2)}\n`)
  else if (items.length === 0) terminal.log(`No name contains '${flags.text}'.`)
  else
    await terminal.write(
      formatTable(
        columns.map((title) => ({ title: title.replace('_', ' ') })),
        items.map((item) => columns.map((column) => sanitize(readPart.text(item[column]) ?? ''))),
      ),
    )
  return 0
}

/** Exit codes of a lookup that brought nothing. */
const lookupExitCodes: Partial<Record<Outcome, number>> = {
  refused: exitCodes.auth,
  throttled: exitCodes.quota,
  rejected: 2,
  'not-found': 2,
}

async function ask(
  { service }: Awaited<ReturnType<typeof connections.freely>>,
  operation: FreeOperation,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  for (;;) {
    const { settlement, body, wrongSetting } = await service.lookup(operation, params)
    if (settlement.outcome === 'answered') return parsed(body, operation.path)
    if (
      settlement.outcome === 'throttled' &&
      (service.rateLimiter.throttledFor() ?? 0) < connections.lookupDelays.throttledMs
    )
      continue
    const code = wrongSetting ? 2 : (lookupExitCodes[settlement.outcome] ?? exitCodes.unavailable)
    throw new RanklineError(
      `${service.baseUrl}${operation.path}: ${settlement.error}${hints[settlement.httpStatus ?? 0] ?? (settlement.outcome === 'unreachable' ? '. Check RANKLINE_BASE_URL and the network' : '')}`,
      code,
    )
  }
}

const hints: Readonly<Record<number, string>> = {
  401: '. Check RANKLINE_API_KEY',
  403: '. This is not enabled for the account; ask the service to enable it',
  404: `. Engines are ${engines().join(', ')}; a path looks like /v1/alpha/search`,
}

function parsed(body: Buffer, path: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new RanklineError(
      `${path}: the answer is not JSON. Check RANKLINE_BASE_URL`,
      exitCodes.unavailable,
      {
        cause: error,
      },
    )
  }
}
