import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Match } from '../../src/model/target.ts'
import { matcherOf } from '../../src/rank/match.ts'

const yes = true
const no = false

function table(match: Match, rows: readonly [site: string, link: string, matches: boolean][]): void {
  test.each(rows)('%s and %s: %s', (site, link, matches) => {
    expect(matcherOf({ site, match, also: [] })(link)).toBe(matches)
  })
}

describe('domain: the host and all below it', () => {
  table('domain', [
    ['example.com', 'https://example.com/', yes],
    ['example.com', 'https://example.com', yes],
    ['example.com', 'https://www.example.com/a/b?c=d#e', yes],
    ['example.com', 'https://shop.example.com/', yes],
    ['example.com', 'https://a.b.c.example.com/', yes],
    ['example.com', 'https://www.shop.example.com/', yes],
    ['www.example.com', 'https://example.com/', yes],
    ['www.example.com', 'https://shop.example.com/', yes],
    ['https://www.example.com/page?q=1', 'http://example.com/other', yes],
    ['example.com', 'http://example.com/', yes],
    ['example.com', 'https://EXAMPLE.COM/', yes],
    ['EXAMPLE.com', 'https://example.com/', yes],
    ['example.com', 'https://example.com./', yes],
    ['example.com.', 'https://example.com/', yes],
    ['example.com', 'https://example.com:8443/', yes],
    ['example.com', 'https://user:secret@example.com/', yes],
    ['example.com', 'https://notexample.com/', no],
    ['example.com', 'https://example.com.evil.net/', no],
    ['example.com', 'https://evil.net/example.com', no],
    ['example.com', 'https://evil.net/?u=https://example.com/', no],
    ['example.com', 'https://example.com@evil.net/', no],
    ['example.com', 'https://example.co/', no],
    ['example.com', 'https://example.community/', no],
    ['shop.example.com', 'https://example.com/', no],
    ['shop.example.com', 'https://www.shop.example.com/', yes],
    ['shop.example.com', 'https://workshop.example.com/', no],
    ['acme.github.io', 'https://acme.github.io/docs', yes],
    ['acme.github.io', 'https://rival.github.io/docs', no],
    ['acme.co.uk', 'https://rival.co.uk/', no],
    ['www.com', 'https://www.com/', yes],
    ['www.com', 'https://rival.com/', no],
    ['rival.com', 'https://www.com/', no],
    ['bücher.example', 'https://xn--bcher-kva.example/', yes],
    ['xn--bcher-kva.example', 'https://bücher.example/', yes],
    ['BÜCHER.example', 'https://www.bücher.example/', yes],
    ['例え.テスト', 'https://xn--r8jz45g.xn--zckzah/', yes],
    ['127.0.0.1', 'http://127.0.0.1/', yes],
    ['0.0.1', 'http://127.0.0.1/', no],
    ['localhost', 'http://localhost:3000/', yes],
  ])
})

describe('host: that host alone, with or without www', () => {
  table('host', [
    ['example.com', 'https://example.com/a', yes],
    ['example.com', 'https://www.example.com/a', yes],
    ['www.example.com', 'https://example.com/a', yes],
    ['example.com', 'https://shop.example.com/', no],
    ['shop.example.com', 'https://example.com/', no],
    ['example.com', 'https://notexample.com/', no],
    ['example.com', 'http://example.com:80/', yes],
    ['example.com', 'https://example.com:443/', yes],
    ['example.com', 'https://example.com:8443/', no],
    ['example.com:8443', 'https://example.com:8443/', yes],
    ['example.com:8443', 'https://example.com/', no],
    ['example.com/shop', 'https://example.com/other', yes],
  ])
})

