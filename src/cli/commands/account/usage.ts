import { asFields, number, text } from '../../../catalog/answers.ts'
import {
  type AccountReading,
  accountStop,
  keyExpiry,
  parseUsage,
  unreadLines,
} from '../../../collect/account.ts'
import { exitCodeOf } from '../../../collect/finish.ts'
import { UsageUnavailable } from '../../../collect/stop.ts'
import { RanklineError } from '../../../model/errors.ts'
import type { OptionSpecs } from '../../../model/option.ts'
import { grouped } from '../../../model/text.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { connectFreely } from '../../../run/app.ts'
import { accountOf } from '../../../run/plan-jobs.ts'
import { type Command, serviceFlags, type TypedOptions } from '../../flags.ts'
import { accountExits } from '../../help.ts'

const flags = serviceFlags satisfies OptionSpecs

export type UsageFlags = TypedOptions<typeof flags>

export const usageCommand = {
  flags,
  exits: accountExits,
  docs: 'docs/budgets.md',
  examples: [
    ['usage', 'balance, limits and quotas'],
    ['usage --json', 'the record as the service sends it'],
  ],
  run: usage,
} satisfies Command

/** `rankline usage`: balance, limits and quotas of the key. */
export async function usage(flags: UsageFlags, terminal: Terminal): Promise<number> {
  await using app = await connectFreely(flags, { stored: 'not-read' })
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
  const fields = asFields(JSON.parse(record.toString('utf8'))) ?? {}
  const part = (name: string) => asFields(fields[name]) ?? {}
  const shown = (value: unknown): string => {
    const read = number(value)
    return read === null ? '-' : grouped(read)
  }
  const limit = (name: string, value: number | null | undefined): string => {
    const parts = name.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'))
    if (parts.some((part) => account?.unread[part] !== undefined)) return 'cannot be read'
    return value == null ? 'no limit' : grouped(value)
  }
  const packs = asFields(fields.packs)
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
    ['key', `${text(part('api_key').alias) ?? '-'}${account?.keyActive === false ? ' (inactive)' : ''}`],
    ['key expires', account?.keyExpires ?? 'never'],
    ['renewal', text(fields.renewal_date) ?? '-'],
  ]
  const plain = rows.map((row) => row.map(sanitize))
  return formatTable([{ title: 'account' }, { title: sanitize(text(part('account').name) ?? '') }], plain)
}
