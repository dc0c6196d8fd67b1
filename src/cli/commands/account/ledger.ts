import { readPart } from '../../../catalog/operation.ts'
import { type UsageInterval, verifyLedger } from '../../../ledger/verify.ts'
import { type LedgerGroup, type LedgerSum, ledgerGroups } from '../../../model/call.ts'
import { UsageError } from '../../../model/errors.ts'
import { exitCodes } from '../../../model/run.ts'
import { count, grouped } from '../../../model/text.ts'
import { utcMinute } from '../../../model/time.ts'
import { type OptionSpecs, textOption } from '../../../model/values.ts'
import { formatTable, type TableColumn } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { storedData } from '../../../run/open-stored.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import { dayArguments, refuseUnknownJob, syncFirst, syncFirstFlags } from '../../arguments.ts'
import type { Command, TypedOptions } from '../../flags.ts'

const flags = {
  by: textOption('run, day (UTC), job, tag or client [day]'),
  job: textOption('Calls of this job only'),
  from: textOption('From this day or instant on (UTC)'),
  until: textOption('Before this day or instant (UTC)'),
  ...syncFirstFlags,
} satisfies OptionSpecs

type LedgerFlags = TypedOptions<typeof flags> & { readonly what?: string }

export const ledgerCommand = {
  flags,
  words: ['verify'],
  exits: [0, 1, 2, 3, 6],
  docs: 'docs/ledger.md',
  examples: [
    ['ledger --by job', 'credits by job'],
    ['ledger verify', 'the ledger compared with the count of the service'],
  ],
  run: ledger,
} satisfies Command

/** `rankline ledger`: what calls came to in credits; `ledger verify` sets that against the service's own count. */
export async function ledger(flags: LedgerFlags, terminal: Terminal): Promise<number> {
  const { what, job } = flags
  if (what !== undefined && what !== 'verify') {
    const by = ledgerGroups.find((one) => one === what) ?? 'run'
    throw new UsageError(
      `There is no 'ledger ${what}', only 'ledger verify'. For credits by ${by}, write: rankline ledger --by ${by}`,
    )
  }
  const filtered = (['by', 'job', 'from', 'until'] as const).find((flag) => flags[flag] !== undefined)
  if (what === 'verify' && filtered !== undefined)
    throw new UsageError(
      `--${filtered} has no meaning for ledger verify, which looks at all calls; leave it out`,
    )
  const by = chosenGroup(flags.by ?? 'day')
  const times = { from: instant('--from', flags.from), until: instant('--until', flags.until) }
  await syncFirst(flags, terminal)
  await using store = await storedData.read(flags)
  if (what === 'verify') return await verify(store, flags.json === true, terminal)
  if (job !== undefined) await refuseUnknownJob(store, job)
  const given = Object.entries({ job, ...times }).filter(([, value]) => value !== undefined)
  const sums = await sumsBy(store, by, Object.fromEntries(given))
  if (flags.json === true)
    await terminal.write(
      `${JSON.stringify(
        sums.map((sum) => document(by, sum)),
        null,
        2,
      )}\n`,
    )
  else if (sums.length === 0) terminal.log('The ledger holds no such calls.')
  else {
    await terminal.write(formatTable(columns(by), rows(sums), terminal.columns))
    if (sums.some(({ shared }) => shared > 0)) terminal.log(splitNote[by])
  }
  return 0
}

/** A run is what bought; all others are what asked, and a day is so where it is of one job. */
async function sumsBy(
  store: Store,
  by: LedgerGroup,
  filter: Parameters<Store['sums']>[1],
): Promise<readonly LedgerSum[]> {
  return by === 'run' || (by === 'day' && filter.job === undefined)
    ? await store.sums(by, filter)
    : await store.shares(by, filter)
}

const ofJobs = 'The credits of a call for which several jobs of one command asked are split between them'
const splitNote: Readonly<Record<LedgerGroup, string>> = {
  run: '',
  day: `${ofJobs}; the call counts for each.`,
  job: `${ofJobs}; the call counts for each.`,
  client: `${ofJobs}, and so between their clients; the call counts for each job.`,
  tag: `${ofJobs}, and equally between the tags of a query; the call counts for each.`,
}

