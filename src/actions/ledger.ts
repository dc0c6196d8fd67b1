import type { SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import { type LedgerGroup, type LedgerSum, ledgerGroups } from '../model/ledger.ts'
import { type Column, formatTable } from '../report/table.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { grouped } from '../words.ts'
import { dayOrInstant, refuseUnknownJob } from './choices.ts'
import { verify } from './ledger-verify.ts'
import { openWhatIsStored } from './stored.ts'

export interface LedgerFlags extends SettingFlags {
  readonly what?: string
  readonly by?: string
  readonly job?: string
  readonly from?: string
  readonly until?: string
  readonly json?: boolean
}

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
  await using store = await openWhatIsStored(flags)
  if (what === 'verify') return await verify(store, flags.json === true, terminal)
  if (job !== undefined) await refuseUnknownJob(store, job)
  const given = Object.entries({ job, ...times }).filter(([, value]) => value !== undefined)
  const sums = await store.sums(by, Object.fromEntries(given))
  if (flags.json === true)
    await terminal.out(
      `${JSON.stringify(
        sums.map((sum) => document(by, sum)),
        null,
        2,
      )}\n`,
    )
  else if (sums.length === 0) terminal.say('The ledger holds no such calls.')
  else {
    await terminal.out(formatTable(columns(by), sums.map(cells), terminal.columns))
    if (by === 'tag') terminal.say('A call counts for each tag of its query.')
  }
  return 0
}

function chosenGroup(by: string): LedgerGroup {
  const known = ledgerGroups.find((one) => one === by)
  if (known !== undefined) return known
  throw new UsageError(`--by cannot be '${by}'; write one of ${ledgerGroups.join(', ')}`)
}

/** Epoch ms; a day begins in UTC. */
function instant(flag: string, text: string | undefined): number | undefined {
  const valid = dayOrInstant(flag, text)
  return valid === undefined ? undefined : Date.parse(valid)
}

function document(by: LedgerGroup, { group, creditsAmbiguous, ...sum }: LedgerSum): object {
  return { [by]: group, ...sum, credits_ambiguous: creditsAmbiguous }
}

const numbers = ['calls', 'billed', 'free', 'ambiguous', 'credits', 'creditsAmbiguous'] as const

function columns(by: LedgerGroup): readonly Column[] {
  const titles = ['calls', 'billed', 'free', 'ambiguous', 'credits', 'maybe more']
  return [
    { title: by === 'day' ? 'day (UTC)' : by, shrinks: true },
    ...titles.map((title) => ({ title, align: 'right' as const })),
  ]
}

function cells({ group, ...sum }: LedgerSum): readonly string[] {
  const name = group === null || group === '' ? '(none)' : harmless(String(group))
  return [name, ...numbers.map((number) => grouped(sum[number]))]
}
