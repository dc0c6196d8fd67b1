/** What a run may let through, all in credits. Pure arithmetic, so that no call is sent that is not covered. */

/** The account as last read, and what happened since. */
export interface BalanceState {
  /** Left when the reading was asked for; it may or may not hold what was billed after. */
  readonly remaining: number
  /** Billed by calls that ended after the reading was asked for. */
  readonly billedSince: number
  /** Of calls whose end is not known, as far as the reading may not hold them yet. */
  readonly ambiguous: number
  /** Of tasks let through and calls in the air. */
  readonly reserved: number
}

/** What the balance still covers, never less than 0. */
export function coveredByBalance({ remaining, billedSince, ambiguous, reserved }: BalanceState): number {
  return Math.max(0, remaining - billedSince - ambiguous - reserved)
}

/** A run's own limits and what it came to so far. */
export interface BudgetState {
  readonly maxCredits: number | null
  readonly spent: number
  readonly ambiguous: number
  readonly reserved: number
}

/** What the run's budget still covers, infinite without one; what may have been billed counts as spent. */
export function coveredByBudget({ maxCredits, spent, ambiguous, reserved }: BudgetState): number {
  if (maxCredits === null) return Number.POSITIVE_INFINITY
  return Math.max(0, maxCredits - spent - ambiguous - reserved)
}
