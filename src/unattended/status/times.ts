import { dayMs, hourMs } from '../../model/time.ts'

const units = [
  [dayMs, 'd'],
  [hourMs, 'h'],
  [60_000, 'min'],
] as const

/** A time in its largest unit, rounded down: `3 d`, `26 h`, `5 min`. Below three days it is hours. */
export function span(ms: number): string {
  const [unit, name] = units.find(([unit, name]) => ms >= (name === 'd' ? 3 * unit : unit)) ?? units[2]
  return `${Math.floor(ms / unit)} ${name}`
}

/** How long ago: `3 d ago`; `just now` within the last minute, also where a clock was set back. */
export function age(ms: number): string {
  return ms < 60_000 ? 'just now' : `${span(ms)} ago`
}

/** How far ahead: `in 3 h`. */
export function ahead(ms: number): string {
  return ms < 60_000 ? 'now' : `in ${span(ms)}`
}

/** A limit as one writes it, in the largest unit that it is whole in: `50 h`, `2 d`. */
export function limit(ms: number): string {
  const [unit, name] = units.find(([unit]) => ms % unit === 0) ?? units[2]
  return `${ms / unit} ${name}`
}
