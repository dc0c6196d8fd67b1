import type { DayValue } from '../../day-cell.ts'
import { movementNames } from '../../metrics/movements.ts'
import type { Change, Movement } from '../../movement.ts'
import { valueRank } from '../../rank-cells.ts'
import { h, unsaid, unseen } from './dom.ts'

/** How keywords are sorted into those that moved and those that did not: what ranks on neither day is no rank that stayed. */
export type Moved = Movement | 'unranked'

export const movedNames: readonly Moved[] = movementNames.flatMap((name): readonly Moved[] =>
  name === 'same' ? ['same', 'unranked'] : [name],
)

export const movedWords: Readonly<Record<Moved, string>> = {
  improved: 'improved',
  declined: 'declined',
  same: 'unchanged',
  unranked: 'still not ranked',
  entered: 'entered',
  left: 'left',
  new: 'new',
  unknown: 'not known',
}

export function movementOf({ movement, change }: Change): Moved {
  return movement === 'same' && change === null ? 'unranked' : movement
}

/** How something moved, as an arrow and a number or as a word; never by colour alone. */
export function changeMark(change: Change): HTMLElement {
  const ranks = Math.abs(change.change ?? 0)
  const moved = movementOf(change)
  if (moved === 'improved') return mark('up', `▲ ${ranks}`, `up ${ranks}`)
  if (moved === 'declined') return mark('down', `▼ ${ranks}`, `down ${ranks}`)
  if (moved === 'same') return mark('still', '=', 'unchanged')
  if (moved === 'unranked') return mark('still', '–', 'still not ranked')
  if (moved === 'unknown') return mark('still', '?', 'change not known')
  return mark(moved === 'entered' ? 'up word' : moved === 'left' ? 'down word' : 'still word', moved)
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
  const { state, rank, exactness, absentDepth } = value
  const about = exactness === 'estimated' ? ' (estimated)' : ''
  if (state === 'ranked') return `rank ${rank}${about}`
  if (state === 'absent') return `not among the first ${absentDepth}${about}`
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
