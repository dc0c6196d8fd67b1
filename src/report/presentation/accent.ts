/** The colour of an agency on light and on dark pages: same hue, as light or dark as it must be for text to be read. */
export interface Accent {
  readonly light: string
  readonly dark: string
}

type Rgb = readonly [red: number, green: number, blue: number]

/** Contrast of text by WCAG 2, level AA. */
const leastContrast = 4.5

/**
 * The grounds on which the accent is text: those of `style/base.css`, with as much of the accent in them as selected rows and
 * pressed buttons have.
 */
const grounds = {
  light: [hex('#ffffff'), hex('#f3f3f0')],
  dark: [hex('#0e1013'), hex('#1c2026')],
} as const
const tint = 0.1

/**
 * Adapts a colour for text on light and on dark pages. Its lightness changes only as far as the contrast asks for; grey stays grey.
 *
 * @param colour such as #0a5 or #00aa55
 */
export function accentOf(colour: string): Accent {
  const [hue, saturation, lightness] = toHsl(hex(colour))
  const adapted = (theme: keyof typeof grounds, step: number): string => {
    for (let at = lightness; at >= 0 && at <= 1; at += step) {
      const colour = hexOf(toRgb([hue, saturation, at]))
      if (isReadable(hex(colour), theme)) return colour
    }
    return theme === 'light' ? '#000000' : '#ffffff'
  }
  return { light: adapted('light', -0.01), dark: adapted('dark', 0.01) }
}

function isReadable(colour: Rgb, theme: keyof typeof grounds): boolean {
  return grounds[theme].every(
    (ground) =>
      contrast(colour, ground) >= leastContrast &&
      contrast(colour, mixed(colour, ground, tint)) >= leastContrast,
  )
}

function mixed(colour: Rgb, ground: Rgb, part: number): Rgb {
  const one = (channel: 0 | 1 | 2): number => colour[channel] * part + ground[channel] * (1 - part)
  return [one(0), one(1), one(2)]
}

/** Contrast of two colours by WCAG 2, from 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((channel) =>
    channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Red, green and blue from 0 to 1. */
function hex(text: string): Rgb {
  const digits = text.slice(1)
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  const channel = (at: number): number => Number.parseInt(six.slice(at, at + 2), 16) / 255
  return [channel(0), channel(2), channel(4)]
}

function hexOf(colour: Rgb): string {
  return `#${colour
    .map((channel) =>
      Math.round(channel * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function toHsl([red, green, blue]: Rgb): readonly [hue: number, saturation: number, lightness: number] {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  const [range, lightness] = [most - least, (most + least) / 2]
  if (range === 0) return [0, 0, lightness]
  const saturation = range / (1 - Math.abs(2 * lightness - 1))
  const hue =
    most === red
      ? (green - blue) / range
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4
  return [(hue * 60 + 360) % 360, saturation, lightness]
}

function toRgb([hue, saturation, lightness]: readonly [number, number, number]): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number): number => {
    const place = (offset + hue / 30) % 12
    return lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1))
  }
  return [channel(0), channel(8), channel(4)]
}
