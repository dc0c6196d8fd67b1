import type { RateLimits } from '../../model/call.ts'

/** Slots for calls of one key, by the clock of the database. */
export interface SlotLease {
  /** When the first slot begins, epoch milliseconds of the database with fractions. */
  readonly firstAt: number
  readonly spacingMs: number
  readonly slots: number
  /** Whether the service has refused a call: the only slot is for a call that tries whether it takes calls again. */
  readonly isProbe: boolean
  /** What the clock of the database showed when the lease was made. */
  readonly now: number
}

/** Without a limit, calls leave at once. */
export type SlotAnswer = SlotLease | { readonly unlimited: true; readonly now: number }

/** The one rate limit of a key, for all machines. */
export interface SharedRates {
  /**
   * Leases `slots` slots of a key, the first one not before `leadMs` from now. Slots of the next second are committed
   * without waiting for the disk: after a restart of the database one full window is left free.
   */
  lease(keyHash: string, slots: number, leadMs: number): Promise<SlotAnswer>
  /** The service refused a call for its rate: no process sends for as long as it named. Calls with slots from before the last refusal change nothing. */
  refused(keyHash: string, slotAt: number, namedMs: number | null): Promise<void>
  /** The service took a call that was sent after a refusal. */
  passed(keyHash: string, slotAt: number): Promise<void>
  setLimits(keyHash: string, limits: RateLimits): Promise<void>
  limits(keyHash: string): Promise<RateLimits | null>
}
