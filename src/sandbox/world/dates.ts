import { mix } from './hash.ts'

const dayMs = 86_400_000
const firstVideoDay = Date.UTC(2021, 0, 1) / dayMs

interface Formats {
  readonly age: Intl.RelativeTimeFormat
  readonly day: Intl.DateTimeFormat
}

const english = formatsIn('en')
/** The languages that dates are written in beside English. */
const formats = new Map(
  ['de', 'es', 'fr', 'it', 'ja', 'pt'].map((language) => [language, formatsIn(language)]),
)

/** Age of a news result on a day, in words of a language: minutes, hours or days ago. */
export function newsDate(hash: number, day: number, language: string): string {
  const chance = mix(mix(hash, 41), day)
  const ago = agoIn(language)
  if (chance % 8 === 0) return ago(2 + (chance % 57), 'minute')
  return chance % 2 === 0 ? ago(1 + (chance % 23), 'hour') : ago(1 + (chance % 6), 'day')
}

/** Date of a video: its calendar date, or its age where it is younger than a month or not out by its own date. */
export function videoDate(hash: number, day: number, language: string): string {
  const ago = agoIn(language)
  const published = firstVideoDay + (mix(hash, 42) % 2000)
  const age = day - published
  if (age <= 0) return ago(1 + (mix(hash, 43) % 6), 'day')
  if (age < 7) return ago(age, 'day')
  if (age < 30) return ago(Math.floor(age / 7), 'week')
  return formatsOf(language).day.format(published * dayMs)
}

/** Length of a video, `M:SS` or `H:MM:SS`. */
export function videoDuration(hash: number): string {
  const chance = mix(hash, 44)
  const seconds = chance % 6 === 0 ? 3600 + (chance % 7000) : 35 + (chance % 2400)
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest = String(seconds % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}

function agoIn(language: string): (amount: number, unit: Intl.RelativeTimeFormatUnit) => string {
  const { age } = formatsOf(language)
  return (amount, unit) => age.format(-amount, unit)
}

function formatsOf(language: string): Formats {
  return formats.get(language) ?? english
}

function formatsIn(language: string): Formats {
  return {
    age: new Intl.RelativeTimeFormat(language),
    day: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }),
  }
}
