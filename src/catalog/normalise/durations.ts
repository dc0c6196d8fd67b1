/** Seconds of a duration written `M:SS` or `H:MM:SS`; null for anything else. */
export function durationSeconds(duration: string | null): number | null {
  const parts = duration?.trim().match(/^(?:(\d{1,6}):([0-5]?\d)|(\d{1,6})):([0-5]\d)$/)
  if (parts == null) return null
  const [, hours = '0', minutesOfHour, minutes, seconds] = parts
  return Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
}
