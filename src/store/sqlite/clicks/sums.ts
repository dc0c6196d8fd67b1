import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A row of a file: `query` and `page` are numbers that the draft gave, 0 for none. */
export interface ClickRow {
  table: number
  query: number
  page: number
  /** A number that `countryCode` gave. */
  country: number
  day: number
  clicks: number
  impressions: number
  /** Counted from 0. */
  positionSum: number
}

/** A row to be filled again and again: millions of them would be made otherwise. */
export function emptyRow(): ClickRow {
  return { table: 0, query: 0, page: 0, country: 0, day: 0, clicks: 0, impressions: 0, positionSum: 0 }
}

/**
 * Sums rows that say the same of the same.
 *
 * @param places a power of two; it is full with seven tenths of them
 */
export function rowSums(places = 1 << 20) {
  const mostPlaces = Math.floor(places * 0.7)
  const keys = new Int32Array(places * 5)
  const sums = new Float64Array(places * 3)
  const used = new Uint8Array(places)
  const one = emptyRow()
  let filled = 0
  return {
    isFull: () => filled >= mostPlaces,
    add({ table, query, page, country, day, clicks, impressions, positionSum }: ClickRow): void {
      let mixed = Math.imul(query, 0x9e3779b1) ^ Math.imul(page, 0x85ebca77)
      mixed ^= Math.imul(day * 64 + table, 0xc2b2ae3d) ^ Math.imul(country, 0x27d4eb2f)
      let place = (mixed ^ (mixed >>> 15)) & (places - 1)
      for (; used[place] === 1; place = (place + 1) & (places - 1)) {
        const at = place * 5
        if (
          keys[at + 1] === query &&
          keys[at + 2] === page &&
          keys[at + 4] === day &&
          keys[at + 3] === country &&
          keys[at] === table
        )
          break
      }
      if (used[place] === 0) {
        used[place] = 1
        filled++
        const at = place * 5
        keys[at] = table
        keys[at + 1] = query
        keys[at + 2] = page
        keys[at + 3] = country
        keys[at + 4] = day
      }
      const at = place * 3
      sums[at] = (sums[at] as number) + clicks
      sums[at + 1] = (sums[at + 1] as number) + impressions
      sums[at + 2] = (sums[at + 2] as number) + positionSum
    },
    /** Gives each sum, in the order of the table of rows; nothing is left. */
    take(write: (row: ClickRow) => void): void {
      const taken = new Uint32Array(filled)
      let next = 0
      for (let place = 0; place < places; place++) if (used[place] === 1) taken[next++] = place
      taken.sort((a, b) => {
        for (let part = 0; part < 5; part++) {
          const difference = (keys[a * 5 + part] as number) - (keys[b * 5 + part] as number)
          if (difference !== 0) return difference
        }
        return 0
      })
      for (const place of taken) {
        const [key, sum] = [place * 5, place * 3]
        one.table = keys[key] as number
        one.query = keys[key + 1] as number
        one.page = keys[key + 2] as number
        one.country = keys[key + 3] as number
        one.day = keys[key + 4] as number
        one.clicks = sums[sum] as number
        one.impressions = sums[sum + 1] as number
        one.positionSum = sums[sum + 2] as number
        write(one)
      }
      used.fill(0)
      sums.fill(0)
      filled = 0
    },
  }
}

/** Numbers of a row. */
const width = 8
/** Rows of a run that lie in memory at once. */
const piece = 4_096

/** The order in which rows are stored. */
function compared(a: ClickRow, b: ClickRow): number {
  return a.table - b.table || a.query - b.query || a.page - b.page || a.country - b.country || a.day - b.day
}

function putRow(into: Float64Array, at: number, row: ClickRow): void {
  into[at] = row.table
  into[at + 1] = row.query
  into[at + 2] = row.page
  into[at + 3] = row.country
  into[at + 4] = row.day
  into[at + 5] = row.clicks
  into[at + 6] = row.impressions
  into[at + 7] = row.positionSum
}

function takeRow(from: Float64Array, at: number, row: ClickRow): void {
  row.table = from[at] as number
  row.query = from[at + 1] as number
  row.page = from[at + 2] as number
  row.country = from[at + 3] as number
  row.day = from[at + 4] as number
  row.clicks = from[at + 5] as number
  row.impressions = from[at + 6] as number
  row.positionSum = from[at + 7] as number
}

/**
 * Keeps sorted runs of rows in a temporary file, and gives the rows of all of them in one order, those of the same adding up. SQLite would
 * take some times as long to sort them.
 */
export function sortedRuns() {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-clicks-'))
  const file = openSync(join(folder, 'runs'), 'wx+', 0o600)
  const runs: { readonly start: number; readonly rows: number }[] = []
  let written = 0

  /** Fills a row with the next one of a run; false behind its last one. */
  const reader = ({ start, rows }: (typeof runs)[number], row: ClickRow) => {
    const part = new Float64Array(Math.min(piece, rows) * width)
    let taken = 0
    return (): boolean => {
      if (taken === rows) return false
      const at = (taken % piece) * width
      if (at === 0)
        readSync(file, part, 0, Math.min(piece, rows - taken) * width * 8, (start + taken) * width * 8)
      takeRow(part, at, row)
      taken++
      return true
    }
  }

  return {
    /** Adds a run, of which a function gives the rows in their order. */
    add(each: (write: (row: ClickRow) => void) => void): void {
      const start = written
      const buffer = new Float64Array(piece * width)
      let filled = 0
      const flush = (): void => {
        writeFileSync(file, buffer.subarray(0, filled * width))
        written += filled
        filled = 0
      }
      each((row) => {
        putRow(buffer, filled * width, row)
        filled++
        if (filled === piece) flush()
      })
      flush()
      runs.push({ start, rows: written - start })
    },
    /** Gives each row once, in their order. */
    merge(write: (row: ClickRow) => void): void {
      const heads = runs.flatMap((run) => {
        const row = emptyRow()
        const next = reader(run, row)
        return next() ? [{ row, next }] : []
      })
      const sum = emptyRow()
      let isFilled = false
      for (let [least] = heads; least !== undefined; [least] = heads) {
        for (const head of heads) if (compared(head.row, least.row) < 0) least = head
        const { row, next } = least
        if (isFilled && compared(sum, row) === 0) {
          sum.clicks += row.clicks
          sum.impressions += row.impressions
          sum.positionSum += row.positionSum
        } else {
          if (isFilled) write(sum)
          Object.assign(sum, row)
          isFilled = true
        }
        if (!next()) heads.splice(heads.indexOf(least), 1)
      }
      if (isFilled) write(sum)
    },
    [Symbol.dispose](): void {
      closeSync(file)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
