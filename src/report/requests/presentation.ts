import { readFile } from 'node:fs/promises'
import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { Audience } from '../../model/settings.ts'
import { badCharacters, type ReadResult } from '../../model/values.ts'
import { sanitize } from '../../output/terminal.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { Keyword } from '../history/rank-history.ts'
import type { Presentation } from '../presentation/presentation.ts'

/** What a job says of its report. */
type PresentationSettings = Pick<JobSettings, 'report' | 'views' | 'notes'>

/** What the file of a job says of its report; what its newest run says where the job is named without its file. */
export async function presentationSettings(
  store: Pick<Store, 'latestRun'>,
  job: string,
  file: JobSettings | null,
): Promise<PresentationSettings> {
  return file ?? (await store.latestRun(job))?.settings ?? { report: null, views: null, notes: null }
}

/** How the report of a job looks. Reads the logo and the comment; throws a sentence where one cannot be used. */
export async function presentationOf(
  { report, views, notes }: PresentationSettings,
  {
    audience = 'team',
    comment,
  }: {
    readonly audience?: Audience
    /** A Markdown file. */
    readonly comment?: string | undefined
  } = {},
): Promise<Presentation> {
  const { title = null, client = null, agency = null, footer = null } = report ?? {}
  const { logo = null, accent = null, language = null } = report ?? {}
  return {
    title,
    client,
    agency,
    footer,
    audience,
    logo: logo === null ? null : await readLogo(logo),
    accent: accent === null ? null : accentOf(accent),
    language: language ?? 'en',
    views: views ?? [],
    notes: notes ?? [],
    comment: comment === undefined ? null : await readComment(comment),
  }
}

/** A keyword as conditions read it. */
export function asQuery({ query, ...keyword }: Keyword) {
  return { ...keyword, text: query }
}

async function readLogo(file: string): Promise<string> {
  const bytes = await contentOf(file, 'logo', 'Check logo: under report: in the job file or in rankline.yaml')
  const read = logoAddress(bytes)
  if ('value' in read) return read.value
  throw new UsageError(`The logo ${sanitize(file)} ${sanitize(read.message)}; ${read.fix}`)
}

/** An analyst's letter is shorter. */
const mostCommentBytes = 50_000

async function readComment(file: string): Promise<Presentation['comment']> {
  const bytes = await contentOf(file, 'comment', 'Check the path given to --comment')
  const refuse = (message: string, fix: string): never => {
    throw new UsageError(`The comment ${sanitize(file)} ${message}; ${fix}`)
  }
  if (bytes.length > mostCommentBytes) refuse('is over 50 kB', 'shorten it, or link to the rest')
  // Windows editors write lines and a mark of their own.
  const text = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
  const mistake = badCharacters(text, true)
  if (mistake !== null) refuse('is not Markdown in UTF-8', 'save it as plain text in UTF-8')
  if (text.trim() === '') return null
  const { commentOf, isTooDeep, looksTooDeep } = await import('../presentation/comment.ts')
  const refuseDepth = () => refuse('nests more than 50 lists or quotes in each other', 'make it flatter')
  if (looksTooDeep(text)) refuseDepth()
  const comment = commentOf(text.trim())
  return isTooDeep(comment) ? refuseDepth() : comment
}

async function contentOf(file: string, what: string, fix: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new UsageError(`The ${what} ${sanitize(file)} cannot be read. ${fix}`, { cause: error })
  }
}

/** A logo stands in every copy of a report. */
const mostLogoBytes = 500_000

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Elements that run, load or embed something, whatever their prefix is. */
const activeElement =
  /<(?:[\w.-]+:)?(script|foreignObject|iframe|object|embed|audio|video|canvas|a|handler|listener|set|animate\w*)(?=[\s/>])/i
