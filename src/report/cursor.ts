import { crc32 } from 'node:zlib'
import { UsageError } from '../errors.ts'
import { harmless } from '../terminal.ts'

/** The numbers that a database has given to what is exported. */
export interface Numbers {
  readonly newest: number
  /** What has a number, in words that no other database has for it; null where nothing has it any more. */
  readonly markOf: (number: number) => string | null
}

/** How far an export came: to be written as it is and given back, not to be understood. */
export function cursorText(kind: string, { newest, markOf }: Numbers): string {
  const mark = digest(markOf(newest))
  return `${kind}-${newest}${mark === null ? '' : `-${mark}`}`
}

/**
 * The number in a cursor of this kind. Throws one sentence for others, and for one of another database: it is beyond the
 * newest, or stands for something else than here. So does one from after the backup that was restored, however much was
 * stored since.
 */
export function readCursor(text: string, kind: string, numbers: Numbers): number {
  const shown = harmless(text.trim()).slice(0, 40)
  const [, ofKind, digits, mark] = text.trim().match(/^([a-z]+)-(\d{1,15})(?:-([0-9a-f]{8}))?$/) ?? []
  if (ofKind === undefined)
    throw new UsageError(
      `'${shown}' is no cursor. Write the one that the last export ended with, such as ${kind}-12345-0a1b2c3d`,
    )
  if (ofKind !== kind)
    throw new UsageError(`${shown} is a cursor of the export '${ofKind}'. Each kind has its own`)
  const number = Number(digits)
  const here = digest(numbers.markOf(number))
  if (number > numbers.newest || (mark !== undefined && here !== null && here !== mark))
    throw new UsageError(
      `${shown} is the cursor of another database: the newest of this one is ${cursorText(kind, numbers)}. Export everything once without a cursor`,
    )
  return number
}

function digest(mark: string | null): string | null {
  return mark === null ? null : crc32(mark).toString(16).padStart(8, '0')
}
