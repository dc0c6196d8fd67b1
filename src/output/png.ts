import { crc32, deflateSync } from 'node:zlib'

type Point = readonly [x: number, y: number]

/** Something drawn on a picture: a line with round ends through its points, or the area below a line. */
export interface Mark {
  readonly points: readonly Point[]
  /** Such as #3d8fd1. */
  readonly colour: string
  /** How thick the line is, or down to where the area below it is filled, in pixels. */
  readonly draw: { readonly width: number } | { readonly floor: number }
  /** 1 is opaque. */
  readonly opacity: number
}

interface PictureSize {
  readonly width: number
  readonly height: number
}

/**
 * A PNG with smooth lines on a transparent ground, later marks above earlier ones. The same marks give the same bytes.
 */
export function pngOf({ width, height }: PictureSize, marks: readonly Mark[]): Buffer {
  const pixels = new Float32Array(width * height * 4)
  for (const { points, colour, draw, opacity } of marks) {
    const covered =
      'floor' in draw
        ? areaCover({ width, height: Math.min(height, draw.floor) }, points)
        : lineCover({ width, height }, points, draw.width / 2)
    blend(pixels, covered, { colour, opacity })
  }
  return encoded({ width, height }, pixels)
}

/** How much of each pixel a line covers, from 0 to 1: by the distance of its middle from the nearest stretch of the line. */
function lineCover({ width, height }: PictureSize, points: readonly Point[], radius: number): Float32Array {
  const cover = new Float32Array(width * height)
  for (const [place, from] of points.entries()) {
    const to = points[place + 1] ?? (points.length === 1 ? from : undefined)
    if (to === undefined) break
    const [left, right] = [Math.min(from[0], to[0]) - radius - 1, Math.max(from[0], to[0]) + radius + 1]
    const [top, bottom] = [Math.min(from[1], to[1]) - radius - 1, Math.max(from[1], to[1]) + radius + 1]
    for (let y = Math.max(0, Math.floor(top)); y <= Math.min(height - 1, Math.ceil(bottom)); y++)
      for (let x = Math.max(0, Math.floor(left)); x <= Math.min(width - 1, Math.ceil(right)); x++) {
        const own = Math.min(1, Math.max(0, radius + 0.5 - distance([x + 0.5, y + 0.5], from, to)))
        const at = y * width + x
        if (own > (cover[at] ?? 0)) cover[at] = own
      }
  }
  return cover
}

function distance([x, y]: Point, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const [alongX, alongY] = [toX - fromX, toY - fromY]
  const length = alongX * alongX + alongY * alongY
  const part = length === 0 ? 0 : ((x - fromX) * alongX + (y - fromY) * alongY) / length
  const nearest = Math.min(1, Math.max(0, part))
  return Math.hypot(x - fromX - nearest * alongX, y - fromY - nearest * alongY)
}

/** How much of each pixel lies below a line whose points go from left to right. */
function areaCover({ width, height }: PictureSize, points: readonly Point[]): Float32Array {
  const cover = new Float32Array(width * height)
  for (const [place, [fromX, fromY]] of points.entries()) {
    const [toX, toY] = points[place + 1] ?? [fromX, fromY]
    for (let x = Math.ceil(fromX); x < toX; x++) {
      const edge = fromY + ((x - fromX) / (toX - fromX)) * (toY - fromY)
      for (let y = Math.max(0, Math.floor(edge)); y < height; y++)
        cover[y * width + x] = Math.min(1, Math.max(0, y + 1 - edge))
    }
  }
  return cover
}

/** Lays a colour over pixels of red, green, blue and opacity, which are not multiplied with each other. */
function blend(
  pixels: Float32Array,
  cover: Float32Array,
  { colour, opacity }: Pick<Mark, 'colour' | 'opacity'>,
): void {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
  // Plain loops: there are hundreds of thousands of pixels, and an iterator takes longer than the sum.
  for (let place = 0; place < cover.length; place++) {
    const above = (cover[place] as number) * opacity
    if (above === 0) continue
    const below = (pixels[place * 4 + 3] as number) * (1 - above)
    for (let channel = 0; channel < 3; channel++) {
      const at = place * 4 + channel
      const mixed = (channels[channel] as number) * above + (pixels[at] as number) * below
      pixels[at] = mixed / (above + below)
    }
    pixels[place * 4 + 3] = above + below
  }
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Eight bits for each of red, green, blue and opacity; rows as they are, for most of them are empty. */
function encoded({ width, height }: PictureSize, pixels: Float32Array): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const row = width * 4 + 1
  const bytes = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width * 4; x++) {
      const value = pixels[y * width * 4 + x] as number
      bytes[y * row + 1 + x] = Math.round(x % 4 === 3 ? value * 255 : value)
    }
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(bytes, { level: 7 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
