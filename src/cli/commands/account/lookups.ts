import { asFields, text } from '../../../catalog/answers.ts'
import { operations as catalog, finderCountries, finderLanguages, stats } from '../../../catalog/index.ts'
import type { FreeOperation } from '../../../catalog/operation.ts'
import type { Outcome } from '../../../model/call.ts'
import { RanklineError } from '../../../model/errors.ts'
import { exitCodes } from '../../../model/run.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { connectFreely, lookupDelays } from '../../../run/app.ts'
import { type Command, serviceFlags, type TypedOptions } from '../../flags.ts'
import { lookupExits } from '../../help.ts'

type LookupFlags = TypedOptions<typeof serviceFlags> & { readonly text?: string; readonly engine?: string }

export const healthCommand = {
  flags: serviceFlags,
  words: engines(),
  exits: lookupExits,
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
  await using app = await connectFreely(flags, { stored: 'not-read' })
  const snapshots: Readonly<Record<string, unknown>>[] = []
  for (const one of asked)
    snapshots.push(
      asFields(await ask(app, stats, one.startsWith('/') ? { path: one } : { engine: one })) ?? {},
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
    sanitize(text(engine) ?? '-'),
    sanitize(text(path) ?? 'all'),
    sanitize(text(health) ?? '-'),
    `${text(success_rate) ?? '-'} %`,
    `${text(avg_response_time_ms) ?? '-'} ms`,
  ]
}

export const countriesCommand = {
  flags: serviceFlags,
  exits: lookupExits,
  docs: 'docs/operations.md',
  examples: [['countries king', 'codes of the countries whose name contains king']],
  run: countries,
} satisfies Command

/** `rankline countries`: codes of the countries whose name contains a text. */
export function countries(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderCountries, flags, terminal)
}

export const languagesCommand = {
  flags: serviceFlags,
  exits: lookupExits,
  docs: 'docs/operations.md',
  examples: [['languages port', 'codes of the languages whose name contains port']],
  run: languages,
} satisfies Command

/** `rankline languages`: codes of the languages whose name contains a text. */
export function languages(flags: LookupFlags, terminal: Terminal): Promise<number> {
  return find(finderLanguages, flags, terminal)
}

async function find(operation: FreeOperation, flags: LookupFlags, terminal: Terminal): Promise<number> {
  await using app = await connectFreely(flags, { stored: 'not-read' })
  const found = await ask(app, operation, { query: flags.text ?? '' })
  const items = Array.isArray(found) ? found.map((item) => asFields(item) ?? {}) : []
  const columns = operation.response.itemFields
  if (flags.json === true) await terminal.write(`${JSON.stringify(found, null, 2)}\n`)
  else if (items.length === 0) terminal.log(`No name contains '${flags.text}'.`)
  else
    await terminal.write(
      formatTable(
        columns.map((title) => ({ title: title.replace('_', ' ') })),
        items.map((item) => columns.map((column) => sanitize(text(item[column]) ?? ''))),
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
  { service }: Awaited<ReturnType<typeof connectFreely>>,
  operation: FreeOperation,
  params: Readonly<Record<string, string>>,
): Promise<unknown> {
  for (;;) {
    const { settlement, body, wrongSetting } = await service.lookup(operation, params)
    if (settlement.outcome === 'answered') return parsed(body, operation.path)
    if (
      settlement.outcome === 'throttled' &&
      (service.rateLimiter.throttledFor() ?? 0) < lookupDelays.throttledMs
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
