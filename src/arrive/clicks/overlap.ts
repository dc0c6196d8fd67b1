import { UsageError } from '../../model/errors.ts'
import { grouped, memoized } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import { type ClickDraft, textHash } from '../../store/sqlite/clicks/draft.ts'
import { readDay } from '../csv.ts'
import type { InputFile } from '../input-files.ts'
import type { ClickLayout, RowReader } from './rows.ts'

/** A file of rows by name. */
export interface RowsFile {
  readonly kind: 'rows'
  readonly file: InputFile
  readonly layout: ClickLayout
  readonly read: (draft: ClickDraft, take: (reader: RowReader) => void) => Promise<void>
}

/** Rows of a query with one impression or two are often equal by chance; rows of this many impressions together are not. */
const fewestImpressions = 10

/** So many days before the newest one are not final in Search Console. */
const daysNotFinal = 3

/** What two files have in common, and where that begins. */
interface Common {
  readonly where: string
  readonly day: number
  readonly isSame: boolean
  rows: number
  impressions: number
}

/** Clicks, impressions, position. */
type ClickNumbers = readonly [number, number, number]

interface NumberedRow {
  readonly file: RowsFile
  readonly numbers: ClickNumbers
}

/** Rows of a day by their hashes: the file that has them, and what is said by keys alone where numbers may grow. */
interface SeenRows {
  readonly files: Map<bigint, RowsFile>
  readonly notFinal: Map<bigint, NumberedRow>
}

/** Rows and days of a file. */
interface FileDays {
  first: number
  last: number
  /** Rows by day. */
  readonly rows: Map<number, number>
}

/** Whether files follow each other, as months or weeks do. */
const follows = (one: FileDays, other: FileDays): boolean => one.first < other.first && one.last < other.last

/**
 * Finds files that have rows of each other: added up, they would count twice. Files of one table overlap by whole days. So they are refused
 * where at least half of the rows that the smaller one has on their common days stand in the other one; what is less is chance, as where
 * files are of different devices. Days that one file alone has need no memory; of the others the rows are read again. Rows of the bulk
 * export are not unique, and are all added up.
 */
export function overlapOf(files: readonly RowsFile[]) {
  const numberOf = memoized(readDay)
  const dayOf = ({ layout }: RowsFile, reader: RowReader): number =>
    layout.date === -1 ? 0 : numberOf(reader.word(layout.date))
  const isWeb = memoized((word) => word.toLowerCase() === 'web')
  const counts = ({ layout }: RowsFile, reader: RowReader): boolean =>
    layout.positionSum === -1 && (layout.searchType === -1 || isWeb(reader.word(layout.searchType)))
  const known = new Map<RowsFile, FileDays>()
  const daysOf = (file: RowsFile): FileDays => {
    const days = known.get(file) ?? { first: Infinity, last: -Infinity, rows: new Map() }
    known.set(file, days)
    return days
  }
  /** Whether numbers of a day that was not final grew in a file that goes on where the other one ends. */
  const isGrown = (day: number, one: NumberedRow, other: NumberedRow): boolean => {
    const [early, late] = daysOf(one.file).last < daysOf(other.file).last ? [one, other] : [other, one]
    const [before, after] = [daysOf(early.file), daysOf(late.file)]
    const [clicks, impressions] = early.numbers
    const isMore = late.numbers[0] >= clicks && late.numbers[1] >= impressions
    return follows(before, after) && isMore && day > before.last - daysNotFinal
  }
  const check = (one: RowsFile, other: RowsFile, { where, day, isSame, rows, impressions }: Common): void => {
    const [a, b] = [daysOf(one).rows, daysOf(other).rows]
    const smaller = [...a].reduce((sum, [at, size]) => sum + Math.min(size, b.get(at) ?? 0), 0)
    if (rows * 2 < smaller || impressions < fewestImpressions) return
    const same = isSame ? 'the same row stands' : 'the row stands, with other numbers,'
    throw new UsageError(
      `${where}: ${same} in ${other.file.name}${day === 0 ? '' : `, of ${dayText(day)}`} (${grouped(rows)} of ${grouped(smaller)} that they could share), and would count twice. Take such rows out of one of the files, or, where the files are of different devices, countries, searches or sites, name those in a column device, country, search_type or site_url; nothing was stored`,
    )
  }
  return {
    see(file: RowsFile, reader: RowReader): void {
      if (!counts(file, reader)) return
      const day = dayOf(file, reader)
      const days = daysOf(file)
      days.first = Math.min(days.first, day)
      days.last = Math.max(days.last, day)
      days.rows.set(day, (days.rows.get(day) ?? 0) + 1)
    },
    /** Throws a sentence that names the first row of two files that overlap. */
    async check(draft: ClickDraft): Promise<void> {
      const all = [...known.values()]
      const days = all.flatMap(({ rows }) => [...rows.keys()]).toSorted((a, b) => a - b)
      const common = new Set(days.filter((day, place) => day === days[place - 1]))
      const newest = new Set(
        all
          .filter((one) => all.some((other) => other.first <= one.last && follows(one, other)))
          .flatMap(({ last }) => Array.from({ length: daysNotFinal }, (_, ago) => last - ago)),
      )
      // A map of each day: one alone cannot hold as many rows as files may have.
      const seen = new Map<number, SeenRows>()
      for (const file of files) {
        if (![...daysOf(file).rows.keys()].some((day) => common.has(day))) continue
        const found = new Map<RowsFile, Common>()
        /** The file before that has the row, if only with numbers that were not final. */
        const otherOf = (day: number, key: string, numbers: ClickNumbers) => {
          const hash = textHash([key, ...numbers].join('\n'), 'query')
          const ofDay: SeenRows = seen.get(day) ?? { files: new Map(), notFinal: new Map() }
          seen.set(day, ofDay)
          const same = ofDay.files.get(hash) ?? file
          if (same !== file) return { other: same, isSame: true }
          ofDay.files.set(hash, file)
          if (!newest.has(day)) return null
          const ofKey = textHash(key, 'query')
          const entry = { file, numbers }
          const before = ofDay.notFinal.get(ofKey) ?? entry
          ofDay.notFinal.set(ofKey, before)
          return before.file !== file && isGrown(day, before, entry)
            ? { other: before.file, isSame: false }
            : null
        }
        await file.read(draft, (reader) => {
          const day = dayOf(file, reader)
          if (!common.has(day) || !counts(file, reader)) return
          const numbers = numbersOf(file, reader)
          const match = otherOf(day, `${day}\n${keyText(file, reader)}`, numbers)
          if (match === null) return
          const { other, isSame } = match
          const sum = found.get(other)
          if (sum === undefined)
            found.set(other, { where: reader.where(), day, isSame, rows: 1, impressions: numbers[1] })
          else {
            sum.rows++
            sum.impressions += numbers[1]
          }
        })
        for (const [other, sum] of found) check(file, other, sum)
      }
    },
  }
}

/** What a row is about, as one text: all that it says beside its numbers. */
function keyText({ layout }: RowsFile, reader: RowReader): string {
  const words = (['property', 'country', 'device', 'searchType'] as const).map((field) =>
    layout[field] === -1 ? '' : reader.word(layout[field]),
  )
  const texts = (['query', 'page'] as const).map((kind) =>
    layout[kind] === -1 ? 0 : reader.text(layout[kind], kind),
  )
  return [...words, ...texts, reader.unread()].join('\n')
}

const numbersOf = ({ layout }: RowsFile, reader: RowReader): ClickNumbers => [
  reader.whole(layout.clicks),
  reader.whole(layout.impressions),
  reader.number(layout.position),
]
