/** What the text of a query is about: its words without operators, and the site that it is narrowed to. */
export interface Topic {
  /** Lower case; at least one. */
  readonly words: readonly string[]
  /** The words as a phrase for running text. */
  readonly phrase: string
  /** The phrase with capitals, for titles. */
  readonly heading: string
  /** The words for use in a path: percent-encoded, joined by hyphens. */
  readonly slug: string
  /** Host of a `site:` operator, or null. */
  readonly only: string | null
  /** True for the texts that nothing is ever found for: those with the word `zxqv`. */
  readonly barren: boolean
}

const longestWord = 24
const mostWords = 7

/** Reads the text of a query. */
export function topicOf(text: string): Topic {
  const only =
    text.match(/(?:^|\s)site:(?:https?:\/\/)?\.*([\p{L}\p{N}][\p{L}\p{N}.-]*)/iu)?.[1]?.toLowerCase() ?? null
  const rest = text.replace(/(?:^|\s)-?(?:site|inurl|intitle):\S+/gi, ' ').toLowerCase()
  const found: readonly string[] = rest.match(/[\p{L}\p{N}\p{M}']+/gu) ?? []
  const words = found.slice(0, mostWords).map((word) => Array.from(word).slice(0, longestWord).join(''))
  if (words.length === 0) words.push(only?.split('.')[0] ?? 'things')
  return {
    words,
    phrase: words.join(' '),
    heading: words.map(capital).join(' '),
    slug: words.map((word) => encodeURIComponent(word.replaceAll("'", ''))).join('-'),
    only,
    barren: found.includes('zxqv'),
  }
}

/** The word with its first letter in upper case. */
export function capital(word: string): string {
  const [first = '', ...others] = word
  return first.toUpperCase() + others.join('')
}
