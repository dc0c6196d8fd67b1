import type { ApiClient, ServicePatience } from '../../api/client.ts'
import type { CollectOptions, CollectResult } from '../../collect/collect.ts'
import type { Run } from '../../model/run.ts'
import type { Clock } from '../../model/time.ts'
import type { Store } from '../../store/store.ts'
import type { ClockCheck } from './clock-check.ts'
import type { Outgoing } from './outgoing.ts'

/** Store and service, joined; both are closed with it. */
export interface App extends AsyncDisposable {
  readonly store: Store
  /** Path of the file that the store is in. */
  readonly database: string
  readonly service: ApiClient
  /** The same service, waited for as long as that. */
  readonly serviceWith: (patience: ServicePatience) => ApiClient
  readonly keyHash: string
  readonly clock: Clock
  /** Says whether that clock can be worked with; asked before runs are made, slots taken and messages sent. */
  readonly clockCheck: ClockCheck
  /** What messages and pings leave through. */
  readonly outgoing: Outgoing
  /** The machines that share the work; null where this one works alone. */
  readonly machines: Machines | null
}

/** The machines that share a queue, for the process that plans and follows. */
export interface Machines {
  /**
   * Takes the right to coordinate these jobs, waits where another process has it, and brings what others did. Each of them is that of this
   * key from then on, also in the database.
   */
  begin(jobs: readonly string[]): Promise<void>
  /** Rejected with one sentence where one of these runs was begun with another key. */
  refuseOtherKeys(runs: readonly Run[]): Promise<void>
  collect(options: CollectOptions, runs: readonly Run[]): Promise<CollectResult>
  /** Tells all machines how runs ended. */
  finished(runs: readonly Run[]): Promise<void>
  /** Whether every call of all machines since an instant has ended and is known here; false where that cannot be found out. */
  knowsAllCalls(since: number): Promise<boolean>
}

/** This process's turn to collect, which it may have to wait for. */
export interface Turn {
  acquire(): Promise<void>
  /** How long it waits for others. */
  readonly waitMs: number
  readonly notify: (line: string) => void
}
