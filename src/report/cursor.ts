import { UsageError } from '../errors.ts'
import { harmless } from '../terminal.ts'

/** How far an export came: to be written as it is and given back, not to be understood. */
export function cursorText(kind: string, number: number): string {
  return `${kind}-${number}`
}

/** The number in a cursor of this kind that is not beyond the newest; throws one sentence for others. */
export function readCursor(text: string, kind: string, newest: number): number {
  const shown = harmless(text.trim()).slice(0, 40)
  const [, ofKind, digits] = text.trim().match(/^([a-z]+)-(\d{1,15})$/) ?? []
  if (ofKind === undefined)
    throw new UsageError(
      `'${shown}' is no cursor. Write the one that the last export ended with, such as ${kind}-12345`,
    )
  if (ofKind !== kind)
    throw new UsageError(`${shown} is a cursor of the export '${ofKind}'. Each kind has its own`)
  const number = Number(digits)
  if (number > newest)
    throw new UsageError(
      `${shown} is the cursor of another database: the newest of this one is ${cursorText(kind, newest)}. Export everything once without a cursor`,
    )
  return number
}
