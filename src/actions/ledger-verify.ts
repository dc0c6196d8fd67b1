import { asFields, text } from '../catalog/normalise/fields.ts'
import { type Span, type Verification, verifyBooks } from '../ledger/verify.ts'
import { formatTable } from '../report/table.ts'
import { exitCodes } from '../run/finish.ts'
import type { LedgerStore } from '../store/ledger.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count, grouped } from '../words.ts'

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
  else await terminal.out(keys.map(described).join('\n'))
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

/** Fits into 80 columns while credits have five digits. */
const columns = [
  { title: 'from (UTC)' },
  { title: 'until' },
  { title: 'counted', align: 'right' },
  { title: 'billed', align: 'right' },
  { title: 'ambiguous', align: 'right' },
  { title: 'others', align: 'right' },
  { title: 'not counted', align: 'right' },
] as const

const uncounted = 'The service began to count anew, or does not say what it counted.'

/** What all comes to, line by line, and every span in which not all is simply billed. */
function described({ key, verification: { spans, total, unverified } }: Verified): string {
  const lines = [harmless(key), verdict(spans, total), ...explained(total)]
  const words = unverifiedWords(unverified)
  if (words !== null) lines.push(words)
  const odd = spans.filter(({ used, billed }) => used !== billed)
  if (total !== null && odd.length > 0) lines.push('', formatTable(columns, odd.map(cells)).trimEnd())
  if (total !== null && odd.some(({ used }) => used === null)) lines.push(`-: ${uncounted}`)
  return `${lines.join('\n')}\n`
}

function verdict(spans: readonly Span[], total: Span | null): string {
  if (total !== null) {
    const counted = `The service counted ${count(total.used ?? 0, 'credit')}`
    return explained(total).length === 0 ? `${counted}, and so do these books.` : `${counted}:`
  }
  return spans.length === 0 ? 'There are no two readings of the usage record to compare yet.' : uncounted
}

/** What the count is made of; nothing where all of it is billed. */
function explained(total: Span | null): readonly string[] {
  if (total === null) return []
  const { billed, ambiguous, ambiguousBilled, byOthers, notCounted } = total
  const parts = [
    [
      ambiguous + ambiguousBilled,
      `${partOf(ambiguousBilled, ambiguous)} ambiguous (nobody knew whether they were billed)`,
    ],
    [byOthers, `${grouped(byOthers)} spent by others with the same key`],
    [
      notCounted,
      `${grouped(notCounted)} in these books and not counted (if only late, the next run shows it)`,
    ],
  ] as const
  const lines = parts.filter(([credits]) => credits > 0).map(([, words]) => `  ${words}`)
  return lines.length === 0 ? [] : [`  ${grouped(billed)} billed here`, ...lines]
}

/** What was lost in one span may be counted in the next. */
function partOf(part: number, whole: number): string {
  return part > whole
    ? `${grouped(whole)} + ${grouped(part - whole)} late`
    : `${grouped(part)} of ${grouped(whole)}`
}

function unverifiedWords({ before, after }: Verification['unverified']): string | null {
  const parts = [
    before === 0 ? null : `${grouped(before)} before the first reading`,
    after === 0 ? null : `${grouped(after)} after the last reading`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : `Credits not compared: ${parts.join(', ')}.`
}

function cells({ from, until, used, billed, ambiguous, ambiguousBilled, byOthers, notCounted }: Span) {
  const [start, end] = [minute(from), minute(until)]
  const sameDay = start.slice(0, 10) === end.slice(0, 10)
  return [
    start,
    end.slice(sameDay ? 'yyyy-mm-dd '.length : 'yyyy-'.length),
    used === null ? '-' : grouped(used),
    grouped(billed),
    ambiguous + ambiguousBilled === 0 ? '0' : partOf(ambiguousBilled, ambiguous),
    grouped(byOthers),
    grouped(notCounted),
  ]
}

function minute(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
}