describe('prefix: everything below a path, by whole segments', () => {
  table('prefix', [
    ['example.com/shop', 'https://example.com/shop', yes],
    ['example.com/shop', 'https://example.com/shop/', yes],
    ['example.com/shop', 'https://example.com/shop/desks?page=2#top', yes],
    ['example.com/shop', 'https://example.com/shop?page=2', yes],
    ['example.com/shop/', 'https://example.com/shop', yes],
    ['example.com/shop/', 'https://example.com/shop/desks', yes],
    ['example.com/shop', 'https://example.com/shopping', no],
    ['example.com/shop', 'https://example.com/shop-a', no],
    ['example.com/shop', 'https://example.com/a/shop', no],
    ['example.com/shop', 'https://example.com/Shop', no],
    ['example.com/shop', 'https://www.example.com/shop/x', yes],
    ['example.com/shop', 'https://m.example.com/shop/x', no],
    ['example.com/shop', 'http://example.com/shop/x', yes],
    ['example.com/shop', 'https://example.com:8443/shop', no],
    ['example.com/shop', 'https://example.com/shop/../other', no],
    ['example.com/shop', 'https://example.com/other/../shop/x', yes],
    ['example.com', 'https://example.com/anything', yes],
    ['example.com/', 'https://example.com/', yes],
    ['example.com/café', 'https://example.com/caf%C3%A9/menu', yes],
  ])
})

describe('url: one page', () => {
  table('url', [
    ['https://example.com/desks', 'https://example.com/desks', yes],
    ['https://example.com/desks', 'http://www.example.com/desks/', yes],
    ['https://example.com/desks/', 'https://example.com/desks', yes],
    ['https://example.com/desks', 'https://example.com/desks#reviews', yes],
    ['https://example.com/desks#a', 'https://example.com/desks#b', yes],
    ['https://example.com/desks', 'https://example.com/desks?ref=1', no],
    ['https://example.com/desks?a=1', 'https://example.com/desks?a=1', yes],
    ['https://example.com/desks?a=1&b=2', 'https://example.com/desks?b=2&a=1', yes],
    ['https://example.com/desks?a=1', 'https://example.com/desks', no],
    ['https://example.com/desks', 'https://example.com/desks/oak', no],
    ['https://example.com/desks', 'https://shop.example.com/desks', no],
    ['example.com', 'https://www.example.com', yes],
    ['example.com', 'https://example.com/index.html', no],
  ])
})

describe('what is no web page matches nothing', () => {
  const rules: readonly Match[] = ['domain', 'host', 'prefix', 'url']
  const links = [
    'ftp://example.com/',
    'mailto:me@example.com',
    'javascript:location="https://example.com/"',
    'data:text/html,example.com',
    '/relative/path',
    'example.com',
    'https://',
    'https:// example.com/',
    'http://[::1',
    '',
  ]
  test.each(rules)('as a link, for %s', (match) => {
    expect(links.filter(matcherOf({ site: 'example.com', match, also: [] }))).toEqual([])
  })

  const sites = ['', ' ', 'ftp://example.com', 'https://', 'exa mple.com', 'http://[::1']
  test.each(rules)('as a site, for %s', (match) => {
    const matching = sites.filter((site) => matcherOf({ site, match, also: [] })('https://example.com/'))
    expect(matching).toEqual([])
  })
})

describe('laws of matching', () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/).filter((label) => label !== 'www')
  const domain = fc.tuple(label, fc.constantFrom('com', 'example', 'co.uk')).map((parts) => parts.join('.'))
  const path = fc.array(label, { maxLength: 3 }).map((segments) => `/${segments.join('/')}`)

  test('each rule takes no more than the one before: url, prefix, host, domain', () => {
    fc.assert(
      fc.property(
        domain,
        path,
        domain,
        path,
        fc.constantFrom('', 'www.', 'm.'),
        (host, at, other, to, sub) => {
          const link = `https://${sub}${other}${to}`
          for (const site of [`${host}${at}`, `${other}${at}`, `${other}${to}`]) {
            const takes = (match: Match) => matcherOf({ site, match, also: [] })(link)
            expect(!takes('url') || takes('prefix')).toBe(true)
            expect(!takes('prefix') || takes('host')).toBe(true)
            expect(!takes('host') || takes('domain')).toBe(true)
          }
        },
      ),
    )
  })

  test('a page belongs to its own domain, and to none that only ends with the same letters', () => {
    fc.assert(
      fc.property(label, domain, path, (front, host, path) => {
        const domainOf = matcherOf({ site: host, match: 'domain', also: [] })
        expect(domainOf(`https://${host}${path}`)).toBe(true)
        expect(domainOf(`https://${front}.${host}${path}`)).toBe(true)
        expect(domainOf(`https://${front}${host}${path}`)).toBe(false)
        expect(domainOf(`https://${front}-${host}${path}`)).toBe(false)
      }),
    )
  })
})
