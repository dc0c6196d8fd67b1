import fc from 'fast-check'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { sanitize } from '../../../../src/output/terminal.ts'
import { mdLink, mdTable, mdText } from '../../../../src/report/formats/markdown/document.ts'
import { anyText } from '../../../support/any-text.ts'
import { testTable } from '../../../support/test-table.ts'

const html = (markdown: string): string =>
  micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** What a reader sees of text without elements. */
const seen = (text: string): string =>
  text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? '').replaceAll('\u2060', '')

/** What a reader sees of what was sent: one line, and no blanks but single ones. */
const plain = (text: string): string =>
  sanitize(text).replace(/\s+/g, ' ').trim().replaceAll('\u2060', '').replaceAll('\u0000', '\ufffd')

const tricky = fc.string({
  unit: fc.constantFrom(
    ...'\\`*_{}[]()<>#+-.!|&~$@:/=^"\' \t\n1a',
    'www.',
    'http://',
    'mailto:',
    'b.example',
    '&lt;',
    '](',
    '<!--',
    '[^1]',
    '```',
  ),
  maxLength: 12,
})
const texts = fc.oneof(tricky, anyText({ maxLength: 20 }))

describe('text from outside', () => {
  testTable([
    ['standing desk', 'standing desk'],
    ['a|b', 'a\\|b'],
    ['`code` *bold* _it_ ~~no~~', '\\`code\\` \\*bold\\* \\_it\\_ \\~\\~no\\~\\~'],
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['![x](http://evil.example/p.png)', '\\!\\[x\\](http\\://evil.example/p.png)'],
    ['www.evil.example', 'www\\.evil.example'],
    ['_www.evil.example', '\\_www\\.evil.example'],
    ['# heading', '\\#\u2060 heading'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['@octocat', '@\u2060octocat'],
    ['fixes #12', 'fixes \\#\u206012'],
    ['\u001b[31mred\u202e\nline', 'red line'],
    ['what: a desk', 'what: a desk'],
  ])('%j is written %j', (text, written) => {
    expect(mdText(text)).toBe(written)
  })

  const places: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    ['a paragraph', (text) => text, /^<p>(.*)<\/p>$/],
    ['a heading', (text) => `# ${text}`, /^<h1>(.*)<\/h1>$/],
    ['a list', (text) => `- ${text}`, /^<ul>\n<li>(.*)<\/li>\n<\/ul>$/],
    ['bold text', (text) => `x **a${text}b**`, /^<p>x <strong>a(.*)b<\/strong><\/p>$/],
  ]
  test.each(places)('stays text in %s', (_, place, shown) => {
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(plain(text) !== '')
        const [, inner] = html(place(mdText(text))).match(shown) ?? []
        expect(inner).toBeDefined()
        expect(inner).not.toContain('<')
        expect(seen(inner ?? '')).toBe(plain(text))
      }),
    )
  })

  test('stays in its cell', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const table = mdTable(
          [null],
          [
            { title: 'a', cell: () => mdText(a) },
            { title: 'b', cell: () => mdText(b) },
          ],
        )
        const cells = [...html(table).matchAll(/<td>(.*)<\/td>/g)].map(([, cell]) => cell ?? '')
        expect(cells.join('')).not.toContain('<')
        expect(cells.map(seen)).toEqual([plain(a), plain(b)])
      }),
    )
  })

  test('calls nobody and refers to nothing', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(mdText(text)).not.toMatch(/@\w|#\d/)
      }),
    )
  })
})

describe('a link', () => {
  testTable([
    ['https://acme.com/a', '[x](https://acme.com/a)'],
    ['https://acme.com/a b', '[x](https://acme.com/a%20b)'],
    ['https://acme.com/a?b=1&copy;=2', '[x](https://acme.com/a?b=1&amp;copy;=2)'],
    [
      'https://acme.com/a)](javascript:alert(1))',
      '[x](https://acme.com/a%29%5D%28javascript:alert%281%29%29)',
    ],
    ['https://acme.com/#|<b>`', '[x](https://acme.com/#%7C%3Cb%3E%60)'],
    ['http://bücher.example/ü', '[x](http://xn--bcher-kva.example/%C3%BC)'],
  ])('to %s is %s', (link, written) => {
    expect(mdLink('x', link)).toBe(written)
  })

  testTable([
    'javascript:alert(1)',
    'data:text/html,x',
    '/url?q=x',
    '//acme.com/',
    'mailto:a@b.c',
    'ftp://a/',
    '',
  ])('to %j is none', (link) => {
    expect(mdLink('x', link)).toBe('x')
  })

  test('leads where it leads, whatever is behind the host', () => {
    fc.assert(
      fc.property(texts, texts, (text, path) => {
        const link = `https://acme.com/${path}`
        const [, href, inner] =
          html(`x ${mdLink(text, link)}`).match(/^<p>x <a href="([^"]*)">(.*)<\/a><\/p>$/) ?? []
        expect(href).toBeDefined()
        expect(inner).not.toContain('<')
        expect(seen(inner ?? '')).toBe(plain(text))
        const decode = (url: string) =>
          url.replace(/%([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        expect(decode(seen(href ?? ''))).toBe(decode(new URL(link).href))
      }),
    )
  })
})
