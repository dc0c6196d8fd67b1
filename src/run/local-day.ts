/** The day (YYYY-MM-DD) that an instant (epoch ms) falls on in a time zone, daylight saving counted. */
export function localDay(instant: number, timezone: string): string {
  // The default, and much sooner said than what asks the system for its calendars.
  if (timezone === 'UTC') return new Date(instant).toISOString().slice(0, 10)
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(instant)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}
