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
