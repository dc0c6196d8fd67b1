/** Texts that are named by their place in a list, each of them once. */
export interface WordList {
  /** Place of a text, which is added where it is new; null for none. */
  place(word: string | null): number | null
  readonly words: readonly string[]
}

export function wordList(): WordList {
  const known = new Map<string, number>()
  const words: string[] = []
  return {
    words,
    place(word) {
      if (word === null) return null
      const before = known.get(word)
      if (before !== undefined) return before
      known.set(word, words.length)
      return words.push(word) - 1
    },
  }
}
