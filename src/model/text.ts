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

/** Begins with a capital letter. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** The parts that say something, one after the other. */
export function joined(parts: readonly (string | null)[], between = ', '): string {
  return parts.filter((part) => part !== null && part !== '').join(between)
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

/*
 * One query has one spelling: texts that look alike, and codes that differ in case only, must never be bought twice. What is
 * normal here is part of the key of a query, so a change of these rules needs a migration of stored queries.
 */

/** Most texts are plain words with single spaces, and need no look at their letters. */
const plain = /^[!-~]+(?: [!-~]+)*$/

/** Scripts whose words look different without a joiner. In others, for instance Latin, it changes nothing that can be seen. */
const joiningScripts = `
  Arab Syrc Nkoo Mand Mong Phag Adlm Rohg
  Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh
  Mymr Khmr Tibt Java Bali Sund Newa Tirh
`
  .trim()
  .split(/\s+/)
/** Signs that a letter has no vowel. */
const viramas =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u1039\\u103a\\u17d2]'

/** Invisible marks. Where the letters beside one need it all the same, it stands in the first group. */
function marksPattern(): RegExp {
  const joined = `(?=[\\p{L}\\p{M}])[${joiningScripts.map((script) => `\\p{scx=${script}}`).join('')}]`
  const needed = [
    // Between letters of a word; at its end only where it makes another letter, such as a chillu of Malayalam.
    `(?<=${joined})[\\u200c\\u200d](?=[\\u200c\\u200d]*${joined})`,
    `(?<=${viramas})\\u200d`,
    // An emoji that is made of several, one that has colours, a keycap, and the flag of a region.
    '(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]|(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
    '(?<=\\u{1f3f4})[\\u{e0020}-\\u{e007e}]+\\u{e007f}',
    // Variants of letters.
    '(?<=[\\p{scx=Han}\\p{scx=Mymr}\\p{scx=Phag}])[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
    '(?<=\\p{scx=Mong})[\\u180b-\\u180f]',
  ]
  return new RegExp(`(${needed.join('|')})|[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]`, 'gu')
}

/** Made when it is first needed: most texts are plain. */
let marks: RegExp | null = null

/** Composed, without invisible marks (zero-width, of direction and others); those that a word or an emoji needs stay. */
function withoutMarks(text: string): string {
  marks ??= marksPattern()
  // What is needed beside a mark that goes may not be needed beside the next one.
  for (let [before, now] = ['', text.normalize('NFC')]; ; ) {
    if (now === before) return now
    before = now
    now = now.replace(marks, (_, needed?: string) => needed ?? '').normalize('NFC')
  }
}

/** Whether a text has invisible marks that nothing needs. */
export function hasMarks(text: string): boolean {
  return !plain.test(text) && withoutMarks(text) !== text.normalize('NFC')
}

/** The one spelling of a text: composed letters, single spaces, no invisible marks. Case is kept. */
export function normalText(text: string): string {
  if (plain.test(text)) return text
  return withoutMarks(text).replace(/\s+/g, ' ').trim()
}

/** The one spelling of a search text for tools that make no difference of its case. Search Console writes all in lower case. */
export function textInLowerCase(text: string): string {
  return normalText(text).toLowerCase()
}

/** How the service writes codes. What is not named here is a text. */
const codes: Readonly<Record<string, (code: string) => string>> = {
  gl: lowerCase,
  cc: lowerCase,
  safe: lowerCase,
  alpha_domains: lowerCase,
  hl: languageTag,
  mkt: languageTag,
  // Encoded: each letter counts.
  uule: (code) => code,
}

function lowerCase(code: string): string {
  return code.toLowerCase()
}

/** `pt-BR`, `zh-Hant`, `es-419`. */
function languageTag(code: string): string {
  const [language = '', ...parts] = code.toLowerCase().split('-')
  const written = parts.map((part) => {
    if (part.length === 2) return part.toUpperCase()
    return part.length === 4 ? part.charAt(0).toUpperCase() + part.slice(1) : part
  })
  return [language, ...written].join('-')
}

/** The one spelling of the text of a parameter. */
export function normalParam(name: string, text: string): string {
  const written = normalText(text)
  return Object.hasOwn(codes, name) ? (codes[name]?.(written) ?? written) : written
}

/** The entries of a list by a key, in their order. */
export function groupedBy<T, K>(list: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const one of list) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}

/** The value of a key in the map, made where it is missing; the map is emptied before it has more than `most` keys. */
export function remembered<T>(known: Map<string, T>, key: string, make: () => T, most = 1_000): T {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = make()
  if (known.size >= most) known.clear()
  known.set(key, value)
  return value
}

/** The function with its answers kept. Texts that come again one after the other are not even looked up. */
export function memoized<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  let last = null as { readonly text: string; readonly value: T } | null
  return (text) => {
    if (last?.text === text) return last.value
    const value = remembered(known, text, () => make(text), mostAnswers)
    last = { text, value }
    return value
  }
}

const mostAnswers = 10_000
