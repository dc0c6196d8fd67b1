import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasMarks, normalParam, normalText } from '../../src/model/text.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

describe('texts that look alike are one text', () => {
  testTable([
    ['as it is', 'standing desk', 'standing desk'],
    ['two spaces', 'standing  desk', 'standing desk'],
    ['spaces around it', '  standing desk\t', 'standing desk'],
    ['a no-break space', 'standing\u00a0desk', 'standing desk'],
    ['an ideographic space', '\u7acb\u3061\u3000\u673a', '\u7acb\u3061 \u673a'],
    ['a line separator', 'standing\u2028desk', 'standing desk'],
    ['a zero-width space', 'standing\u200b desk', 'standing desk'],
    ['a byte order mark in the middle', 'standing\ufeff desk', 'standing desk'],
    ['marks of direction', '\u202dstanding\u200e desk\u202c', 'standing desk'],
    ['isolates', '\u2066standing desk\u2069', 'standing desk'],
    ['a soft hyphen', 'stand\u00ading desk', 'standing desk'],
    ['an invisible operator', 'standing\u2060 desk\u2064', 'standing desk'],
    ['a joiner between Latin letters', 'stan\u200dding\u200c desk', 'standing desk'],
    ['a joiner between a letter and its accent', 'cafe\u200d\u0301', 'caf\u00e9'],
    ['a variation that no letter has', 'desk\ufe0f', 'desk'],
    ['tags without a flag', 'desk\u{e0067}\u{e007f}', 'desk'],
    ['an accent apart', 'cafe\u0301', 'caf\u00e9'],
    ['a syllable in parts', '\u1112\u1161\u11ab', '\ud55c'],
    ['nothing but marks', '\u200b\u2060', ''],
    ['case', 'Standing Desk', 'Standing Desk'],
  ])('%s', (_, written, one) => expect(normalText(written)).toBe(one))
})

describe('what a word or an emoji needs stays', () => {
  testTable([
    ['Persian', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['Devanagari', '\u0915\u094d\u200d\u0937 \u0930\u094d\u200c\u092f'],
    ['Malayalam, at the end of a word', '\u0d05\u0d35\u0d28\u0d4d\u200d \u0d35\u0d28\u0d4d\u0d28\u0d41'],
    ['Sinhala', '\u0dc1\u0dca\u200d\u0dbb\u0dd3'],
    ['an emoji of two', '\u{1f469}\u200d\u{1f4bb} laptop'],
    ['a skin colour', '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}'],
    ['an emoji with colours', '\u2764\ufe0f\u200d\u{1f525}'],
    ['a family', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'],
    ['a keycap', '5\ufe0f\u20e3'],
    ['the flag of a region', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['a variant of a Han letter', '\u845b\u{e0100}'],
    ['numbers of Arabic', '\u0661\u0662'],
  ])('%s', (_, text) => {
    expect(normalText(text)).toBe(text)
    expect(hasMarks(text)).toBe(false)
  })
})

const odd = fc.constantFrom(
  ...[
    'a',
    'e\u0301',
    '\u00e9',
    ' ',
    '\u00a0',
    '\u3000',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u202e',
    '\ufeff',
    '\u00ad',
  ],
  ...[
    '\u0645',
    '\u06cc',
    '\u0915',
    '\u094d',
    '\u0d28',
    '\u0d4d',
    '\u{1f469}',
    '\u{1f3fd}',
    '\u2764',
    '\ufe0f',
    '5',
  ],
  ...[
    '\u20e3',
    '\u{1f3f4}',
    '\u{e0067}',
    '\u{e007f}',
    '\u845b',
    '\u{e0100}',
    '\u1820',
    '\u180b',
    '\u1112',
    '\u1161',
  ],
)
const spellings = fc.oneof(fc.string({ unit: odd, maxLength: 12 }), anyText({ maxLength: 12 }))

test('a normal text stays as it is, and so do its canonical forms', () => {
  fc.assert(
    fc.property(spellings, (text) => {
      const one = normalText(text)
      expect(normalText(one)).toBe(one)
      expect(one.normalize('NFC')).toBe(one)
      expect(hasMarks(one)).toBe(false)
      expect(normalText(text.normalize('NFD'))).toBe(one)
      expect(normalText(` ${text}\u2003`)).toBe(one)
      expect(one).not.toMatch(/\s\s|^\s|\s$/)
    }),
    { numRuns: 500 },
  )
})

describe('codes have the spelling of the service', () => {
  testTable([
    ['gl', 'US', 'us'],
    ['cc', 'Gb', 'gb'],
    ['hl', 'EN', 'en'],
    ['hl', 'pt-br', 'pt-BR'],
    ['hl', 'PT-BR', 'pt-BR'],
    ['hl', 'ZH-hant', 'zh-Hant'],
    ['hl', 'es-419', 'es-419'],
    ['mkt', 'EN-us', 'en-US'],
    ['mkt', 'zh-hans-cn', 'zh-Hans-CN'],
    ['alpha_domains', 'Engine.CO.UK', 'engine.co.uk'],
    ['safe', 'Strict', 'strict'],
    ['uule', 'w+CAIQICIGQXVzdGlu', 'w+CAIQICIGQXVzdGlu'],
    ['location', ' Austin,\u00a0 Texas', 'Austin, Texas'],
    ['tbs', 'qdr:D', 'qdr:D'],
    ['constructor', 'A', 'A'],
  ])('%s %s', (name, written, one) => expect(normalParam(name, written)).toBe(one))
})
