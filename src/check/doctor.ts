import { unreadLines } from '../collect/account.ts'
import type { OthersSpending } from '../ledger/verify.ts'
import type { Account } from '../model/call.ts'
import { count, grouped, size } from '../model/text.ts'
import { agreeingMs, clockOff, dayMs, utcBetween } from '../model/time.ts'
import { shareQueue } from '../store/sqlite/ledger/sums.ts'
import { leastBytes, lowBytes } from '../unattended/status.ts'

/** How a check ended. `skipped` says that another one has to be mended first. */
export type CheckState = 'ok' | 'warning' | 'error' | 'skipped'

/** What a check found, and what to do. */
export interface CheckFinding {
  readonly state: CheckState
  readonly text: string
}

/** Every check, in the order in which they are shown: what others depend on comes first. Each is pure. */
export const checks: readonly {
  readonly name: string
  readonly judge: (facts: InstallationFacts) => CheckFinding
}[] = [
  { name: 'program', judge: program },
  { name: 'time zones', judge: timeZones },
  { name: 'settings', judge: settings },
  { name: 'service', judge: service },
  { name: 'key', judge: key },
  { name: 'balance', judge: ofAccount(balance) },
  { name: 'rate limit', judge: ofAccount(rateLimit) },
  { name: 'clock', judge: ofAccount(clock) },
  { name: 'shared key', judge: sharedKey },
  { name: 'queue', judge: queue },
  { name: 'database', judge: database },
  { name: 'disk', judge: disk },
  { name: 'locks', judge: locks },
  { name: 'workspace', judge: workspace },
  { name: 'jobs', judge: jobs },
  { name: 'channels', judge: channels },
  { name: 'cron', judge: cron },
]

/** The same notice that `plan` gives. */
const expiryNoticeMs = 14 * dayMs
/** With more, runs begin late or early, and calls count on another day than at the service. */
const noticeableSkewMs = 10_000
/** No run takes so long: its process may hang. */
const longHeldMs = dayMs

function ok(text: string): CheckFinding {
  return { state: 'ok', text }
}

function warning(text: string): CheckFinding {
  return { state: 'warning', text }
}

function error(text: string): CheckFinding {
  return { state: 'error', text }
}

function program({ program: { version, node, platform } }: InstallationFacts): CheckFinding {
  return ok(`rankline ${version}, Node ${node}, ${platform}`)
}

function timeZones({ now, program: { zoneData, knowsZones, zone } }: InstallationFacts): CheckFinding {
  if (!knowsZones)
    return error(
      'This Node has no time zones: days and schedules would be those of UTC. Install a Node with full ICU data',
    )
  const year = Number(zoneData?.slice(0, 4) ?? Number.NaN)
  if (new Date(now).getUTCFullYear() - year > 2)
    return warning(`The time zone data is of ${year}: changes since then are not known. Install a newer Node`)
  return ok(`data ${zoneData ?? 'of unknown age'}; this machine is in ${zone}`)
}

function settings({ settings }: InstallationFacts): CheckFinding {
  if ('mistake' in settings) return error(settings.mistake)
  const { baseUrl, proxy } = settings
  return ok(`${baseUrl}, ${proxy === null ? 'asked directly' : `asked through the proxy ${proxy}`}`)
}

function service({ service }: InstallationFacts): CheckFinding {
  if (service === null) return skipped('the settings')
  return 'mistake' in service && service.about === 'service' ? error(service.mistake) : ok('answers')
}

/** A judgement that needs what the service says of the account. */
function ofAccount(judge: (account: AccountFacts, facts: InstallationFacts) => CheckFinding) {
  return (facts: InstallationFacts): CheckFinding => {
    const { service } = facts
    if (service === null) return skipped('the settings')
    return 'mistake' in service ? skipped(`the ${service.about}`) : judge(service, facts)
  }
}

function skipped(what: string): CheckFinding {
  return { state: 'skipped', text: `not checked: ${what} first` }
}

function key(facts: InstallationFacts): CheckFinding {
  const { service } = facts
  const isRefused = service !== null && 'mistake' in service && service.about === 'key'
  return isRefused ? error(service.mistake) : ofAccount(acceptedKey)(facts)
}

