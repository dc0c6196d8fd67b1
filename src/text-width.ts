import { createRequire } from 'node:module'

/** Letters and signs that are one column wide in every text: none of them joins what stands beside it. */
const narrow =
  '\\u0020-\\u007e\\u00a0-\\u00ac\\u00ae-\\u02ff\\u0386\\u0388-\\u038a\\u038c\\u038e-\\u03a1\\u03a3-\\u0482\\u048a-\\u052f' +
  '\\u05d0-\\u05ea\\u061d-\\u064a\\u2010-\\u2027\\u2030-\\u205e\\u2190-\\u2319\\u2500-\\u25fc\\u25ff-\\u2613'
/** Those that are two columns wide: kana, ideographs, syllables of Hangul, full-width forms. */
const wide = '\\u3001-\\u3029\\u3041-\\u3096\\u30a0-\\u30ff\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60'

const narrowText = new RegExp(`^[${narrow}]*$`)
const plainText = new RegExp(`^[${narrow}${wide}]*$`)
const wideLetter = new RegExp(`[${wide}]`, 'g')

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (narrowText.test(text)) return text.length
  if (plainText.test(text)) return text.length + (text.match(wideLetter) as readonly string[]).length
  return widthOfAny(text)
}

/** @public The build gives it to yargs, too, in place of string-width. */
export { textWidth as default }

let loaded: typeof import('string-width').default | null = null

/** The package takes half as long to load as all of Node: most texts never need it. */
function widthOfAny(text: string): number {
  loaded ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default
  return loaded(text)
}
