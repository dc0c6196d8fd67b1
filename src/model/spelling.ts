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

/** Params in their one spelling. */
export function normalParams(
  params: Readonly<Record<string, string | number>>,
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? normalParam(name, value) : value,
    ]),
  )
}