function acceptedKey({ stop, keyExpiresAt }: AccountFacts, { now }: InstallationFacts): CheckFinding {
  if (stop !== null) return error(stop)
  if (keyExpiresAt === null) return ok('accepted, without an end')
  const day = new Date(keyExpiresAt).toISOString().slice(0, 10)
  if (keyExpiresAt - now >= expiryNoticeMs) return ok(`accepted, until ${day}`)
  return warning(`The key expires on ${day}: renew it at the service, and put the new one into .env`)
}

function balance(
  { account: { remaining } }: AccountFacts,
  { jobs: { credits, sound } }: InstallationFacts,
): CheckFinding {
  if (remaining === null) return warning('The service names no balance: nothing can be bought')
  if (remaining <= 0) return error('The balance is 0 credits: top up, or every run stops with exit code 4')
  const has = count(remaining, 'credit')
  if (sound === 0) return ok(has)
  const takes = sound === 1 ? 'one run of the job here' : 'one run of all jobs here'
  return remaining < credits
    ? warning(`${has} do not cover ${takes} (up to ${grouped(credits)}): top up, or run with --fit-balance`)
    : ok(`${has}; ${takes} takes up to ${grouped(credits)}`)
}

function rateLimit({ account }: AccountFacts): CheckFinding {
  const { limits, quotas } = account
  const [unread] = unreadLines(account)
  if (unread !== undefined) return warning(unread.replace(/\.$/, ''))
  const windows = [
    [limits.perSecond, 'a second'],
    [limits.perMinute, 'a minute'],
    [quotas.daily, 'a day'],
    [quotas.weekly, 'a week'],
    [quotas.monthly, 'a month'],
    [quotas.total, 'in all'],
  ] as const
  const limited = windows.flatMap(([limit, window]) =>
    limit === null ? [] : [`${count(limit, 'call')} ${window}`],
  )
  return ok(limited.length === 0 ? 'none' : limited.join(', '))
}

function clock({ aheadMs }: AccountFacts): CheckFinding {
  if (aheadMs === null) return ok('the service does not say the time')
  const off = Math.abs(aheadMs)
  if (off < noticeableSkewMs) return ok('agrees with that of the service')
  const text = `${clockOff(aheadMs)}: set it, best by NTP`
  return off < agreeingMs ? warning(text) : error(text)
}

function sharedKey({ sharing, settings }: InstallationFacts): CheckFinding {
  if ('isQueued' in settings && settings.isQueued)
    return ok(
      'shared by the machines of the queue; after rankline sync, rankline ledger verify shows what others spent',
    )
  const { isKnown, lately, perMinute } = sharing
  const now =
    perMinute === null || perMinute === 0
      ? []
      : [`Another program spends about ${count(perMinute, 'credit')} a minute with this key`]
  const week =
    lately === null
      ? []
      : [
          `${count(lately.credits, 'credit')} of the last week ${lately.credits === 1 ? 'is' : 'are'} in no call of this database (spent ${utcBetween(lately.from, lately.until)})`,
        ]
  const found = [...now, ...week]
  if (found.length > 0) return warning(`${found.join('; ')}. ${shareQueue}`)
  return ok(
    isKnown
      ? 'every credit of the last week was spent by this database'
      : 'not known yet: it takes two readings of the usage record',
  )
}

function queue({ queue }: InstallationFacts): CheckFinding {
  if (queue === null) return ok('none is set: this machine collects alone')
  if ('mistake' in queue) return queue.isMissing ? ok(queue.mistake) : error(queue.mistake)
  const { version, workers, runs, problems } = queue
  if (problems.length > 0) return warning(problems.map((problem) => problem.replace(/\.$/, '')).join('. '))
  return ok(`version ${version}; ${count(workers, 'worker')}, ${count(runs, 'unfinished run')}`)
}

