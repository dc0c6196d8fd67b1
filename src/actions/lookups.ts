import { readAccount } from '../api/account.ts'
import { operations as catalog } from '../catalog/index.ts'
import { asFields, text } from '../catalog/normalise/fields.ts'
import type { FreeOperation, Operation } from '../catalog/operation.ts'
import { finderCountries } from '../catalog/operations/finder-countries.ts'
import { finderLanguages } from '../catalog/operations/finder-languages.ts'
import { stats } from '../catalog/operations/stats.ts'
import { RanklineError } from '../errors.ts'
import type { Outcome } from '../model/call.ts'
import { formatTable } from '../report/table.ts'
import { exitCodes } from '../run/finish.ts'
import { AccountUnknown, readUsage } from '../run/read-account.ts'
import { newStop } from '../run/stop.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { connect, type WireFlags } from './wire.ts'

export interface LookupFlags extends WireFlags {
  readonly json?: boolean
  readonly text?: string
  readonly of?: string
}

/** `rankline usage`: balance, limits and quotas of the key. */
export async function usage(flags: LookupFlags, terminal: Terminal): Promise<number> {
  await using connection = await connect(flags)
  const { service, store, keyHash } = connection
  const signal = newStop().signal
  try {
    await readUsage({ service, store, keyHash, random: Math.random, signal }, null)
  } catch (error) {
    if (!(error instanceof AccountUnknown)) throw error
    throw new RanklineError(error.message, exitCodes[error.stop.reason])
  }
  const record = (await store.lastUsage(keyHash))?.record ?? '{}'
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(JSON.parse(record), null, 2)}\n`
      : usageTable(Buffer.from(record)),
  )
  return 0
}

function usageTable(record: Buffer): string {
  const account = readAccount(record)
  const fields = asFields(JSON.parse(record.toString('utf8'))) ?? {}
  const part = (name: string) => asFields(fields[name]) ?? {}
  const number = (value: unknown): string => (typeof value === 'number' ? value.toLocaleString('en-US') : '-')
  const limit = (value: number | null | undefined): string => value?.toLocaleString('en-US') ?? 'no limit'
  const packs = asFields(fields.packs)
  const rows = [
    ['remaining', number(fields.remaining)],
    ['used in all', number(fields.total_used)],
    ['subscription', `${number(part('subscription').remaining)} of ${number(part('subscription').total)}`],
    ['packs', packs === null ? 'none' : `${number(packs.remaining)} of ${number(packs.total)}`],
    ['credits', `${number(part('credits').remaining)} of ${number(part('credits').given)}`],
    ['calls per second', limit(account?.limits.perSecond)],
    ['calls per minute', limit(account?.limits.perMinute)],
    ...Object.entries(account?.quotas ?? {}).map(([name, quota]) => [`${name} quota`, limit(quota)]),
    ['key', `${text(part('api_key').alias) ?? '-'}${account?.keyActive === false ? ' (inactive)' : ''}`],
    ['key expires', account?.keyExpires ?? 'never'],
    ['renewal', text(fields.renewal_date) ?? '-'],
  ]
  const plain = rows.map((row) => row.map(harmless))
  return formatTable([{ title: 'account' }, { title: harmless(text(part('account').name) ?? '') }], plain)
}

/** `rankline health`: how an engine, or a path, did over the last hour; all engines where none is named. */
export async function health(flags: LookupFlags, terminal: Terminal): Promise<number> {
  const asked = flags.of === undefined ? engines() : [flags.of]
  await using connection = await connect(flags)
  const snapshots: Readonly<Record<string, unknown>>[] = []
  for (const one of asked)
    snapshots.push(
      asFields(await ask(connection, stats, one.startsWith('/') ? { path: one } : { engine: one })) ?? {},
    )
  if (flags.json === true)
    await terminal.out(`${JSON.stringify(snapshots.length === 1 ? snapshots[0] : snapshots, null, 2)}\n`)
  else await terminal.out(formatTable(healthColumns, snapshots.map(healthCells)))
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
    harmless(text(engine) ?? '-'),
    harmless(text(path) ?? 'all'),
    harmless(text(health) ?? '-'),
    `${text(success_rate) ?? '-'} %`,
    `${text(avg_response_time_ms) ?? '-'} ms`,
  ]
}

/** `rankline countries`: codes of the countries whose name contains a text. */
export function countries(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderCountries, flags, terminal)
}

/** `rankline languages`: codes of the languages whose name contains a text. */
export function languages(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderLanguages, flags, terminal)
}

async function find(operation: FreeOperation, flags: LookupFlags, terminal: Terminal): Promise<number> {
  await using connection = await connect(flags)
  const found = await ask(connection, operation, { query: flags.text ?? '' })
  const items = Array.isArray(found) ? found.map((item) => asFields(item) ?? {}) : []
  const columns = operation.response.itemFields
  if (flags.json === true) await terminal.out(`${JSON.stringify(found, null, 2)}\n`)
  else if (items.length === 0) terminal.say(`No name contains '${flags.text}'.`)
  else
    await terminal.out(
      formatTable(
        columns.map((title) => ({ title: title.replace('_', ' ') })),
        items.map((item) => columns.map((column) => harmless(text(item[column]) ?? ''))),
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

const refusedPatienceMs = 90_000

async function ask(
  { service }: Awaited<ReturnType<typeof connect>>,
  operation: FreeOperation,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  for (;;) {
    const { settlement, body } = await service.lookup(operation, params)
    if (settlement.outcome === 'answered') return parsed(body, operation.path)
    if (settlement.outcome === 'throttled' && (service.gate.refusedFor() ?? 0) < refusedPatienceMs) continue
    const code = lookupExitCodes[settlement.outcome] ?? exitCodes.unavailable
    throw new RanklineError(
      `${operation.path}: ${settlement.error}${hints[settlement.httpStatus ?? 0] ?? ''}`,
      code,
    )
  }
}

const hints: Readonly<Record<number, string>> = {
  401: '. Check RANKLINE_API_KEY',
  403: '. This is not enabled for the account; ask the service to enable it',
  404: '. Check the name: rankline operations lists engines and paths',
}

function parsed(body: Buffer, path: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new RanklineError(
      `${path}: the answer is no JSON. Check RANKLINE_BASE_URL`,
      exitCodes.unavailable,
      {
        cause: error,
      },
    )
  }
}

/** `rankline operations`: the catalog. Calls nothing. */
export async function operations(flags: LookupFlags, terminal: Terminal): Promise<number> {
  if (flags.json === true) {
    await terminal.out(`${JSON.stringify(catalog.map(described), null, 2)}\n`)
    return 0
  }
  await terminal.out(
    formatTable(
      [
        { title: 'operation' },
        { title: 'credits', align: 'right' },
        { title: 'style' },
        { title: 'page size', align: 'right' },
        { title: 'what it is', shrinks: true },
        { title: 'parameters' },
      ],
      catalog.map((one) => [
        one.name,
        one.billable ? String(one.cost) : 'free',
        one.billable ? one.styles.join(', ') : 'get',
        pageSize(one),
        one.title,
        Object.keys(one.params).join(' '),
      ]),
      terminal.columns,
    ),
  )
  return 0
}

function pageSize(operation: Operation): string {
  if (!operation.billable || operation.paging === null) return 'one page'
  return operation.paging.pageSize === null ? 'not said' : String(operation.paging.pageSize)
}

function described(operation: Operation) {
  const { name, title, path, params, cost } = operation
  return {
    name,
    title,
    path,
    credits: cost,
    ...(operation.billable
      ? {
          engine: operation.engine,
          styles: operation.styles,
          post_path: operation.postPath ?? null,
          page_size: operation.paging?.pageSize ?? null,
          paged: operation.paging !== null,
        }
      : {}),
    exclusive: operation.exclusive ?? [],
    params: Object.entries(params).map(([param, { pattern, ...rest }]) => ({
      name: param,
      ...rest,
      ...(pattern === undefined ? {} : { form: pattern.words }),
    })),
  }
}
