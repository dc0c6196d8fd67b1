import type { OthersSpending } from '../../ledger/others.ts'
import type { Account } from '../../model/call.ts'

/** All that was found out about an installation. What the checks say follows from this alone. */
export interface InstallationFacts {
  /** Epoch ms, by the clock of this machine. */
  readonly now: number
  readonly program: ProgramFacts
  readonly settings: SettingsFacts
  /** Null where it could not be asked. */
  readonly service: ServiceFacts | null
  readonly database: DatabaseCondition
  /** Room on the disk of the database, for this user. */
  readonly freeBytes: number
  readonly locks: readonly LockFacts[]
  readonly cron: CronFacts
  readonly folder: FolderFacts
  readonly jobs: JobFilesFacts
  readonly channels: readonly ChannelFacts[]
  readonly sharing: SharingFacts
}

export interface ProgramFacts {
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
export type SettingsFacts =
  | {
      readonly baseUrl: string
      readonly proxy: string | null
      /** Whether machines share a queue here: what they spend is not all in this database. */
      readonly isQueued: boolean
    }
  | { readonly mistake: string }

/** What the service says of the account, or why it does not: it cannot be used, or it refuses the key. */
export type ServiceFacts = { readonly about: 'service' | 'key'; readonly mistake: string } | AccountFacts

export interface AccountFacts {
  readonly account: Account
  /** Why the service would pass no call of this account; null where it would. */
  readonly stop: string | null
  /** When the key stops working, epoch ms; null where it does not. */
  readonly keyExpiresAt: number | null
  /** How far the clock of the service is ahead of this machine's, as far as the journey of the answer cannot explain it. */
  readonly aheadMs: number | null
}

export type DatabaseCondition =
  /** `makeable` is null where the first run can make it, else why it cannot. */
  | { readonly state: 'missing'; readonly path: string; readonly makeable: string | null }
  | { readonly state: 'unusable'; readonly path: string; readonly mistake: string }
  | {
      readonly state: 'there'
      readonly path: string
      readonly bytes: number
      readonly isWritable: boolean
      /** Made by an older rankline: the next run changes it. */
      readonly isOlder: boolean
      /** What SQLite says is damaged; null for nothing. */
      readonly damage: string | null
      /** Whether SQLite looked at all of it. */
      readonly isChecked: boolean
    }

export interface LockFacts {
  readonly of: 'database' | 'key'
  readonly file: string
  /** Who holds it, as far as is known; null where it is free. */
  readonly owner: string | null
  /** Whether this user can take it. */
  readonly isUsable: boolean
}

/** What a job that cron starts has, and this shell has beside it. */
export interface CronFacts {
  /** Settings that only this shell has. */
  readonly onlyInShell: readonly string[]
  /** Whether the short path that cron searches holds the program that runs rankline. */
  readonly findsNode: boolean
}

/** The folder, beside its jobs. */
export interface FolderFacts {
  readonly hasWorkspaceFile: boolean
  /** Whether the JSON Schemas that `init` wrote are those of another version. */
  readonly hasOldSchemas: boolean
}

export interface JobFilesFacts {
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

export interface ChannelFacts {
  readonly name: string
  /** What keeps messages from leaving, and what to do, without the full stop; null where nothing is known to. */
  readonly obstacle: string | null
}

/** What others spend with the same key. */
export interface SharingFacts {
  /** Whether there are readings to tell what they spent in the last week. */
  readonly isKnown: boolean
  /** What that was; null for nothing. */
  readonly lately: OthersSpending | null
  /** Credits a minute that they spend now; null where it is not known. */
  readonly perMinute: number | null
}