const handlerAttribute = /[\s"'/](on[a-z]+)\s*=/i
const addressAttribute =
  /[\s"'/](?:[\w.-]+:)?(?:href|src|srcset|data|action)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi
const cssAddress = /url\(\s*["']?([^"')]*)/gi
/** What an address may be: a part of the same file, or a picture in it. */
const allowedAddress = /^\s*(#|data:image\/(png|jpeg|gif|webp);base64,)/i

/**
 * A PNG or SVG file as a `data:` address.
 *
 * Pages show it as a picture, and browsers run and load nothing in pictures. An SVG that could run or load something elsewhere
 * is refused all the same, not mended: what is left of it would not be the logo.
 */
export function logoAddress(bytes: Uint8Array): ReadResult<string> {
  if (bytes.length > mostLogoBytes)
    return {
      message: `has ${Math.ceil(bytes.length / 1000)} kB`,
      fix: 'make it smaller: 500 kB at most go into every report',
    }
  if (pngSignature.every((byte, place) => bytes[place] === byte))
    return isWholePng(bytes)
      ? asAddress('image/png', bytes)
      : {
          message: 'is a PNG that no browser can show',
          fix: 'save it again, with at most 10,000 pixels a side',
        }
  const text = svgText(bytes)
  if (text === null) return { message: 'is neither PNG nor SVG', fix: 'save the logo as PNG or as SVG' }
  if (!/\sxmlns(:\w+)?\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(text))
    return {
      message: 'is an SVG that no browser can show, because it has no xmlns',
      fix: 'write <svg xmlns="http://www.w3.org/2000/svg" …>, or save it again',
    }
  const found = harmIn(text)
  if (found !== null)
    return { message: `has ${found}, which a logo does not need`, fix: 'save it as plain SVG or as PNG' }
  return asAddress('image/svg+xml', new TextEncoder().encode(text))
}

function asAddress(type: string, bytes: Uint8Array): ReadResult<string> {
  return { value: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` }
}

/** Pixels of a side that are drawn without trouble. */
const mostPixels = 10_000

/** Whether a PNG has a size that can be drawn, and its end. */
function isWholePng(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes)
  if (file.length < 24 || !file.includes('IEND')) return false
  const sides = [file.readUInt32BE(16), file.readUInt32BE(20)]
  return sides.every((side) => side > 0 && side <= mostPixels)
}

/** The text of an SVG file without the line that drawing programs put first; null for other files. */
function svgText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const drawing = text.replace(/<!DOCTYPE[^[>]*>/i, '')
    return /^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/i.test(drawing) ? drawing : null
  } catch {
    return null
  }
}

/** What an SVG has that could run or load something; null if there is nothing. */
function harmIn(text: string): string | null {
  const [, element] = activeElement.exec(text) ?? []
  if (element !== undefined) return `the element ${element}`
  const [, attribute] = handlerAttribute.exec(text) ?? []
  if (attribute !== undefined) return `the attribute ${attribute}`
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return 'definitions of entities'
  if (/<\?xml-stylesheet/i.test(text) || /@import/i.test(text)) return 'a style sheet of its own'
  // Names in a style may be written in escapes, which hide addresses.
  if (/\\[0-9a-f]/i.test(text)) return 'escapes in its styles'
  const addresses = [
    ...[...text.matchAll(addressAttribute)].map(
      ([, double, single, plain]) => double ?? single ?? plain ?? '',
    ),
    ...[...text.matchAll(cssAddress)].map(([, one]) => one ?? ''),
  ]
  const foreign = addresses.find((one) => !allowedAddress.test(one))
  return foreign === undefined ? null : `the address '${foreign.trim().slice(0, 60)}'`
}

/** Red, green and blue from 0 to 1. */
type Rgb = readonly number[]

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
export function accentOf(colour: string) {
  const given = hex(colour)
  const adapted = (theme: keyof typeof grounds, step: number): string => {
    for (let at = lightnessOf(given); at >= 0 && at <= 1; at += step) {
      const colour = hexOf(withLightness(given, at))
      if (isReadable(hex(colour), theme)) return colour
    }
    return theme === 'light' ? '#000000' : '#ffffff'
  }
  return { light: adapted('light', -0.01), dark: adapted('dark', 0.01) }
}

function isReadable(colour: Rgb, theme: keyof typeof grounds): boolean {
  return grounds[theme].every((ground) => {
    const mixed = ground.map((channel, place) => (colour[place] ?? 0) * tint + channel * (1 - tint))
    return contrast(colour, ground) >= leastContrast && contrast(colour, mixed) >= leastContrast
  })
}

/** Contrast of two colours by WCAG 2, from 1 to 21. */
function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) =>
    channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function hex(text: string): Rgb {
  const digits = text.slice(1)
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  return [0, 2, 4].map((at) => Number.parseInt(six.slice(at, at + 2), 16) / 255)
}

function hexOf(colour: Rgb): string {
  const digits = colour.map((channel) => Math.round(channel * 255).toString(16))
  return `#${digits.map((two) => two.padStart(2, '0')).join('')}`
}

/** As HSL has it, from 0 to 1. */
function lightnessOf(colour: Rgb): number {
  return (Math.max(...colour) + Math.min(...colour)) / 2
}

/** The colour of the same hue and saturation that has a lightness. */
function withLightness(colour: Rgb, lightness: number): Rgb {
  const own = lightnessOf(colour)
  // Channels lie apart as far as black and white leave room; those of black and white themselves do not.
  const scale = Math.min(lightness, 1 - lightness) / (Math.min(own, 1 - own) || 1)
  return colour.map((channel) => lightness + (channel - own) * scale)
}

/** The same, but without a logo that cannot be used; why is handed over. */
export async function presentationAnyway(
  given: PresentationSettings,
  audience: Audience,
  onMistake: (error: unknown) => void,
): Promise<Presentation> {
  return await presentationOf(given, { audience }).catch((error: unknown) => {
    onMistake(error)
    return presentationOf({ ...given, report: given.report && { ...given.report, logo: null } }, { audience })
  })
}
