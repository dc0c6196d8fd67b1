/** Dots and bars between the parts of a line, and dashes that stand free or at an end; others join ranges. */
const separator = /[·•∙⋅‧・|｜]|(?<=^|\s)[-–—]+(?=\s|$)|[-–—]+$/u

/** Where a name follows a date without a sign or a space between them, as in `2 days agoReuters`. */
const seam = /(?<=\p{Ll})(?=\p{Lu})|(?<=\d{4})(?=\p{Lu})/gu

/** The parts of a line of text that separators divide. */
export function piecesOf(text: string): readonly string[] {
  return text
    .split(separator)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
}

/** What stands before each seam of a text. */
export function gluedHeads(text: string): readonly string[] {
  return [...text.matchAll(seam)].map(({ index }) => text.slice(0, index))
}
