/** The zeros of the decimal digits that pages are written in; the nine others follow each of them. */
const zeros = [...'٠۰०০੦૦୦௦౦೦൦๐໐༠၀០᠐０'].map((zero) => zero.charCodeAt(0))

/** Signs that stand for the same one: Arabic and Persian, for instance, write two letters each in their own way. */
const alike: readonly (readonly [sign: RegExp, same: string])[] = [
  [/[‐‑−]/g, '-'],
  [/['’ʼ׳`´]/g, "'"],
  [/ı/g, 'i'],
  [/[يى]/g, 'ی'],
  [/ك/g, 'ک'],
]

/** Accents, and the vowel signs of Arabic and Hebrew; the marks of Indic and Thai letters are no accents. */
const accents = /[\u0300-\u036f\u064b-\u0655\u0591-\u05c7]/g

/** Local digits as ASCII ones, every run of spaces as one, wide signs as narrow ones, and nothing invisible. */
export function plain(text: string): string {
  return text
    .replace(/\p{Nd}/gu, latin)
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Zs}]+/gu, ' ')
    .trim()
}

/** Text in the form that words are compared in: no case, no accents, no dots of abbreviations. */
export function fold(text: string): string {
  const bare = plain(text).toLowerCase().normalize('NFD').replace(accents, '').normalize('NFC')
  return alike
    .reduce((rest, [sign, same]) => rest.replace(sign, same), bare)
    .replace(/(?<=[\p{L}\p{M}])[.॰]/gu, '')
}

function latin(digit: string): string {
  const code = digit.charCodeAt(0)
  const zero = zeros.find((start) => code >= start && code < start + 10)
  return zero === undefined ? digit : String(code - zero)
}