function chosenGroup(by: string): LedgerGroup {
  const known = ledgerGroups.find((one) => one === by)
  if (known !== undefined) return known
  throw new UsageError(`--by cannot be '${by}'; write one of ${ledgerGroups.join(', ')}`)
}

/** Epoch ms; a day begins in UTC. */
function instant(flag: string, text: string | undefined): number | undefined {
  const valid = dayArguments.dayOrInstant(flag, text)
  return valid === undefined ? undefined : Date.parse(valid)
}

function document(by: LedgerGroup, { group, creditsAmbiguous, shared, ...sum }: LedgerSum): object {
  const document = { [by]: group, ...sum, credits_ambiguous: creditsAmbiguous }
  return by === 'run' || by === 'day' ? document : { ...document, shared_calls: shared }
}

const counts = ['calls', 'billed', 'free', 'ambiguous'] as const
const prices = ['credits', 'creditsAmbiguous'] as const

function columns(by: LedgerGroup): readonly TableColumn[] {
  const titles = ['calls', 'billed', 'free', 'ambiguous', 'credits', 'possibly billed']
  return [
    { title: by === 'day' ? 'day (UTC)' : by, shrinks: true },
    ...titles.map((title) => ({ title, align: 'right' as const })),
  ]
}

function rows(sums: readonly LedgerSum[]): readonly (readonly string[])[] {
  const isSplit = sums.some((sum) => prices.some((price) => !Number.isInteger(sum[price])))
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const credits = (n: number): string => (isSplit ? n.toLocaleString('en-US', digits) : grouped(n))
  return sums.map(({ group, ...sum }) => [
    group === null || group === '' ? '(none)' : sanitize(String(group)),
    ...counts.map((name) => grouped(sum[name])),
    ...prices.map((name) => credits(sum[name])),
  ])
}

/** Sets the ledger against the readings of the service's own count, for every key; answers the exit code. */
export async function verify(
  store: Store & Pick<Store, 'queueFailovers'>,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const keys = await Promise.all(
    (await store.keysRead()).map(async (hash) => ({
      key: await nameOf(store, hash),
      verification: verifyLedger(store.readings(hash), store.charges(hash), await store.queueFailovers()),
    })),
  )
  if (json) await terminal.write(`${JSON.stringify(keys.map(verifyDocument), null, 2)}\n`)
  else if (keys.length === 0) terminal.log('The usage record was never read, so there is nothing to compare.')
  else await terminal.write(keys.map(described).join('\n'))
  // What was given back stays given back: no later reading changes that.
  const short = keys.some(({ verification: { total } }) => (total?.notCounted ?? 0) > (total?.refunded ?? 0))
  return short ? exitCodes.completed_with_failures : exitCodes.completed
}

/** The name that the service gives to the key, and enough of its digest to tell it from others. */
async function nameOf(store: Store, hash: string): Promise<string> {
  const record = JSON.parse((await store.lastUsage(hash))?.record ?? '{}') as unknown
  const alias = readPart.text(readPart.fields(readPart.fields(record)?.api_key)?.alias)
  const short = `key ${hash.slice(0, 8)}`
  return alias === null ? short : `${alias} (${short})`
}

interface VerifiedKey {
  readonly key: string
  readonly verification: Verification
}

function verifyDocument({ key, verification: { spans, total, unverified } }: VerifiedKey): object {
  return {
    key,
    total: total === null ? null : spanDocument(total),
    spans: spans.map(spanDocument),
    unverified,
  }
}

function spanDocument(interval: UsageInterval) {
  const { from, until, used, billed, ambiguous } = interval
  return {
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
    used,
    billed,
    ambiguous,
    ambiguous_billed: interval.ambiguousBilled,
    by_others: interval.spentByOthers,
    ...(interval.lostByFailover === 0 ? {} : { lost_by_failover: interval.lostByFailover }),
    not_counted: interval.notCounted,
    ...(interval.refunded === 0 ? {} : { refunded: interval.refunded }),
  }
}