function database({ database: found }: InstallationFacts): CheckFinding {
  const { path } = found
  if (found.state === 'unusable') return error(found.mistake)
  if (found.state === 'missing')
    return found.makeable === null
      ? ok(`${path} is not there yet: the first run makes it`)
      : error(found.makeable)
  const { bytes, isWritable, isOlder, damage, isChecked } = found
  if (damage !== null)
    return error(
      `${path} is damaged (${damage}): stop all runs, and put a backup in its place; rankline db check says more`,
    )
  if (!isWritable)
    return warning(`${path} may only be read by this user: runs need to write it and its folder`)
  const holds = `${path}, ${size(bytes)}`
  if (isOlder) return ok(`${holds}, of an older rankline: the next run changes it`)
  return ok(isChecked ? `${holds}, sound` : `${holds}; too large to be read here: rankline db check`)
}

function disk({ freeBytes }: InstallationFacts): CheckFinding {
  const free = `${size(freeBytes)} free`
  if (freeBytes < leastBytes) return error(`Only ${free}: free some space, or runs stop with exit code 6`)
  return freeBytes < lowBytes ? warning(`Only ${free}: free some space soon`) : ok(free)
}

function locks({ locks, now }: InstallationFacts): CheckFinding {
  const unusable = locks.find(({ isUsable }) => !isUsable)
  if (unusable !== undefined)
    return error(
      `The lock file ${unusable.file} cannot be written by this user: let it be written, or run as its owner`,
    )
  const held = locks.filter(({ owner }) => owner !== null)
  const [first] = held
  if (first === undefined) return ok('free; locks cover this machine only')
  const { owner } = first
  const text = `${owner} on this machine is collecting with this ${held.map((one) => one.of).join(' and ')}`
  const since = Date.parse(owner?.match(/since (\S+)$/)?.[1] ?? '')
  return now - since > longHeldMs ? warning(`${text}: see whether it hangs, and end it`) : ok(text)
}

function workspace({
  folder: { hasWorkspaceFile, hasOldSchemas },
  jobs: { workspaceMistake },
}: InstallationFacts): CheckFinding {
  if (workspaceMistake !== null) return error(workspaceMistake)
  const found = hasWorkspaceFile
    ? 'rankline.yaml has no mistakes'
    : 'no rankline.yaml here: the jobs share nothing'
  return ok(hasOldSchemas ? `${found}; for editors, rankline init --schemas writes newer schemas` : found)
}

function jobs({
  jobs: { workspaceMistake, files, sound, firstMistake, queries, scheduled },
}: InstallationFacts): CheckFinding {
  if (workspaceMistake !== null) return skipped('rankline.yaml')
  if (files === 0) return ok('no job file in this folder; rankline init lays one out')
  if (firstMistake !== null) return error(`${firstMistake} (${count(files - sound, 'file')} with mistakes)`)
  const times = scheduled === 0 ? 'none with a schedule' : `${grouped(scheduled)} with a schedule`
  return ok(`${count(sound, 'job')}, ${count(queries, 'query', 'queries')}, ${times}`)
}

function channels({ channels, jobs: { workspaceMistake, alerting } }: InstallationFacts): CheckFinding {
  if (workspaceMistake !== null) return skipped('rankline.yaml')
  const blocked = channels.flatMap(({ name, obstacle }) =>
    obstacle === null ? [] : [`${name}: ${obstacle}`],
  )
  if (blocked.length > 0) return warning(`${blocked.join('; ')}. Messages wait until then`)
  if (channels.length === 0)
    return alerting.length === 0
      ? ok('none; alerts need one in rankline.yaml')
      : warning(
          `none, so alerts and digests of ${alerting.join(', ')} reach no one. Write one into rankline.yaml, such as: channels: { log: { type: file, path: alerts.jsonl } }`,
        )
  return ok(`${channels.map(({ name }) => name).join(', ')}; rankline alerts test sends a sample`)
}

/** Only a hint: jobs may as well be started by systemd or in a container, which have settings of their own. */
function cron({ cron: { onlyInShell, findsNode } }: InstallationFacts): CheckFinding {
  const hints = [
    onlyInShell.length === 0
      ? null
      : `put ${onlyInShell.join(', ')} into .env: cron has no variable of this shell`,
    findsNode ? null : 'cron does not find node by itself: rankline schedule --print crontab has its path',
  ].filter((hint) => hint !== null)
  return ok(hints.length === 0 ? 'a bare cron has what it takes' : hints.join('; '))
}

