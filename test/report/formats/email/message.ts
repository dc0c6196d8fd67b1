import { crc32, inflateSync } from 'node:zlib'
import { expect } from 'vitest'
import { defaultCurve } from '../../../../src/report/ctr.ts'
import { emailFormat } from '../../../../src/report/formats/email/email.ts'
import { reportPeriod } from '../../../../src/report/history/period.ts'
import type { RankHistory } from '../../../../src/report/history/rank-history.ts'
import { plainPresentation } from '../../../../src/report/presentation/presentation.ts'
import type { ReportSource } from '../../../../src/report/report.ts'
import { samplePage } from '../../../page/sample-page.ts'

/** Forty days of some keywords. */
export const sample = samplePage({ keywords: 24, days: 40 }).history

interface Asked {
  readonly history?: RankHistory
  readonly presentation?: Partial<ReportSource['presentation']>
  readonly asked?: ReportSource['requestedPeriod']
}

/** What a report of a history is made of; the store has no result pages. */
export function sourceOf({ history = sample, presentation = {}, asked }: Asked = {}): ReportSource {
  const period = asked ?? { period: null, compare: null }
  const found = reportPeriod(history.days, period)
  return {
    job: history.job,
    ranked: {
      report: () => {
        throw new Error('the message has no rows')
      },
      history,
      queryIds: [],
      ...{ period: found, compare: found?.compare ?? null },
      runs: [],
    },
    store: { firstResults: () => [] },
    measure: { curve: defaultCurve },
    asked: period,
    presentation: { ...plainPresentation, ...presentation },
    look: { width: 80, color: false, ascii: false },
    csv: 'guarded',
    serpDays: 0,
  } as unknown as ReportSource
}

export async function messageOf(asked: Asked = {}): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of emailFormat.chunks(sourceOf(asked))) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString('latin1')
}

/** A part of a message: its headers by name in lower case, and its content, decoded or as more parts. */
export interface MimePart {
  readonly headers: ReadonlyMap<string, string>
  readonly type: string
  readonly text: string
  readonly bytes: Buffer
  readonly parts: readonly MimePart[]
}

/** Reads a message strictly: ASCII alone, lines of at most 76 characters, each header once. */
export function parsed(message: string): MimePart {
  const end = message.indexOf('\r\n\r\n')
  expect(end).toBeGreaterThan(0)
  const lines = message
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!-9;-~]+): ?(.*)$/.exec(line) ?? []
    expect(name, line).not.toBe('')
    expect(headers.has(name.toLowerCase()), line).toBe(false)
    headers.set(name.toLowerCase(), value)
  }
  const body = message.slice(end + 4)
  const type = headers.get('content-type') ?? ''
  const [, boundary] = /boundary="([^"]+)"/.exec(type) ?? []
  if (boundary !== undefined) {
    const [, ...rest] = body.split(`--${boundary}`)
    expect(rest.at(-1)?.trim()).toBe('--')
    const parts = rest.slice(0, -1).map((part) => parsed(part.replace(/^\r\n/, '')))
    return { headers, type, text: '', bytes: Buffer.alloc(0), parts }
  }
  const encoding = headers.get('content-transfer-encoding')
  const bytes = encoding === 'base64' ? Buffer.from(body, 'base64') : Buffer.from(unquoted(body), 'latin1')
  return { headers, type, text: bytes.toString('utf8').replaceAll('\r\n', '\n'), bytes, parts: [] }
}

function unquoted(text: string): string {
  return text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

/** A header of encoded words as text. */
export function decoded(header: string): string {
  return header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, encoding: string, text: string) =>
      (encoding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64')
        : Buffer.from(unquoted(text.replaceAll('_', ' ')), 'latin1')
      ).toString('latin1'),
    )
    .replace(/[\u0080-\u00ff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'))
}

export function leavesOf(part: MimePart): readonly MimePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leavesOf)
}

export function partsOf(message: string): { readonly text: string; readonly html: string } {
  const all = leavesOf(parsed(message))
  const of = (type: string) => all.find((part) => part.type.startsWith(type))?.text ?? ''
  return { text: of('text/plain'), html: of('text/html') }
}

/** What HTML says, without its elements. */
export function plainText(html: string): string {
  return html
    .replace(/<(style|title)>[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&nbsp;', ' ')
    .replace(/\s+/g, ' ')
}

/** A PNG of eight bits a channel whose rows are not filtered. */
export function pixelsOf(png: Buffer) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const data: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const body = png.subarray(at + 4, at + 8 + length)
    expect(crc32(body)).toBe(png.readUInt32BE(at + 8 + length))
    if (body.toString('latin1', 0, 4) === 'IDAT') data.push(body.subarray(4))
    at += 12 + length
  }
  const bytes = inflateSync(Buffer.concat(data))
  expect(bytes.length).toBe((width * 4 + 1) * height)
  const colourAt = (x: number, y: number) => [
    ...bytes.subarray(y * (width * 4 + 1) + 1 + x * 4, y * (width * 4 + 1) + 5 + x * 4),
  ]
  return { width, height, colourAt }
}
