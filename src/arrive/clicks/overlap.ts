import { UsageError } from '../../model/errors.ts'
import { grouped, memoized } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
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

/** Fewer rows may all have more in one of two files by chance. */
const fewestGrown = 10

/** More rows that nothing tells apart are not compared. */
const mostAlike = 64

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
 * where at least half of the rows that the smaller one has on their common days stand in the other one, and where nearly all do with numbers
 * that grew; what is less is chance, as where files are of different devices. Days that one file alone has need no memory; of the others the
 * rows are read again. Rows of the bulk export are not unique, and are all added up.
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
  const isGrown = (day: number, one: RowsFile, other: RowsFile, { isMore, isLess }: Alike): boolean => {
    const isEarlier = daysOf(one).last < daysOf(other).last
    const [early, late] = isEarlier ? [one, other] : [other, one]
    const { last } = daysOf(early)
    return (isEarlier ? isLess : isMore) && day > last - daysNotFinal && follows(daysOf(early), daysOf(late))
  }
  const check = (one: RowsFile, other: RowsFile, { twice, alike }: CommonRows): void => {
    const [a, b] = [daysOf(one).rows, daysOf(other).rows]
    const smaller = [...a].reduce((sum, [at, size]) => sum + Math.min(size, b.get(at) ?? 0), 0)
    const areTwice = twice.rows * 2 >= smaller && twice.impressions >= fewestImpressions
    if (!areTwice && !areOfOneExport(alike, smaller)) return
    const { where, day, isSame, rows } = areTwice ? twice : alike
    const same = isSame ? 'the same row stands' : 'the row stands, with other numbers,'
    const grown = areTwice ? '' : ', none with fewer clicks or impressions, as in an early and a final export'
    throw new UsageError(
      `${where}: ${same} in ${other.file.name}${day === 0 ? '' : `, of ${dayText(day)}`} (${grouped(rows)} of ${grouped(smaller)} that they could share${grown}), and would count twice. Take such rows out of one of the files, or, where the files are of different devices, countries, searches or sites, name those in a column device, country, search_type or site_url; nothing was stored`,
    )
  }
  return {
    see(file: RowsFile, reader: RowReader): void {
      const day = dayOf(file, reader)
      // What has no day is a sum, or refused where it is read.
      if (day === -1 || !counts(file, reader)) return
      const days = daysOf(file)
      days.first = Math.min(days.first, day)
      days.last = Math.max(days.last, day)
      days.rows.set(day, (days.rows.get(day) ?? 0) + 1)
    },
    /** Throws a sentence that names the first row of two files that overlap. */
    async check(draft: ClickDraft): Promise<void> {
      const days = [...known.values()].flatMap(({ rows }) => [...rows.keys()]).toSorted((a, b) => a - b)
      const common = new Set(days.filter((day, place) => day === days[place - 1]))
      const commonRows = (file: RowsFile): number =>
        [...daysOf(file).rows].reduce((sum, [day, rows]) => sum + (common.has(day) ? rows : 0), 0)
      const compared = files.filter((file) => commonRows(file) > 0)
      const last = compared.length - 1
      // What the last file has is looked for, and is not to be found.
      const seen = seenRows(compared.slice(0, last).reduce((sum, file) => sum + commonRows(file), 0))
      for (const [place, file] of compared.entries()) {
        const found = new Map<number, CommonRows>()
        await file.read(draft, (reader) => {
          const day = dayOf(file, reader)
          if (!common.has(day) || !counts(file, reader)) return
          for (const row of seen.others(file, reader, day, place)) {
            const rows = found.get(row.file) ?? commonRowsOf()
            found.set(row.file, rows)
            const other = compared[row.file] as RowsFile
            const isTwice = row.isSame || isGrown(day, file, other, row)
            const last = Math.min(daysOf(file).last, daysOf(other).last)
            rows.add(row, { isTwice, isFinal: day !== 0 && day <= last - daysNotFinal }, day, reader)
          }
          if (place < last) seen.keep(place)
        })
        for (const [other, rows] of found) check(file, compared[other] as RowsFile, rows)
      }
    },
  }
}

/** A row of a file before that is about the same as the one that is read. */
interface Alike {
  /** The place of its file. */
  readonly file: number
  /** The same to its numbers. */
  readonly isSame: boolean
  /** Clicks and impressions of the row that is read are as many or more; or as many or fewer. */
  readonly isMore: boolean
  readonly isLess: boolean
  /** Impressions of the row that is read, and of this one. */
  readonly impressions: number
  readonly others: number
  /** The position of the row that is read, and by how much it differs. */
  readonly position: number
  readonly shift: number
}

type CommonRows = ReturnType<typeof commonRowsOf>

