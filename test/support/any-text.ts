import fc from 'fast-check'

/** Any character of Unicode, whole. fast-check's own `binary` is the same, but takes most of a second to set up. */
const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x2ff }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map(
    (code) => String.fromCodePoint(code),
    // By this fast-check also draws the names that objects inherit, such as `__proto__`.
    (character) => (typeof character === 'string' ? (character.codePointAt(0) ?? Number.NaN) : Number.NaN),
  )

/** Text of any characters. */
export function anyText(limits: fc.StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: anyCharacter })
}

/** Addresses of pages, with any characters in their paths and queries: fast-check's own `webUrl` draws from `binary`. */
export function anyUrl(): fc.Arbitrary<string> {
  const part = anyText({ maxLength: 8 }).map(encodeURIComponent)
  const after = (sign: string): fc.Arbitrary<string> =>
    fc.option(part, { nil: null }).map((text) => (text === null ? '' : `${sign}${text}`))
  return fc
    .tuple(
      fc.constantFrom('http://', 'https://'),
      fc.domain(),
      fc.array(part, { maxLength: 4 }).map((parts) => parts.map((one) => `/${one}`).join('')),
      after('?'),
      after('#'),
    )
    .map((parts) => parts.join(''))
}
