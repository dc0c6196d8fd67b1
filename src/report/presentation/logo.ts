import type { ReadResult } from '../../model/values.ts'

/** A logo stands in every copy of a report. */
const mostBytes = 500_000

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Elements that run, load or embed something, whatever their prefix is. */
const active =
  /<(?:[\w.-]+:)?(script|foreignObject|iframe|object|embed|audio|video|canvas|a|handler|listener|set|animate\w*)(?=[\s/>])/i
const handler = /[\s"'/](on[a-z]+)\s*=/i
const address =
  /[\s"'/](?:[\w.-]+:)?(?:href|src|srcset|data|action)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi
const cssAddress = /url\(\s*["']?([^"')]*)/gi
/** What an address may be: a part of the same file, or a picture in it. */
const inside = /^\s*(#|data:image\/(png|jpeg|gif|webp);base64,)/i

/**
 * A PNG or SVG file as a `data:` address.
 *
 * Pages show it as a picture, and browsers run and load nothing in pictures. An SVG that could run or load something elsewhere
 * is refused all the same, not mended: what is left of it would not be the logo.
 */
export function logoAddress(bytes: Uint8Array): ReadResult<string> {
  if (bytes.length > mostBytes)
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
  const [, element] = active.exec(text) ?? []
  if (element !== undefined) return `the element ${element}`
  const [, attribute] = handler.exec(text) ?? []
  if (attribute !== undefined) return `the attribute ${attribute}`
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return 'definitions of entities'
  if (/<\?xml-stylesheet/i.test(text) || /@import/i.test(text)) return 'a style sheet of its own'
  // Names in a style may be written in escapes, which hide addresses.
  if (/\\[0-9a-f]/i.test(text)) return 'escapes in its styles'
  const addresses = [
    ...[...text.matchAll(address)].map(([, double, single, plain]) => double ?? single ?? plain ?? ''),
    ...[...text.matchAll(cssAddress)].map(([, one]) => one ?? ''),
  ]
  const foreign = addresses.find((one) => !inside.test(one))
  return foreign === undefined ? null : `the address '${foreign.trim().slice(0, 60)}'`
}
