import { textWidth } from '../text-width.ts'

/** Text over as many lines as it takes, broken between words, and within those that are wider than a line. */
export function wrap(text: string, width: number, indent = ''): readonly string[] {
  const room = Math.max(1, width - textWidth(indent))
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => broken(one, room))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (textWidth(longer) <= room) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].map((one) => indent + one)
}

function broken(word: string, room: number): readonly string[] {
  if (textWidth(word) <= room) return [word]
  const parts = ['']
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    const longer = parts.at(-1) + segment
    if (textWidth(longer) <= room || parts.at(-1) === '') parts[parts.length - 1] = longer
    else parts.push(segment)
  }
  return parts
}
