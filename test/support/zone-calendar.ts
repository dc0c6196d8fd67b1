const minuteMs = 60_000
const dayMs = 1440 * minuteMs

/** A time zone by hand: minutes that its clocks are ahead of UTC, each from an instant on. */
export type ZoneHours = readonly (readonly [from: string, ahead: number])[]

/**
 * The instants of a local time (HH:MM) on days of a zone from 15 November 2025 to the end of 2026: the first of two, and the end of the gap
 * where it does not exist.
 *
 * @param weekday on which alone it is wanted; 0 is Sunday, null is any
 */
export function localInstants(hours: ZoneHours, time: string, weekday: number | null): readonly number[] {
  const aheadAt = (instant: number): number =>
    hours.findLast(([from]) => Date.parse(from) <= instant)?.[1] ?? Number.NaN
  const changes = hours.slice(1).map(([from]) => Date.parse(from))
  const instants: number[] = []
  for (let day = Date.parse('2025-11-15'); day < Date.parse('2027-01-02'); day += dayMs) {
    const date = new Date(day).toISOString().slice(0, 10)
    if (weekday !== null && new Date(day).getUTCDay() !== weekday) continue
    const local = Date.parse(`${date}T${time}:00Z`)
    const fitting = [...new Set(hours.map(([, ahead]) => local - ahead * minuteMs))]
      .filter((instant) => local - aheadAt(instant) * minuteMs === instant)
      .sort((a, b) => a - b)
    const gap = changes.find((change) => Math.abs(change + aheadAt(change) * minuteMs - local) < dayMs / 12)
    const found = fitting[0] ?? gap
    if (found === undefined) throw new Error(`${date} ${time} is not in the calendar`)
    instants.push(found)
  }
  return instants
}
