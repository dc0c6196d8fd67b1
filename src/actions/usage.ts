import { keyExpiry, readAccount } from '../api/account.ts'
import { asFields, text } from '../catalog/normalise/fields.ts'
import { RanklineError } from '../errors.ts'
import { formatTable } from '../report/table.ts'
import { exitCodeOf } from '../run/finish.ts'
import { type AccountReading, AccountUnknown, readUsage } from '../run/read-account.ts'
import { newStop } from '../run/stop.ts'
import { accountStop } from '../run/stop-causes.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { grouped } from '../words.ts'
import { connectFreely, lookupPatience, type WireFlags } from './wire.ts'

export interface UsageFlags extends WireFlags {
  readonly json?: boolean
}

/** `rankline usage`: balance, limits and quotas of the key. */
export async function usage(flags: UsageFlags, terminal: Terminal): Promise<number> {
  await using connection = await connectFreely(flags, { stored: 'not-read' })
  const { service, store, clock, keyHash } = connection
  const signal = newStop().signal
  let reading: AccountReading
  try {
    reading = await readUsage(
      {
        service,
        store,
        clock,
        keyHash,
        random: Math.random,
        signal,
        maxThrottlingMs: lookupPatience.throttledMs,
      },
      null,
    )
  } catch (error) {
    if (!(error instanceof AccountUnknown)) throw error
    throw new RanklineError(error.message, exitCodeOf(error.stop))
  }
  const record = (await store.lastUsage(keyHash))?.record ?? '{}'
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(JSON.parse(record), null, 2)}\n`
      : usageTable(Buffer.from(record)),
  )
  for (const warning of accountWarnings(reading)) terminal.say(warning)
  return 0
}

const expiryNoticeMs = 14 * 86_400_000

/** What stands in the way of a run now, or soon will. */
export function accountWarnings(account: AccountReading): readonly string[] {
  const stop = accountStop(account, account.at)
  if (stop !== null) return [stop.message]
  const left = (keyExpiry(account) ?? Number.POSITIVE_INFINITY) - account.at
  return left < expiryNoticeMs ? [`The API key expires on ${harmless(account.keyExpires ?? '')}.`] : []
}

function usageTable(record: Buffer): string {
  const account = readAccount(record)
  const fields = asFields(JSON.parse(record.toString('utf8'))) ?? {}
  const part = (name: string) => asFields(fields[name]) ?? {}
  const number = (value: unknown): string => (typeof value === 'number' ? grouped(value) : '-')
  const limit = (value: number | null | undefined): string => (value == null ? 'no limit' : grouped(value))
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
