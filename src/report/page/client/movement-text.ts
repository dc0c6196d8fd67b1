import type { DayValue } from '../../day-cell.ts'
import type { Change, Movement } from '../../movement.ts'
import { lookedAt, valueRank } from '../../rank-cells.ts'
import { h, unsaid, unseen } from './dom.ts'

/** Movements in words. */
export const movementWords: Readonly<Record<Movement, string>> = {
  improved: 'improved',
  declined: 'declined',
  same: 'unchanged',
  entered: 'entered',
  left: 'left',
  new: 'new',
  unknown: 'not known',
}

/** How something moved, as an arrow and a number or as a word; never by colour alone. */
export function changeMark({ movement, change }: Change): HTMLElement {
  const ranks = Math.abs(change ?? 0)
  if (movement === 'improved') return mark('up', `▲ ${ranks}`, `up ${ranks}`)
  if (movement === 'declined') return mark('down', `▼ ${ranks}`, `down ${ranks}`)
  if (movement === 'same') return mark('still', '=', 'unchanged')
  if (movement === 'unknown') return mark('still', '?', 'change not known')
  return mark(movement === 'entered' ? 'up word' : movement === 'left' ? 'down word' : 'still word', movement)
}

function mark(className: string, text: string, said = text): HTMLElement {
  return h(
    'span',
    { class: `change ${className}` },
    ...(said === text ? [text] : [unsaid(text), unseen(said)]),
  )
}

/** A rank in words. */
export function rankWords(value: DayValue): string {
  const { state, rank, exactness } = value
  const about = exactness === 'estimated' ? ' (estimated)' : ''
  if (state === 'ranked') return `rank ${rank}${about}`
  if (state === 'absent') return `not among the first ${lookedAt(value)}${about}`
  return 'not known'
}

/** A rank that looks as {@link valueRank} and is read as {@link rankWords}. */
export function rankMark(value: DayValue): HTMLElement {
  return h(
    'span',
    { class: `rank ${value.state}${value.rank !== null && value.rank <= 3 ? ' podium' : ''}` },
    unsaid(valueRank(value)),
    unseen(rankWords(value)),
  )
}