/** Rows that two files have in common, to their numbers or not, and where each kind begins. */
function commonRowsOf() {
  const first = { where: '', day: 0, isSame: true, rows: 0, impressions: 0 }
  const twice = { ...first }
  const alike = { ...first, isSame: false, settled: 0, more: 0, less: 0, others: 0, positions: 0, shifts: 0 }
  return {
    /** Those that would count twice. */
    twice,
    /** Those that are about the same. */
    alike,
    add(
      row: Alike,
      { isTwice, isFinal }: { readonly isTwice: boolean; readonly isFinal: boolean },
      day: number,
      reader: RowReader,
    ): void {
      for (const kind of isTwice ? [twice, alike] : [alike]) {
        if (kind.rows === 0) Object.assign(kind, { where: reader.where(), day })
        if (kind.rows === 0 && kind === twice) kind.isSame = row.isSame
        kind.rows++
        kind.impressions += row.impressions
      }
      alike.settled += isFinal && !row.isSame ? 1 : 0
      alike.more += row.isMore ? 1 : 0
      alike.less += row.isLess ? 1 : 0
      alike.others += row.others
      alike.positions += row.position * row.impressions
      alike.shifts += row.shift * row.impressions
    },
  }
}

/**
 * Whether rows that are about the same are those of one export, which was made early and again when its numbers had grown: nearly all of the
 * smaller file, all of them more in one file, but not twice as many, and at the same positions; days that were final in both have the same numbers.
 * Those of devices differ by more.
 */
function areOfOneExport(alike: CommonRows['alike'], smaller: number): boolean {
  const { rows, settled, more, less, impressions, others, positions, shifts } = alike
  return (
    rows >= fewestGrown &&
    settled * 20 <= rows &&
    rows * 20 >= smaller * 19 &&
    (more === rows || less === rows) &&
    Math.max(impressions, others) < Math.min(impressions, others) * 2 &&
    shifts * 10 <= positions
  )
}

/** Rows of files by what they are about, in 24 bytes a place: a Map of millions would fill memory. */
function seenRows(most: number) {
  let size = 1 << 10
  while (size * 0.7 < most) size *= 2
  const [highs, lows, files] = [new Int32Array(size), new Int32Array(size), new Uint32Array(size)]
  const numbers = new Float32Array(size * 3)
  const key = rowKey()
  /** Of the row that is read: its numbers, the place where it would stand, and whether it stands there. */
  const row = new Float32Array(3)
  let free = 0
  let isKept = false
  return {
    /** Rows of other files that are about the same. */
    others(file: RowsFile, reader: RowReader, day: number, place: number): readonly Alike[] {
      key.set(file, reader, day)
      const { high, low } = key
      row[0] = reader.whole(file.layout.clicks)
      row[1] = reader.whole(file.layout.impressions)
      row[2] = reader.number(file.layout.position)
      isKept = false
      const found: Alike[] = []
      let alike = 0
      for (free = low & (size - 1); files[free] !== 0 && alike < mostAlike; free = (free + 1) & (size - 1)) {
        if (highs[free] !== high || lows[free] !== low) continue
        alike++
        const one = compared(row, numbers, free * 3, (files[free] as number) - 1)
        if (one.file !== place) found.push(one)
        else isKept ||= one.isSame
      }
      isKept ||= alike === mostAlike
      return found
    },
    /** Keeps the row for the files that follow. */
    keep(place: number): void {
      if (isKept) return
      highs[free] = key.high
      lows[free] = key.low
      files[free] = place + 1
      numbers.set(row, free * 3)
    },
  }
}

function compared(row: Float32Array, numbers: Float32Array, at: number, file: number): Alike {
  const [clicks, impressions, position] = [row[0], row[1], row[2]] as [number, number, number]
  const others = numbers[at + 1] as number
  const [byClicks, byImpressions] = [clicks - (numbers[at] as number), impressions - others]
  const shift = Math.abs(position - (numbers[at + 2] as number))
  return {
    file,
    isSame: byClicks === 0 && byImpressions === 0 && shift === 0,
    isMore: byClicks >= 0 && byImpressions >= 0,
    isLess: byClicks <= 0 && byImpressions <= 0,
    impressions,
    others,
    position,
    shift,
  }
}

/** 64 bits of what a row is about: all that it says beside its numbers and rates. A text of it would take longer than all else. */
function rowKey() {
  const key = { high: 0, low: 0 }
  const add = (value: number): void => {
    key.high = Math.imul(key.high ^ value, 0x01000193)
    key.high ^= key.high >>> 15
    const mixed = Math.imul(value, 0xcc9e2d51)
    key.low ^= Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
    key.low = (Math.imul((key.low << 13) | (key.low >>> 19), 5) + 0xe6546b64) | 0
  }
  const addWord = (word: string): void => {
    add(word.length)
    for (let at = 0; at < word.length; at++) add(word.charCodeAt(at))
  }
  return Object.assign(key, {
    set({ layout }: RowsFile, reader: RowReader, day: number): void {
      key.high = 0x9e3779b9 | 0
      key.low = 0x85ebca6b | 0
      add(day)
      for (const field of dimensions) if (layout[field] !== -1) addWord(reader.word(layout[field]))
      if (layout.query !== -1) add(reader.text(layout.query, 'query'))
      if (layout.page !== -1) add(reader.text(layout.page, 'page'))
      addWord(reader.unread())
      key.low ^= key.low >>> 16
      key.low = Math.imul(key.low, 0x85ebca6b)
      key.low ^= key.low >>> 13
    },
  })
}

/** What tells rows apart beside their texts. */
const dimensions = ['property', 'country', 'device', 'searchType'] as const
