import { mix } from './hash.ts'

const dayMs = 86_400_000
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const firstVideoDay = Date.UTC(2021, 0, 1) / dayMs

/** Age of a news result on a day: minutes, hours or days ago. */
export function newsDate(hash: number, day: number): string {
  const chance = mix(mix(hash, 41), day)
  if (chance % 8 === 0) return ago(2 + (chance % 57), 'minute')
  return chance % 2 === 0 ? ago(1 + (chance % 23), 'hour') : ago(1 + (chance % 6), 'day')
}

/** Date of a video: its calendar date, or its age where it is younger than a month or not out by its own date. */
export function videoDate(hash: number, day: number): string {
  const published = firstVideoDay + (mix(hash, 42) % 2000)
  const age = day - published
  if (age <= 0) return ago(1 + (mix(hash, 43) % 6), 'day')
  if (age < 7) return ago(age, 'day')
  if (age < 30) return ago(Math.floor(age / 7), 'week')
  const date = new Date(published * dayMs)
  return `${months[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`
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

function ago(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'} ago`
}
