import { expect, test } from 'vitest'
import { logoAddress } from '../../../src/report/requests/presentation.ts'
import { testTable } from '../../support/test-table.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const svg = (inside: string, attributes = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"${attributes}>${inside}</svg>`
const signature = '89504e470d0a1a0a'
/** A PNG without its picture. */
const pngOf = (width: number, height: number): Uint8Array => {
  const sides = [width, height].map((side) => side.toString(16).padStart(8, '0')).join('')
  return Buffer.from(`${signature}0000000d49484452${sides}08020000000000000000000049454e44ae426082`, 'hex')
}
const png = pngOf(40, 20)

test('a PNG is taken as it is', () => {
  expect(logoAddress(png)).toEqual({
    value: `data:image/png;base64,${Buffer.from(png).toString('base64')}`,
  })
})

testTable([
  svg('<path d="M0 0h9v9z" fill="#0a5"/>'),
  `<?xml version="1.0"?>\n<!-- Made by a program -->\n${svg('<g id="a"/><use href="#a"/>')}`,
  `\ufeff${svg('<linearGradient id="g"/><rect fill="url(#g)"/>')}`,
  svg('<style>.a { fill: url("#g") } #on { color: red }</style><text class="a">script = on</text>'),
  svg('<image href="data:image/png;base64,AAAA"/>'),
  svg('<a11y/><animal/>'),
])('an SVG that only draws is taken: %s', (text) => {
  expect(logoAddress(bytes(text))).toHaveProperty('value')
})

test('what drawing programs write before the drawing is left out', () => {
  const doctype =
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
  expect(logoAddress(bytes(`${doctype}${svg('')}`))).toEqual(logoAddress(bytes(svg(''))))
})

testTable([
  [svg('<script>alert(1)</script>'), 'the element script'],
  [svg('<SCRIPT href="#a"/>'), 'the element SCRIPT'],
  [svg('<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>'), 'the element script'],
  [svg('<foreignObject><body/></foreignObject>'), 'the element foreignObject'],
  [svg('<h:iframe xmlns:h="http://www.w3.org/1999/xhtml"/>'), 'the element iframe'],
  [svg('<a href="#x"><text>a</text></a>'), 'the element a'],
  [svg('<set attributeName="href" to="javascript:alert(1)"/>'), 'the element set'],
  [svg('<animateTransform/>'), 'the element animateTransform'],
  [svg('', ' onload="alert(1)"'), 'the attribute onload'],
  [svg('<path d=""\nonclick = "alert(1)"/>'), 'the attribute onclick'],
  [svg('<path d=""/onmouseover=alert(1) />'), 'the attribute onmouseover'],
  [svg('<image href="https://tracker.example/a.png"/>'), "the address 'https://tracker.example/a.png'"],
  [svg("<use xlink:href='//evil.example/a.svg#b'/>"), "the address '//evil.example/a.svg#b'"],
  [svg('<use href="&#106;avascript:alert(1)"/>'), "the address '&#106;avascript:alert(1)'"],
  [svg('<image href="data:image/svg+xml,<svg/>"/>'), "the address 'data:image/svg+xml,<svg/>'"],
  [svg('<rect style="fill:url(http://evil.example/x)"/>'), "the address 'http://evil.example/x'"],
  [svg('<style>@import "http://evil.example"</style>'), 'a style sheet of its own'],
  [svg('<rect style="fill:u\\72l(http://evil.example/x)"/>'), 'escapes in its styles'],
  [`<?xml-stylesheet href="#a"?>${svg('')}`, null],
  [`<!DOCTYPE svg [<!ENTITY x "y">]>${svg('&x;')}`, null],
  [`<!-- -->${svg('')}<!ENTITY x "y">`, 'definitions of entities'],
])('an SVG that could run or load something is refused: %s', (text, harm) => {
  expect(logoAddress(bytes(text))).toEqual(
    harm === null
      ? expect.not.objectContaining({ value: expect.anything() })
      : { message: `has ${harm}, which a logo does not need`, fix: 'save it as plain SVG or as PNG' },
  )
})

testTable<[string, Uint8Array, string]>([
  ['a JPEG', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), 'is neither PNG nor SVG'],
  ['a page', bytes('<html><svg></svg></html>'), 'is neither PNG nor SVG'],
  ['nothing', new Uint8Array(), 'is neither PNG nor SVG'],
  ['the first half of a PNG', png.slice(0, 30), 'is a PNG that no browser can show'],
  ['a PNG that ends after its signature', Buffer.from(signature, 'hex'), 'is a PNG that no browser can show'],
  ['a PNG without a height', pngOf(40, 0), 'is a PNG that no browser can show'],
  ['a PNG of ten gigapixels', pngOf(100_000, 100_000), 'is a PNG that no browser can show'],
  [
    'an SVG cut from a page',
    bytes('<svg></svg>'),
    'is an SVG that no browser can show, because it has no xmlns',
  ],
  ['a large picture', new Uint8Array(500_001), 'has 501 kB'],
])('%s is no logo', (_, file, message) => {
  expect(logoAddress(file)).toMatchObject({ message })
})
