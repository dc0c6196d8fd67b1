import { describe, expect, test } from 'vitest'
import { reportPageData } from '../../../../src/report/build-data.ts'
import type { RankHistory } from '../../../../src/report/history/rank-history.ts'
import { commentOf } from '../../../../src/report/presentation/comment.ts'
import { story } from '../../../../src/report/story/story.ts'
import { english } from '../../../../src/report/words/en/index.ts'
import { testTable } from '../../../support/test-table.ts'
import {
  decoded,
  leavesOf,
  messageOf,
  parsed,
  partsOf,
  pixelsOf,
  plainText,
  sample,
  sourceOf,
} from './message.ts'

const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')

/** The sample with this text as every query, tag and link, and in the labels of targets. */
function named(text: string): RankHistory {
  return {
    ...sample,
    keywords: sample.keywords.map((keyword) => ({ ...keyword, query: text, tags: [text] })),
    links: sample.links.map(() => text),
    targets: sample.targets.map((target) => ({ ...target, label: `${text} ${target.site}` })),
  }
}

describe('a message', () => {
  test('has the text first, then the HTML, in lines that every server takes', async () => {
    const message = await messageOf()
    expect(message).toMatch(/^[\r\n -~]*$/)
    expect(message.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(Math.max(...message.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78)
    const root = parsed(message)
    expect(root.type).toMatch(/^multipart\/alternative;/)
    expect(leavesOf(root).map(({ type }) => type.replace(/;.*/, ''))).toEqual([
      'text/plain',
      'text/html',
      'image/png',
    ])
    expect(Buffer.byteLength(message)).toBeLessThan(100_000)
  })

  test('tells the story of the report: the same sentences, figures, moves and steps, in both parts', async () => {
    const told = story(reportPageData(sourceOf()), { say: english })
    const { text, html } = partsOf(await messageOf())
    for (const part of [text.replace(/\s+/g, ' '), plainText(html)]) {
      for (const one of told.sentences) expect(part).toContain(one.text)
      for (const { label, value, change } of told.cards)
        for (const one of [label, value, change?.text ?? '']) expect(part).toContain(one)
      for (const { name, from, to } of told.moves.slice(0, 10)) {
        expect(part).toContain(name)
        expect(part).toContain(`${from} → ${to}`)
      }
      for (const { what, reason } of told.steps) expect(part).toContain(`${what}: ${reason}`)
    }
    expect(told.cards).toHaveLength(4)
    // What is no more than the usual swing is grey, and nothing that is worse is green.
    for (const { change } of told.cards) {
      const tone = change?.way === 'same' ? 'muted' : change?.way
      expect(html).toMatch(new RegExp(`class="${tone}"[^>]*>${change?.text.replaceAll('.', '\\.')}<`))
    }
  })

  test('has a picture of the figure that leads, twice as dense as it is shown, whose line ends where the figure is', async () => {
    const [card] = story(reportPageData(sourceOf()), { say: english }).cards
    const message = await messageOf({ presentation: { accent: { light: '#0a5a50', dark: '#00ffff' } } })
    const { html } = partsOf(message)
    expect(html).toMatch(/<img src="cid:chart" alt="[^"]+ on \d+ Oct 2026, [^"]+ on 20 Nov 2026" width="536"/)
    const picture = leavesOf(parsed(message)).find(({ type }) => type.startsWith('image/png'))
    const { width, height, colourAt } = pixelsOf(picture?.bytes ?? Buffer.alloc(0))
    expect([width, height]).toEqual([1072, 336])
    const top = Number(/>([\d,]+)<\/div>\s*<img src="cid:chart"/.exec(html)?.[1]?.replaceAll(',', ''))
    const [first, last] = [card?.trend[0] ?? 0, card?.trend.at(-1) ?? 0]
    const yOf = (value: number) => Math.round(336 - 12 - (value / top) * (336 - 24))
    expect(colourAt(13, yOf(first))).toEqual([0x0a, 0x5a, 0x50, 255])
    expect(colourAt(1059, yOf(last))).toEqual([0x0a, 0x5a, 0x50, 255])
    // Smooth: at the edge of the line it is partly covered.
    const column = Array.from({ length: height }, (_, y) => colourAt(1050, y)[3] ?? 0)
    expect(column.filter((alpha) => alpha > 100 && alpha < 250).length).toBeGreaterThan(0)
    expect(colourAt(5, 5)[3]).toBe(0)
    // The line goes the way that the change says.
    expect(card?.change?.text.startsWith(last < first ? '▼' : '▲')).toBe(true)
  })

  test('names what its figures are of where the job asks for several kinds of results or engines', async () => {
    const textOf = async (history: RankHistory): Promise<string> =>
      partsOf(await messageOf({ history })).text.replace(/\s+/g, ' ')
    const sentence = /Also asked, not in these figures: .*Figures of web results, alpha\. /
    expect(await textOf(sample)).toMatch(sentence)
    const keywords = sample.keywords.map(
      (one) => ({ ...one, operation: 'alpha.search', kind: 'organic' }) as const,
    )
    expect(await textOf({ ...sample, keywords })).not.toMatch(/Also asked|Figures of web/)
  })

  test('is a draft without addresses, dated on the last day of the report', async () => {
    const { headers } = parsed(await messageOf())
    expect([...headers.keys()].sort()).toEqual([
      ...['content-type', 'date', 'message-id', 'mime-version', 'subject', 'x-unsent'],
    ])
    expect(headers.get('date')).toBe('Fri, 20 Nov 2026 12:00:00 +0000')
    expect(headers.get('x-unsent')).toBe('1')
  })

  test('is the same, byte for byte, as often as it is written; another content has another Message-ID', async () => {
    const [first, second] = [await messageOf(), await messageOf()]
    const other = await messageOf({ presentation: { footer: 'North' } })
    expect(second).toBe(first)
    const id = (message: string) => parsed(message).headers.get('message-id')
    expect(id(first)).toMatch(/^<[0-9a-f]{40}@rankline\.invalid>$/)
    expect(id(other)).not.toBe(id(first))
  })

  test('carries a PNG logo beside its HTML; an SVG, which mail programs do not show, is left out', async () => {
    const withPng = parsed(
      await messageOf({ presentation: { agency: 'North', logo: `data:image/png;base64,${png}` } }),
    )
    const related = withPng.parts[1]
    expect(related?.type).toMatch(/^multipart\/related;/)
    expect(related?.parts.map(({ type }) => type)).toEqual([
      'text/html; charset=utf-8',
      expect.stringMatching(/^image\/png\b/),
      expect.stringMatching(/^image\/png\b/),
    ])
    expect(related?.parts[1]?.headers.get('content-id')).toBe('<logo>')
    expect(related?.parts[0]?.text).toContain('<img src="cid:logo" alt="North"')
    const svg = await messageOf({
      presentation: { agency: 'North', logo: 'data:image/svg+xml;base64,PHN2Zy8+' },
    })
    expect(partsOf(svg).html).not.toContain('cid:logo')
    expect(partsOf(svg).html).toContain('North')
  })

  test('loads nothing, and is small enough not to be cut off', async () => {
    const { html } = partsOf(
      await messageOf({ history: named('a very long keyword about standing desks '.repeat(3)) }),
    )
    expect(html).not.toMatch(/<(script|link|iframe|form|object|video)\b|\bsrc="(?!cid:)|url\(|@import/i)
    // Gmail shows the first 102 kB.
    expect(html.length).toBeLessThan(90_000)
  })

  test('in German speaks German in both parts', async () => {
    const presentation = { language: 'de' as const, client: 'Müller GmbH' }
    const message = await messageOf({ presentation })
    const { text, html } = partsOf(message)
    expect(html).toContain('<html lang="de">')
    for (const part of [text, html]) {
      expect(part).toContain('Ranking-Bericht für Müller GmbH')
      expect(part).toMatch(/Sichtbarkeit/)
      expect(part).toMatch(/\d,\d\s%/)
      expect(part).not.toMatch(/\b(winners|losers|clicks|visibility|average|moved|next)\b/i)
    }
    expect(decoded(parsed(message).headers.get('subject') ?? '')).toMatch(/^Müller GmbH/)
  })

  test('has the words of the analyst, with their links', async () => {
    const comment = commentOf('# A good month\n\nSee [the plan](https://north.example/plan).\n\n- one\n- two')
    const { text, html } = partsOf(await messageOf({ presentation: { comment } }))
    expect(html).toContain('href="https://north.example/plan"')
    expect(text).toContain('# A good month\n\nSee [the plan](https://north.example/plan).\n\n- one\n- two')
  })

  test('has the headline first: its first sentence is the subject, without its full stop', async () => {
    const message = await messageOf({ presentation: { client: 'Acme' } })
    const { text } = partsOf(message)
    const [, first] = /^In short\n-+\n\n- (.+(?:\n {2}.+)*)/m.exec(text) ?? []
    expect(decoded(parsed(message).headers.get('subject') ?? '')).toBe(
      `Acme: ${first?.replaceAll(/\n\s+/g, ' ').replace(/\.$/, '')}`,
    )
  })

  test('of a job that has no ranks says so', async () => {
    const nothing = { ...sample, days: [], keywords: [], targets: [], series: [], links: [], removed: [] }
    const { text, html } = partsOf(await messageOf({ history: nothing }))
    for (const part of [text, html]) {
      expect(part).toContain('The job has not run yet')
      expect(part).not.toMatch(/Figures|What moved|What to do next|null|undefined/)
    }
  })
})

describe('the text', () => {
  test('has short lines, and all that the HTML has', async () => {
    const footer =
      'North, https://north.example/a/very/long/address/that/must/not/be/broken/because/it/is/a/link?of=this&report=1 thanks'
    const { text } = partsOf(await messageOf({ presentation: { footer, agency: 'North' } }))
    const long = text.split('\n').filter((line) => line.length > 78)
    expect(long).toEqual([expect.stringMatching(/^https:\S+$/)])
    const headings = [...text.matchAll(/^(.+)\n-+$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(
      expect.arrayContaining(['In short', 'Figures of northdesk.example', 'What moved', 'What to do next']),
    )
    expect(text).toMatch(/^1\. .+: /m)
    expect(text).toMatch(/^- Visibility: \d+\.\d% \([▲▼] \d+\.\d points\)$/m)
    expect(text).toMatch(/^[▲▼] “.+”/m)
  })
})

describe('what others wrote', () => {
  const tricks = [
    ['a line break', 'Acme\r\nBcc: all@evil.example\r\n\r\n<b>x</b>'],
    ['a bare line feed', 'Acme\nBcc: all@evil.example'],
    ['separators of Unicode', 'Acme\u2028Bcc: all@evil.example\u0085X: y'],
    ['an element', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
    ['an attribute', '" onmouseover="alert(1)" x=\''],
    ['a direction mark', 'Acme \u202Egnp.exe\u2066'],
    ['a boundary', '\r\n----_rankline-0-Part_1\r\nContent-Type: text/html\r\n\r\n<script>'],
    ['an address of a script', 'javascript:alert(1) https://a.example/"onclick="alert(1)'],
    ['half a character', 'Acme \ud83d'],
    ['an encoded word', '=?utf-8?q?=0d=0aBcc:_all@evil.example?='],
  ] as const
  testTable(tricks)('%s stays text', async (_, trick) => {
    const presentation = {
      client: trick,
      title: trick,
      agency: trick,
      footer: trick,
      comment: commentOf(trick),
    }
    const message = await messageOf({ history: named(trick), presentation })
    const root = parsed(message)
    expect([...root.headers.keys()]).not.toContain('bcc')
    expect(root.parts).toHaveLength(2)
    const { html, text } = partsOf(message)
    expect(html).not.toMatch(/<(script|img(?! src="cid:chart")|b)\b/i)
    expect(html.replace(/="[^"]*"/g, '')).not.toMatch(/<[^>]*\s(on\w+)=/i)
    expect(html).not.toMatch(/href="(?!https?:\/\/|mailto:)/)
    expect(html + text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028]/)
  })
})
