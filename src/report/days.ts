const dayMs = 86_400_000

/** Local days from one (YYYY-MM-DD) to another: each counts one, however long daylight saving made it. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs
}

const lastDay = '9999-12-31'

/** So many days later, as text that sorts as days do: behind the year 9999 nothing comes. */
export function addDays(day: string, days: number): string {
  const at = Date.parse(day) + days * dayMs
  if (at > Date.parse(lastDay)) return lastDay
  return new Date(at).toISOString().slice(0, 10)
}
