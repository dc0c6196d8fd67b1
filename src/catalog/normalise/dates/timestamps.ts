import type { Reading } from './calendar.ts'

const iso =
  /^(?<day>\d{4}-\d{2}-\d{2})[t ](?<time>\d{2}:\d{2}(?<seconds>:\d{2}(?:\.\d+)?)?) ?(?<zone>z|utc|gmt|[+-]\d{2}:?\d{2})$/
const mail =
  /^(?:[a-z]{3}, )?(?<day>\d{1,2} [a-z]{3} \d{4}) \d{2}:\d{2}(?<seconds>:\d{2})? (?:gmt|utc|z|[+-]\d{4})$/

/** A full timestamp in a folded text; one without its zone is none. */
export function timestamp(text: string): Reading | null {
  const { day, time, zone = '', seconds } = text.match(iso)?.groups ?? {}
  if (day !== undefined)
    return isDay(day) ? instant(`${day}T${time}${/^[a-z]/.test(zone) ? 'Z' : zone}`, seconds) : null
  const letter = text.match(mail)?.groups
  return letter?.day !== undefined && isDay(letter.day) ? instant(text, letter.seconds) : null
}

/** Date.parse would make the 2nd of March of the 30th of February. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day} UTC`)
  const [date] = day.match(/^\d{1,2}(?= )|\d{2}$/) ?? []
  return !Number.isNaN(at) && new Date(at).getUTCDate() === Number(date)
}

function instant(text: string, seconds: string | undefined): Reading | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : { at, precision: seconds === undefined ? 'minute' : 'second', whole: true }
}
