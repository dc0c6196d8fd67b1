import type { Run } from '../model/run.ts'
import type { AlertKind } from '../model/settings/alert.ts'
import type { NewMessage } from './outbox.ts'

/** An alert, from its beginning to its end. Instants are epoch milliseconds. */
export interface StoredAlert {
  /** Twelve hexadecimal digits, the same in every message about it. */
  readonly id: string
  /** What it is about. One alert of an identity is open at a time. */
  readonly identity: string
  readonly job: string
  readonly when: AlertKind
  /** Text of its query; null where it is about a job. */
  readonly query: string | null
  /** Label of its target, or a site. */
  readonly target: string | null
  readonly state: 'open' | 'over'
  readonly openedAt: number
  readonly openedRun: number | null
  readonly overAt: number | null
  readonly before: number | string | null
  readonly now: number | string | null
  /** One sentence for people. */
  readonly text: string
  /** Nothing is sent before that; null where it is not muted. */
  readonly mutedUntil: number | null
  /** Whether its beginning was told. */
  readonly told: boolean
  /** The jobs that its cause has stopped; null where it is about one job. */
  readonly stopped: readonly StoppedJob[] | null
}

/** A job that something has stopped that stops others, too, and who is told of that. */
export interface StoppedJob {
  readonly job: string
  /** The folder of its channels. */
  readonly folder: string
  readonly channels: readonly string[]
  /** When that was last seen. */
  readonly at: number
  /** False where it went on since. */
  readonly isStopped: boolean
}

/** An alert of several jobs that one cause has stopped. */
export interface CauseAlert extends StoredAlert {
  readonly query: null
  readonly stopped: readonly StoppedJob[]
}

/** Alerts that are new or have changed, and what is told of them. A message that waits untried is replaced by one of its identity. */
export interface CauseChanges {
  readonly alerts: readonly CauseAlert[]
  readonly messages: readonly NewMessage[]
}

/** Decides what changes, with the alerts that are open and those that are muted (identity and until when). */
export type ChangeCauses = (open: readonly CauseAlert[], muted: ReadonlyMap<string, number>) => CauseChanges

/** A run whose end no alert rule has judged yet. */
export interface RunToJudge {
  readonly run: Run
  /** Whether it ended anew: where it was only closed, how it went is not judged. */
  readonly hasEnded: boolean
}

/** An answered observation of a target, as short as it can be said. Link: a number, mostly the same for the same page. */
export type ObservationRow = readonly [
  rank: number | null,
  depth: number,
  pages: number | null,
  link: number | null,
]

interface PairObservations {
  readonly query: number
  readonly target: number
  /** The newest first; the first one is of the run itself. */
  readonly observations: readonly ObservationRow[]
}

export interface TargetOfRun {
  readonly id: number
  readonly site: string
  readonly match: string
  readonly label: string
  readonly own: boolean
}

export interface QueryOfRun {
  readonly id: number
  /** Hexadecimal. */
  readonly key: string
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  readonly tags: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** Searches a month. */
  readonly volume: number | null
  /** The landing page that should rank. */
  readonly url: string | null
}

/** The first results of a query in a run. */
export interface ResultList {
  readonly results: readonly { readonly rank: number; readonly site: string; readonly link: string }[]
  /** Distinct results checked without a gap; infinite where there are no more. */
  readonly depth: number
}

/** What begins and ends with one judgement, and what is told of it: one change. */
export interface Judgement {
  readonly job: string
  /** The run as it was judged; null where the job could not run. */
  readonly run: Pick<Run, 'id' | 'finishedAt' | 'closedAt'> | null
  /** When the run ended. */
  readonly at: number
  /** When it was judged. */
  readonly now: number
  readonly opened: readonly NewAlert[]
  readonly over: readonly Pick<StoredAlert, 'id' | 'now' | 'text'>[]
  /** Ids of alerts that end without a word. */
  readonly dropped: readonly string[]
  /** Ids of alerts that began while they were muted, and are told now. */
  readonly toldNow: readonly string[]
  readonly messages: readonly NewMessage[]
}

export type NewAlert = Pick<
  StoredAlert,
  'id' | 'identity' | 'when' | 'target' | 'before' | 'now' | 'text' | 'mutedUntil' | 'told'
> & { readonly queryId: number | null }

/** Alerts of a job, of a tag, of a kind of rule: of all that are given. */
export interface MuteScope {
  readonly job: string | null
  /** A tag of their query. */
  readonly tag: string | null
  readonly when: AlertKind | null
}

export interface Mute extends MuteScope {
  readonly until: number
}

interface AlertReads {
  /** What else is muted for alerts that begin. */
  mutes(now: number): Promise<readonly Mute[]>
  alert(id: string): Promise<StoredAlert | null>
  /** Those of a job, and those of causes that have stopped it. */
  openAlerts(job: string): Promise<readonly StoredAlert[]>
  /** Alerts of a job or of all that are open, or were over since an instant: open ones first, then the newest first. */
  listAlerts(filter: { readonly job?: string; readonly overSince: number }): Promise<readonly StoredAlert[]>
  /** Until when each of these identities is muted; those that are not are missing. */
  mutedIdentities(job: string, now: number): Promise<ReadonlyMap<string, number>>
}

export interface AlertStore extends AlertReads {
  /**
   * Runs of the job whose end was not judged: they have rules, or alerts that are open. The oldest first; none of before the last
   * one that was judged.
   */
  runsToJudge(job: string): Promise<readonly RunToJudge[]>
  /** Ids of open alerts of a job about queries that neither the run asks nor rest in it, or about targets that it no longer has. */
  goneAlerts(run: Run): Promise<readonly string[]>
  /** Queries that a run asked, in alphabetical order. */
  queriesOfRun(run: number): readonly QueryOfRun[]
  targetsOfRun(run: number): readonly TargetOfRun[]
  /**
   * The last answered observations of the run's job up to that run, of each query and each of these targets that the run has one
   * for. Those that rest on an answer to another question, and those of runs that it is not compared with, count as not answered.
   */
  lastObservations(run: Run, targets: readonly number[]): Iterable<PairObservations>
  /** Runs before a run that were suspect as a whole, as the alerts of its job tell, and those that a wrong clock has dated. */
  notComparedWith(run: Run): readonly number[]
  /** The run, and up to `before` runs of its job before it that have results of the query, and not of another one: the newest first. */
  runsWithResults(run: Run, query: number, before: number): readonly number[]
  /** Results of a kind down to a rank. */
  resultList(wanted: {
    readonly run: number
    readonly query: number
    readonly kind: number
    readonly top: number
  }): ResultList
  recordJudgement(judgement: Judgement, causes: ChangeCauses): Promise<void>
  /** Changes alerts about causes alone. Answers how many messages that made. */
  recordCauses(change: ChangeCauses, now: number): Promise<number>
  /** Whether an alert about a cause is open that has stopped one of these jobs. */
  isAnyStopped(jobs: readonly string[]): Promise<boolean>
  /** Mutes an alert and those of its identity to come; false where there is no such alert. */
  muteAlert(id: string, until: number): Promise<boolean>
  /** Mutes alerts of a scope that are open, and those to come; answers how many are open. */
  muteAlerts(scope: MuteScope, until: number): Promise<number>
}
