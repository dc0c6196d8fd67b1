const dayMs = 86_400_000

/** Local days from one (YYYY-MM-DD) to another: each counts one, however long daylight saving made it. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}
