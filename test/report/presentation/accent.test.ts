import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accentOf } from '../../../src/report/requests/presentation.ts'

test.each([
  ['a green that dark pages take as it is', '#00aa55', '#007239', '#00aa55'],
  ['three digits', '#0a5', '#007239', '#00aa55'],
  ['grey', '#767c85', '#60656d', '#8e939b'],
  ['black', '#000', '#000000', '#949494'],
  ['white', '#ffffff', '#666666', '#ffffff'],
  ['pale yellow', '#fff9c4', '#726700', '#fff9c4'],
  ['brand red', '#e30613', '#c50511', '#fa555e'],
  ['near-black blue', '#0b1020', '#0b1020', '#7c90d2'],
])('the accent is adapted for light and dark pages: %s', (_, colour, light, dark) => {
  expect(accentOf(colour)).toEqual({ light, dark })
})

/** Contrast by WCAG 2, computed apart. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const anyColour = fc.integer({ min: 0, max: 0xffffff }).map((one) => `#${one.toString(16).padStart(6, '0')}`)

test('any colour can be read as text on every ground of the page', () => {
  fc.assert(
    fc.property(anyColour, (colour) => {
      const { light, dark } = accentOf(colour)
      for (const ground of ['#ffffff', '#fafaf8', '#f3f3f0'])
        expect(contrast(light, ground)).toBeGreaterThanOrEqual(4.5)
      for (const ground of ['#0e1013', '#15181c', '#1c2026'])
        expect(contrast(dark, ground)).toBeGreaterThanOrEqual(4.5)
    }),
  )
})
