const dayMs = 86_400_000

/** Local days from one (YYYY-MM-DD) to another: each counts one, however long daylight saving made it. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs
}

const lastDay = '9999-12-31'

/** So many days later, at most the last day of the year 9999, so that days sort as text. */
export function addDays(day: string, days: number): string {
  const at = Date.parse(day) + days * dayMs
  if (at > Date.parse(lastDay)) return lastDay
  return new Date(at).toISOString().slice(0, 10)
}

/** Two time zones never name days that are further apart. */
const mostBetweenZones = 2

/**
 * Runs with days in the order in which they ran. Where the time zone of a job was changed, or a clock was set, an earlier
 * run may stand on a later day: it counts to the day of the run after it.
 *
 * @param runs the newest first
 */
export function inOrderOfRuns<T extends { readonly date: string }>(runs: readonly T[]): readonly T[] {
  let next: string | null = null
  return runs.map((run) => {
    const ahead: number = next === null ? 0 : daysBetween(next, run.date)
    if (next !== null && ahead > 0 && ahead <= mostBetweenZones) return { ...run, date: next }
    if (ahead <= 0) next = run.date
    return run
  })
}