/** Fits into 80 columns while credits have five digits. */
const verifyColumns = [
  { title: 'from (UTC)' },
  { title: 'until' },
  { title: 'counted', align: 'right' },
  { title: 'billed', align: 'right' },
  { title: 'ambiguous', align: 'right' },
  { title: 'others', align: 'right' },
  { title: 'not counted', align: 'right' },
] as const

const uncounted = 'The service started its count again, gave credits back, or says no count.'

/** The comparison in lines, and a table of the intervals in which the service counted other credits than were billed here. */
function described({ key, verification: { spans, total, unverified } }: VerifiedKey): string {
  const lines = [sanitize(key), verdict(spans, total), ...explained(total)]
  const text = unverifiedText(unverified)
  if (text !== null) lines.push(text)
  const odd = spans.filter(({ used, billed }) => used !== billed)
  if (total !== null && odd.length > 0)
    lines.push('', formatTable(verifyColumns, odd.map(verifyCells)).trimEnd())
  if (total !== null && odd.some(({ used }) => used === null)) lines.push(`-: ${uncounted}`)
  return `${lines.join('\n')}\n`
}

function verdict(spans: readonly UsageInterval[], total: UsageInterval | null): string {
  if (total !== null) {
    const counted = `The service counted ${count(total.used ?? 0, 'credit')}`
    return explained(total).length === 0 ? `${counted}, and so does this ledger.` : `${counted}:`
  }
  return spans.length === 0 ? 'There are no two readings of the usage record to compare yet.' : uncounted
}

/** What the count is made of; nothing where all of it is billed. */
function explained(total: UsageInterval | null): readonly string[] {
  if (total === null) return []
  const { billed, ambiguous, ambiguousBilled, spentByOthers, lostByFailover, notCounted, refunded } = total
  const parts = [
    [
      ambiguous + ambiguousBilled,
      `${partOf(ambiguousBilled, ambiguous)} ambiguous (it was not known whether they were billed)`,
    ],
    [spentByOthers, `${grouped(spentByOthers)} spent by others with the same key`],
    [
      lostByFailover,
      `${grouped(lostByFailover)} spent in calls that the queue lost when its server failed over`,
    ],
    [refunded, `${grouped(refunded)} in this ledger that the service gave back, or never counted`],
    [
      notCounted - refunded,
      `${grouped(notCounted - refunded)} in this ledger and not counted (if it is only late, the next run shows it)`,
    ],
  ] as const
  const lines = parts.filter(([credits]) => credits > 0).map(([, text]) => `  ${text}`)
  return lines.length === 0 ? [] : [`  ${grouped(billed)} billed here`, ...lines]
}

/** What was lost in one span may be counted in the next. */
function partOf(part: number, whole: number): string {
  return part > whole
    ? `${grouped(whole)} + ${grouped(part - whole)} late`
    : `${grouped(part)} of ${grouped(whole)}`
}

function unverifiedText({ before, after }: Verification['unverified']): string | null {
  const parts = [
    before === 0 ? null : `${grouped(before)} before the first reading`,
    after === 0 ? null : `${grouped(after)} after the last reading`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : `Credits not compared: ${parts.join(', ')}.`
}

function verifyCells(interval: UsageInterval): readonly string[] {
  const { used, ambiguous, ambiguousBilled } = interval
  const [start, end] = [utcMinute(interval.from), utcMinute(interval.until)]
  const sameDay = start.slice(0, 10) === end.slice(0, 10)
  return [
    start,
    end.slice(sameDay ? 'yyyy-mm-dd '.length : 'yyyy-'.length),
    used === null ? '-' : grouped(used),
    grouped(interval.billed),
    ambiguous + ambiguousBilled === 0 ? '0' : partOf(ambiguousBilled, ambiguous),
    grouped(interval.spentByOthers),
    grouped(interval.notCounted),
  ]
}

/** The ledger of one key compared with the service's own count. */
type Verification = ReturnType<typeof verifyLedger>
