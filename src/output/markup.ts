/** HTML that may be written as it is. Only {@link html} makes it, and {@link harmless} from what was made harmless before. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Markup | null | readonly Piece[]

/** Text between tags and in attributes, as it was meant. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** HTML with values in it: text is escaped, markup is not, null is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  return new Markup(
    strings.reduce((before, after, place) => `${before}${written(values[place - 1] ?? null)}${after}`),
  )
}

/** HTML of others that was made harmless. */
export function harmless(text: string): Markup {
  return new Markup(text)
}

function written(value: Piece): string {
  if (value === null) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'string') return escaped(value)
  return typeof value === 'number' ? String(value) : value.map(written).join('')
}
