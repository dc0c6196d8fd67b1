import { asFields, text } from '../catalog/normalise/fields.ts'
import { type Span, type Verification, verifyBooks } from '../ledger/verify.ts'
import { formatTable } from '../report/table.ts'
import { exitCodes } from '../run/finish.ts'
import type { LedgerStore } from '../store/ledger.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count } from '../words.ts'

/** Sets the ledger against the readings of the service's own count, for every key; answers the exit code. */
export async function verify(store: LedgerStore, json: boolean, terminal: Terminal): Promise<number> {
  const keys = await Promise.all(
    (await store.keysRead()).map(async (hash) => ({
      key: await nameOf(store, hash),
      verification: verifyBooks(store.readings(hash), store.charges(hash)),
    })),
  )
  if (json) await terminal.out(`${JSON.stringify(keys.map(document), null, 2)}\n`)
  else if (keys.length === 0) terminal.say('The usage record was never read, so there is nothing to compare.')
  else for (const one of keys) await terminal.out(`${described(one)}\n`)
  const short = keys.some(({ verification }) => (verification.total?.notCounted ?? 0) > 0)
  return short ? exitCodes.completed_with_failures : exitCodes.completed
}

interface Verified {
  readonly key: string
  readonly verification: Verification
}

/** The name that the service gives to the key, and enough of its digest to tell it from others. */
async function nameOf(store: LedgerStore, hash: string): Promise<string> {
  const record = JSON.parse((await store.lastUsage(hash))?.record ?? '{}') as unknown
  const alias = text(asFields(asFields(record)?.api_key)?.alias)
  const short = `key ${hash.slice(0, 8)}`
  return alias === null ? short : `${alias} (${short})`
}

function document({ key, verification: { spans, total, unverified } }: Verified): object {
  return {
    key,
    total: total === null ? null : spanDocument(total),
    spans: spans.map(spanDocument),
    unverified,
  }
}

function spanDocument({ from, until, used, billed, ambiguous, ambiguousBilled, byOthers, notCounted }: Span) {
  return {
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
    used,
    billed,
    ambiguous,
    ambiguous_billed: ambiguousBilled,
    by_others: byOthers,
    not_counted: notCounted,
  }
}

const columns = [
  { title: 'from (UTC)' },
  { title: 'until' },
  { title: 'counted', align: 'right' },
  { title: 'billed', align: 'right' },
  { title: 'ambiguous', align: 'right' },
  { title: 'of it billed', align: 'right' },
  { title: 'by others', align: 'right' },
  { title: 'not counted', align: 'right' },
] as const

/** The verdict in a sentence, and every span in which not all is simply billed. */
function described({ key, verification: { spans, total, unverified } }: Verified): string {
  const odd = spans.filter(({ used, billed }) => used !== billed)
  const table =
    odd.length === 0 || total === null ? '' : `\n${formatTable(columns, [...odd, total].map(cells))}`
  return `${harmless(key)}: ${verdict(total)}.${unverifiedWords(unverified)}${table}`
}

function verdict(total: Span | null): string {
  if (total === null) return 'no two readings of the usage record to compare yet'
  const { used, billed, ambiguous, ambiguousBilled, byOthers, notCounted } = total
  const parts = [
    `${count(billed, 'credit')} billed here`,
    ambiguous === 0
      ? null
      : `${ambiguousBilled.toLocaleString('en-US')} of ${ambiguous.toLocaleString('en-US')} ambiguous`,
    byOthers === 0 ? null : `${byOthers.toLocaleString('en-US')} spent by others with the same key`,
    notCounted === 0
      ? null
      : `${notCounted.toLocaleString('en-US')} more in our books than the service has counted (it may count late: verify again after the next run)`,
  ]
  return `the service counted ${count(used ?? 0, 'credit')}: ${parts.filter((part) => part !== null).join(', ')}`
}

function unverifiedWords({ before, after }: Verification['unverified']): string {
  const parts = [
    before === 0 ? null : `${count(before, 'credit')} before the first reading`,
    after === 0 ? null : `${count(after, 'credit')} since the last one`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? '' : ` Not compared: ${parts.join(', ')}.`
}

function cells({ from, until, used, billed, ambiguous, ambiguousBilled, byOthers, notCounted }: Span) {
  const numbers = [billed, ambiguous, ambiguousBilled, byOthers, notCounted]
  return [
    ...[from, until].map((instant) => new Date(instant).toISOString().slice(0, 19).replace('T', ' ')),
    used === null ? 'began anew' : used.toLocaleString('en-US'),
    ...numbers.map((number) => number.toLocaleString('en-US')),
  ]
}
