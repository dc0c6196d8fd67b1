/** The clock on the wall of a zone, as Intl shows it. */
export function wallClock(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (instant) => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`)
}

const minuteMs = 60_000

/** Minutes of real time, each with what clocks of a zone show then. */
export interface Walk {
  readonly instants: readonly number[]
  readonly shown: readonly number[]
  /** The first instant at which a time is shown, by minutes since the first of them. */
  readonly firstShown: readonly (number | undefined)[]
}

/** Walks from one instant to another. */
export function walk(zone: string, from: number, until: number): Walk {
  const wall = wallClock(zone)
  const instants: number[] = []
  const shown: number[] = []
  const firstShown: number[] = []
  const begin = wall(from)
  // Zones of our days change their clocks at a quarter of an hour.
  for (let quarter = from; quarter < until; quarter += 15 * minuteMs) {
    const clock = wall(quarter)
    for (let ms = 0; ms < 15 * minuteMs; ms += minuteMs) {
      instants.push(quarter + ms)
      shown.push(clock + ms)
      firstShown[(clock + ms - begin) / minuteMs] ??= quarter + ms
    }
  }
  return { instants, shown, firstShown }
}

/** The numbers of one field: lists, ranges and steps. */
function numbersOf(field: string, least: number, greatest: number): ReadonlySet<number> {
  const numbers = field.split(',').flatMap((part) => {
    const [range = '', step = '1'] = part.split('/')
    const [from, to = from] = range === '*' ? [least, greatest] : range.split('-').map(Number)
    const all: number[] = []
    for (let number = from as number; number <= (to as number); number += Number(step)) all.push(number)
    return all
  })
  return new Set(numbers)
}

const dayMs = 86_400_000

/** Whether a clock that shows this time fits five fields; written from the manual page of cron. */
function matcher(pattern: string): (wall: number) => boolean {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = pattern.split(' ')
  const minutes = numbersOf(minute, 0, 59)
  const hours = numbersOf(hour, 0, 23)
  const days = numbersOf(day, 1, 31)
  const months = numbersOf(month, 1, 12)
  const weekdays = numbersOf(weekday, 0, 7)
  const fitsDay = (at: number): boolean => {
    const date = new Date(at)
    if (!months.has(date.getUTCMonth() + 1)) return false
    const isDay = days.has(date.getUTCDate())
    const isWeekday = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7))
    return day !== '*' && weekday !== '*' ? isDay || isWeekday : isDay && isWeekday
  }
  const known = new Map<number, boolean>()
  return (wall) => {
    const minuteOfDay = (wall % dayMs) / minuteMs
    if (!minutes.has(minuteOfDay % 60) || !hours.has(Math.floor(minuteOfDay / 60))) return false
    const midnight = wall - (wall % dayMs)
    const fits = known.get(midnight) ?? fitsDay(midnight)
    known.set(midnight, fits)
    return fits
  }
}

/**
 * The slots of a pattern by the sentences of the contract, found by walking through all minutes: no cron library, no arithmetic with
 * offsets.
 */
export function slotsByWalking(pattern: string, { instants, shown, firstShown }: Walk): readonly number[] {
  const fits = matcher(pattern)
  if (pattern.split(' ')[1] === '*') return instants.filter((_, index) => fits(shown[index] as number))
  const begin = shown[0] as number
  const slots: number[] = []
  // A time that no clock shows waits for the next that one does.
  let waiting = false
  for (let minute = 0; minute < firstShown.length; minute += 1) {
    waiting ||= fits(begin + minute * minuteMs)
    const instant = firstShown[minute]
    if (!waiting || instant === undefined) continue
    slots.push(instant)
    waiting = false
  }
  return slots
}
