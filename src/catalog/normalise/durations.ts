import { plain } from './dates/fold.ts'

const clock = /^(?:(\d{1,6}):([0-5]?\d)|(\d{1,6})):([0-5]\d)$/
const iso = /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/i

/** Seconds of a duration written `M:SS`, `H:MM:SS` or as ISO 8601 (`PT1H2M3S`), in any digits; null for anything else. */
export function durationSeconds(duration: string | null): number | null {
  const text = plain(duration ?? '')
  const parts = text.match(clock)
  if (parts !== null) {
    const [, hours = '0', minutesOfHour, minutes, seconds] = parts
    return Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
  }
  const [found, days = '0', hours = '0', minutes = '0', seconds = '0'] = text.match(iso) ?? []
  if (found === undefined) return null
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
}
