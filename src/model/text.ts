/** The known name nearest to a misspelt one, or null when none is near (Damerau-Levenshtein, at most a third of the letters). */
export function closestMatch(name: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const slips = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (slips < least) {
      best = candidate
      least = slips
    }
  }
  return best
}

/** Letters changed, missing, added or swapped with their neighbour (optimal string alignment distance). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1
      let slips = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + changed,
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        slips = Math.min(slips, (beforeLast[j - 2] as number) + 1)
      row.push(slips)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] as number
}

/** A number with its thousands apart: `1,200`. A formatter of the system takes longer to make than most commands to run. */
export function grouped(n: number): string {
  return Number.isSafeInteger(n) ? String(n).replaceAll(/\B(?=(?:\d{3})+$)/g, ',') : n.toLocaleString('en-US')
}

/** `1 task`, `2 tasks`, `1,200 tasks`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(n)} ${n === 1 ? noun : plural}`
}

/** The first names of a list, and how many more there are: `a, b, c and 30 more`. */
export function firstNames(names: readonly string[], most = 5): string {
  const more = names.length - most
  return more > 0 ? `${names.slice(0, most).join(', ')} and ${grouped(more)} more` : names.join(', ')
}

/** Passes each line on once; `said` holds the lines passed on so far. */
export function eachOnce<About extends readonly unknown[]>(
  log: (line: string, ...about: About) => void,
  said: Set<string> = new Set(),
): (line: string, ...about: About) => void {
  return (line, ...about) => {
    if (!said.has(line)) log(line, ...about)
    said.add(line)
  }
}

/** Seconds as `0.4 s`, `45 s`, `12 min` or `3 h 20 min`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Bytes as `512 bytes`, `4.1 kB`, `12.3 MB` or `2.0 GB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return count(bytes, 'byte')
  const [unit, name] = [[1e9, 'GB'] as const, [1e6, 'MB'] as const].find(([least]) => bytes >= least) ?? [
    1e3,
    'kB',
  ]
  return `${(bytes / unit).toFixed(1)} ${name}`
}

/** What spreadsheets take for the beginning of a formula, in half and full width. */
const formulaSigns = '=+\\-@\uff1d\uff0b\uff0d\uff20'

/**
 * Where a cell can begin with a formula: at its start, also behind what spreadsheets skip there, and behind signs that another
 * separator or a lost quote makes the end of a cell. Quotes that stand there already are kept apart from the one of the guard.
 */
const unguarded = {
  first: new RegExp(`^(?='*[\t\r${formulaSigns}])`),
  later: new RegExp(`([;\t\r\n])(?='*[${formulaSigns}])`, 'g'),
}
const guarded = {
  first: new RegExp(`^'(?='*[\t\r${formulaSigns}])`),
  later: new RegExp(`([;\t\r\n])'(?='*[${formulaSigns}])`, 'g'),
}

/** Text that no spreadsheet runs as a formula: a quote stands before each beginning of one. */
export function withoutFormula(text: string): string {
  return text.replace(unguarded.later, "$1'").replace(unguarded.first, "'")
}

/** The text that `withoutFormula` was given. */
export function withFormula(text: string): string {
  return text.replace(guarded.later, '$1').replace(guarded.first, '')
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

/** A span of time such as `90s`, `30m`, `12h`, `7d`, `2w` or `1y` (365 days) in milliseconds; null for anything else. */
export function parseDuration(text: string, units: string): number | null {
  const [, amount, unit] = text.match(/^(\d+)([a-z])$/) ?? []
  if (unit === undefined || !units.includes(unit)) return null
  const ms = Number(amount) * (unitMs[unit] ?? Number.NaN)
  return Number.isSafeInteger(ms) ? ms : null
}

/** What the first bytes of a text say of its encoding; Windows writes both kinds of UTF-16. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** A word of a POSIX shell, in quotes where it needs some; without a backslash of ours, which cron would read, too. */
export function shellWord(text: string): string {
  return /^[\w./:@=+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`
}

/** The same in double quotes, as people write it, where a shell changes nothing in them. */
export function shellQuoted(text: string): string {
  return /["$`\\!]/.test(text) ? shellWord(text) : `"${text}"`
}

/** A key as people see it: as much of its hash as tells keys apart. */
export function shortKey(keyHash: string): string {
  return keyHash.slice(0, 8)
}