/** All that was found out about an installation. What the checks say follows from this alone. */
export interface InstallationFacts {
  /** Epoch ms, by the clock of this machine. */
  readonly now: number
  readonly program: {
    readonly version: string
    readonly node: string
    readonly platform: string
    /** Release of the time zone data, such as `2025b`; null where it is not known. */
    readonly zoneData: string | null
    /** Whether a zone other than UTC has its own time. */
    readonly knowsZones: boolean
    /** Zone of this machine. */
    readonly zone: string
  }
  /** Where the service is and how it is reached, or what is wrong with the settings. */
  readonly settings:
    | {
        readonly baseUrl: string
        readonly proxy: string | null
        /** Whether machines share a queue here: what they spend is not all in this database. */
        readonly isQueued: boolean
      }
    | { readonly mistake: string }
  /** What the service says of the account, or why it does not: it cannot be used, or it refuses the key. Null where it could not be asked. */
  readonly service: { readonly about: 'service' | 'key'; readonly mistake: string } | AccountFacts | null
  /** What is to be known of the queue that machines share, or why it cannot be used; null where none is set. */
  readonly queue:
    | {
        readonly mistake: string
        /** Whether only its tables are missing, which the first run makes. */
        readonly isMissing: boolean
      }
    | {
        readonly version: number
        readonly workers: number
        readonly runs: number
        /** A sentence for each, with what to do. */
        readonly problems: readonly string[]
      }
    | null
  readonly database: { readonly path: string } & (
    | {
        readonly state: 'missing'
        /** Null where the first run can make it, else why it cannot. */
        readonly makeable: string | null
      }
    | { readonly state: 'unusable'; readonly mistake: string }
    | {
        readonly state: 'there'
        readonly bytes: number
        readonly isWritable: boolean
        /** Made by an older rankline: the next run changes it. */
        readonly isOlder: boolean
        /** What SQLite says is damaged; null for nothing. */
        readonly damage: string | null
        /** Whether SQLite looked at all of it. */
        readonly isChecked: boolean
      }
  )
  /** Room on the disk of the database, for this user. */
  readonly freeBytes: number
  readonly locks: readonly {
    readonly of: 'database' | 'key'
    readonly file: string
    /** Who holds it, as far as is known; null where it is free. */
    readonly owner: string | null
    /** Whether this user can take it. */
    readonly isUsable: boolean
  }[]
  /** What a job that cron starts has, and this shell has beside it. */
  readonly cron: {
    /** Settings that only this shell has. */
    readonly onlyInShell: readonly string[]
    /** Whether the short path that cron searches holds the program that runs rankline. */
    readonly findsNode: boolean
  }
  /** The folder, beside its jobs. */
  readonly folder: {
    readonly hasWorkspaceFile: boolean
    /** Whether the JSON Schemas that `init` wrote are those of another version. */
    readonly hasOldSchemas: boolean
  }
  readonly jobs: {
    /** The first mistake in `rankline.yaml`; null where it has none. */
    readonly workspaceMistake: string | null
    readonly files: number
    /** Of those, without mistakes. */
    readonly sound: number
    readonly firstMistake: string | null
    readonly queries: number
    /** What one run of all of them costs at most. */
    readonly credits: number
    readonly scheduled: number
    /** Names of jobs with rules for alerts, or with a digest. */
    readonly alerting: readonly string[]
  }
  readonly channels: readonly {
    readonly name: string
    /** What keeps messages from leaving, and what to do, without the full stop; null where nothing is known to. */
    readonly obstacle: string | null
  }[]
  /** What others spend with the same key. */
  readonly sharing: {
    /** Whether there are readings to tell what they spent in the last week. */
    readonly isKnown: boolean
    /** What that was; null for nothing. */
    readonly lately: OthersSpending | null
    /** Credits a minute that they spend now; null where it is not known. */
    readonly perMinute: number | null
  }
}

export interface AccountFacts {
  readonly account: Account
  /** Why the service would pass no call of this account; null where it would. */
  readonly stop: string | null
  /** When the key stops working, epoch ms; null where it does not. */
  readonly keyExpiresAt: number | null
  /** How far the clock of the service is ahead of this machine's, as far as the journey of the answer cannot explain it. */
  readonly aheadMs: number | null
}
