import { count, grouped } from '../model/text.ts'
import { quoted } from '../model/values.ts'

/** What tables call the row of their sums, in the languages of spreadsheets and of those who keep them; in lower case. */
const names = [
  'total|totals|grand total|totals? general|total général|total generale?|total geral|sub ?totals?|sum|sums',
  'summen?|gesamt|gesamtsumme|gesamtergebnis|insgesamt|somme|totale|totale complessivo|suma|suma total|soma|totaal|eindtotaal',
  'razem|suma końcowa|celkem|celkový součet|spolu|összesen|végösszeg|toplam|genel toplam|summa|totalt|i alt|yhteensä',
  'итого|всего|общий итог|разом|σύνολο|合計|総計|合计|总计|總計|합계|총계',
].join('|')
const ofSums = new RegExp(`^(?:${names})(?:\\s*[:=(].*)?$`, 'iu')

/** Whether a cell may name a row of sums: by what it says, or because it is empty. */
export function maySayTotal(cell: string): boolean {
  const text = cell.trim().normalize('NFC')
  return text === '' || ofSums.test(text)
}

/** Fewer together are sums by chance. */
const fewest = 10

/** A row that may be a sum. */
interface KeptRow {
  /** Its day; null where it is of all of them. */
  readonly day: number | null
  readonly numbers: SumNumbers
  readonly name: string
  readonly where: string
  /** Takes it as any other row. */
  readonly take: () => void
}

/** Clicks and impressions; of volumes the same number twice. */
type SumNumbers = readonly [number, number]

/**
 * Keeps back the rows of a table that may be sums of the others, of all or of their day. They are taken as rows where their numbers are
 * others: a word such as Total is a keyword, too.
 */
export function keptTotals() {
  const days = new Map<number, { readonly day: number; rows: number; sums: [number, number] }>()
  // Most rows are of the day of the row above.
  let last = { day: Number.NaN, rows: 0, sums: [0, 0] as [number, number] }
  const kept = new Map<number | null, KeptRow>()
  let areRows = false
  /** What rows that are named as sums have together, however many of them a day has, as those of countries. */
  const named = { where: '', name: '', rows: 0, sums: [0, 0] as [number, number] }
  const takeAll = (): void => {
    for (const row of kept.values()) row.take()
    kept.clear()
  }
  /** What the other rows of a day have together; null: those of all days. */
  const beside = (day: number | null): SumNumbers => {
    const all = day === null ? [...days.values()].map(({ sums }) => sums) : [days.get(day)?.sums ?? [0, 0]]
    return all.reduce<SumNumbers>(([a, b], [one, other]) => [a + one, b + other], [0, 0])
  }
  return {
    /** Counts a row that is none of sums. */
    see(day: number, clicks: number, impressions: number): void {
      if (day !== last.day) {
        last = days.get(day) ?? { day, rows: 0, sums: [0, 0] }
        days.set(day, last)
      }
      last.rows++
      last.sums[0] += clicks
      last.sums[1] += impressions
    },
    /** Keeps a row back. Two of one day are no sums, and are taken. */
    keep(row: KeptRow): void {
      if (row.name !== '') {
        if (named.rows === 0) Object.assign(named, { where: row.where, name: row.name })
        named.rows++
        named.sums[0] += row.numbers[0]
        named.sums[1] += row.numbers[1]
      }
      if (!areRows && !kept.has(row.day)) {
        kept.set(row.day, row)
        return
      }
      areRows = true
      takeAll()
      row.take()
    },
    /** Takes what is no sum, and answers how many rows were sums, with a sentence on them; or on what may be one. */
    end(): { readonly sums: number; readonly warning: string | null } {
      const rows = [...kept.values()]
      const [first] = rows
      const others = [...days.values()].reduce((sum, one) => sum + one.rows, 0)
      const most = rows.reduce((sum, { numbers: [, number] }) => sum + number, 0)
      const areMany = others > rows.length && most >= fewest
      /** Whether each row that was kept back compares so with the sum of the others, in both numbers. */
      const each = (compares: (own: number, sum: number) => boolean): boolean =>
        rows.every(({ day, numbers }) => {
          const sums = beside(day)
          return compares(numbers[0], sums[0]) && compares(numbers[1], sums[1])
        })
      if (areMany && each((own, sum) => own === sum)) return { sums: rows.length, warning: leftOut(rows) }
      const isLarge = areMany && first?.name !== '' && each((own, sum) => own >= sum)
      takeAll()
      const [clicks, impressions] = beside(null)
      const areDoubled =
        named.rows > 1 &&
        others > named.rows &&
        named.sums[0] >= clicks &&
        named.sums[1] >= impressions &&
        impressions >= fewest
      if (areDoubled)
        return {
          sums: 0,
          warning: `${named.where}: ${grouped(named.rows)} rows such as ${quoted(named.name)} have together as much as the ${grouped(others)} others, and count as rows. If they are sums, undo this addition, and take them out of the file.`,
        }
      return {
        sums: 0,
        warning:
          isLarge && first !== undefined
            ? `${first.where}: the row ${nameOf(first)} has as much as the ${count(others, 'other row')} together, and counts as a row. If it is a sum, undo this addition, and take it out of the file.`
            : null,
      }
    },
  }
}

/** The sentence on rows that were sums. */
function leftOut(rows: readonly KeptRow[]): string {
  const [first] = rows as readonly [KeptRow]
  return rows.length === 1
    ? `${first.where}: the row ${nameOf(first)} is the sum of the others and was left out.`
    : `${grouped(rows.length)} rows are sums of the others and were left out; the first one is ${nameOf(first)} (${first.where}).`
}

function nameOf({ name }: KeptRow): string {
  return name === '' ? 'without a name' : quoted(name)
}
