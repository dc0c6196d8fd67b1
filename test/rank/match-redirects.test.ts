import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Match } from '../../src/model/job.ts'
import { explainMatch } from '../../src/rank/explain.ts'
import { matcherOf, redirectedHost } from '../../src/rank/match.ts'
import { testTable } from '../support/test-table.ts'
import { near, no, table, yes } from './matching.ts'

const address = 'https%3A%2F%2Facme.com%2Fdesks%3Fa%3D1'
const coded = Buffer.from('https://acme.com/desks?a=1').toString('base64url')
const opaque = 'sKq8Yp0R2Q1mZ7xV_wT4aBcD'

function wrapped(link: string, times: number): string {
  return times === 0 ? link : wrapped(`https://www.google.com/url?q=${encodeURIComponent(link)}`, times - 1)
}

table('redirects that carry their target', 'url', [
  ['acme.com/desks?a=1', `https://www.google.com/url?q=${address}&sa=U&ved=2ah&usg=AOv`, yes, 'same-page'],
  ['acme.com/desks?a=1', `/url?q=${address}&sa=U`, yes, 'same-page'],
  ['acme.com/desks?a=1', ` /url?q=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.google.com/url?sa=t&q=desks&url=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.google.com/url?url=&q=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://l.facebook.com/l.php?u=${address}&h=AT0`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://l.instagram.com/?u=${address}&e=AT0`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://duckduckgo.com/l/?uddg=${address}&rut=1`, yes, 'same-page'],
  ['acme.com/desks?a=1', `//duckduckgo.com/l/?uddg=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.bing.com/ck/a?!&&p=1&u=a1${coded}&ntb=1`, yes, 'same-page'],
  [
    'acme.com/desks?a=1',
    `https://r.search.yahoo.com/_ylt=Aw;_ylu=c/RV=2/RE=1/RO=10/RU=${address}/RK=2/RS=x-`,
    yes,
    'same-page',
  ],
  ['acme.com/desks?a=1', `https://www.youtube.com/redirect?event=d&q=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.so.com/link?url=${address}&q=desk`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.google.co.uk/url?q=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://news.google.com.au/url?q=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://out.reddit.com/t3_1a2b3c?url=${address}&token=x`, yes, 'same-page'],
  [
    'acme.com/desks?a=1',
    `https://www.googleadservices.com/pagead/aclk?sa=L&adurl=${address}`,
    yes,
    'same-page',
  ],
  ['acme.com/desks?a=1', `https://vk.com/away.php?to=${address}`, yes, 'same-page'],
  ['acme.com/desks?a=1', `https://www.google.com/aclk?sa=l&adurl=${address}`, yes, 'same-page'],
  [
    'acme.com/desks?a=1',
    'https://www.google.com/url?q=https%253A%252F%252Facme.com%252Fdesks%253Fa%253D1',
    yes,
    'same-page',
  ],
  ['acme.com/desks', `https://www.google.com/url?q=${address}`, near, 'other-query'],
])

table('redirects that carry their target', 'domain', [
  ['acme.com', wrapped('https://acme.com/', 1), yes, 'in-domain'],
  ['acme.com', wrapped('https://acme.com/', 3), yes, 'in-domain'],
  ['acme.com', wrapped('https://acme.com/', 4), near, 'opaque-redirect'],
  ['acme.com', wrapped('https://notacme.com/', 1), near, 'name-within'],
  ['google.com', wrapped('https://acme.com/', 1), no, 'other-site'],
  ['google.com', 'https://www.google.com/url?q=standing+desk', yes, 'in-domain'],
  [
    'rival.com',
    'https://www.google.com/url?q=https%3A%2F%2Frival.com&url=https%3A%2F%2Facme.com',
    no,
    'other-site',
  ],
  ['acme.com', '/url?q=acme.com', no, 'no-page'],
  ['acme.com', 'https://www.google.com/url?q=https://acme.com&url=/travel/x', no, 'other-site'],
  ['acme.com', '/url?q=javascript%3Ahttps%3A%2F%2Facme.com', no, 'no-page'],
  ['acme.com', '/search?q=https%3A%2F%2Facme.com', no, 'no-page'],
  ['acme.com', `https://www.bing.com/ck/a?u=${coded}`, near, 'opaque-redirect'],
  ['acme.com', `https://www.bing.com/ck/a?u=b1${coded}`, near, 'opaque-redirect'],
  ['acme.com', 'https://www.bing.com/ck/a?u=a1%%%', near, 'opaque-redirect'],
  ['acme.com', 'https://r.search.yahoo.com/RU=%E0%A4%A/RK=2', no, 'other-site'],
  ['acme.com', `https://r.search.yahoo.com/RU=${address}`, near, 'only-mentioned'],
])

table('pages that only mention an address', 'domain', [
  ['acme.com', `https://translate.google.com/translate?hl=de&u=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://www.facebook.com/sharer/sharer.php?u=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://www.linkedin.com/sharing/share-offsite/?url=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/login?next=${address}`, near, 'only-mentioned'],
  ['acme.com', 'https://web.archive.org/web/2020/https://acme.com/', near, 'only-mentioned'],
  ['acme.com', `https://validator.w3.org/nu/?doc=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/?u=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/redirect?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://youtube.com.rival.net/redirect?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://notyoutube.com/redirect?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/ab${address}/RK=2`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/a/url?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://rival.net/URL?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://spam.example/out?url=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://google.spam.example/url?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://google.com.spam.example/url?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://notgoogle.com/url?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://google.github.io/url?q=${address}`, near, 'only-mentioned'],
  ['acme.com', `https://reddit.com/t3_1a2b3c?url=${address}`, near, 'only-mentioned'],
  ['acme.com', `/out?url=${address}`, no, 'no-page'],
  ['acme.com', `/?u=${address}`, no, 'no-page'],
  ['spam.example', `https://spam.example/out?url=${address}`, yes, 'in-domain'],
  ['acme.com', 'https://rival.net/?u=https://notacme.com', no, 'other-site'],
  ['rival.net', `https://rival.net/login?next=${address}`, yes, 'in-domain'],
])

test('a page of any other host is the page that it says it is, whatever its address is made of', () => {
  const paths = fc.constantFrom(
    ...['/url', '/link', '/l/', '/ck/a', '/aclk', '/pagead/aclk', '/out', '/away.php', '/l.php', '/redirect'],
    ...['/linkfilter/', '/', `/RV=2/RU=${address}/RK=2/RS=x`],
  )
  const names = fc.constantFrom('url', 'q', 'uddg', 'u', 'adurl', 'to', 'target')
  const values = fc.constantFrom(address, `a1${coded}`, encodeURIComponent(address))
  const hosts = fc.constantFrom('spam.example', 'google.spam.example', 'bing.com.evil.net', 'myfacebook.com')
  fc.assert(
    fc.property(hosts, paths, fc.array(fc.tuple(names, values), { maxLength: 3 }), (host, path, params) => {
      const query = params.map(([name, value]) => `${name}=${value}`).join('&')
      const link = `https://${host}${path}?${query}`
      expect(matcherOf({ site: 'acme.com', match: 'domain', also: [] })(link)).toBe(false)
      expect(matcherOf({ site: host, match: 'domain', also: [] })(link)).toBe(true)
      expect(redirectedHost(link)).toBe(null)
    }),
  )
})

table('redirects that hide their target', 'domain', [
  ['acme.com', 'https://bit.ly/3xYz', near, 'opaque-redirect'],
  ['acme.com', 'https://bit.ly/', no, 'other-site'],
  ['bit.ly', 'https://bit.ly/3xYz', yes, 'in-domain'],
  ['acme.com', 'https://t.co/AbC', near, 'opaque-redirect'],
  ['acme.com', `http://www.baidu.com/link?url=${opaque}`, near, 'opaque-redirect'],
  ['acme.com', `/link?url=${opaque}`, near, 'opaque-redirect'],
  ['acme.com', 'https://rival.net/link?url=docs', no, 'other-site'],
  ['acme.com', `https://rival.net/page?url=${opaque}`, no, 'other-site'],
  ['acme.com', `https://rival.net/link?url=${opaque}`, no, 'other-site'],
  ['acme.com', `https://rival.net/ck/a?u=${opaque}`, no, 'other-site'],
  ['acme.com', 'https://rival.net/rss/articles/CBMiK2h0dHBzOi8v', no, 'other-site'],
  ['acme.com', 'https://yandex.ru/clck/jsredir?from=x', near, 'opaque-redirect'],
  ['acme.com', 'https://news.google.com/rss/articles/CBMiK2h0dHBzOi8v?oc=5', near, 'opaque-redirect'],
  ['acme.com', 'https://news.google.com/articles/CBMiK2h0dHBzOi8v', near, 'opaque-redirect'],
  ['acme.com', 'https://rival.net/articles/CBM', no, 'other-site'],
  ['acme.com', wrapped('https://bit.ly/3xYz', 1), near, 'opaque-redirect'],
  ['acme.com', 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZ', near, 'opaque-redirect'],
])

describe('what is said to people', () => {
  testTable([
    ['https://shop.acme.com/', 'is on shop.acme.com, which belongs to acme.com'],
    ['https://acme.com/', 'is on acme.com'],
    ['https://notacme.com/', 'is on notacme.com, which only contains the name of acme.com'],
    [wrapped('https://acme.com/', 1), 'leads on to a page that is on acme.com'],
    ['/link?url=abcdefghijklmnopqrstuvwxyz', 'is a redirect of the engine that does not say where it leads'],
  ])('%s %s', (link, text) => {
    expect(explainMatch({ site: 'www.acme.com', match: 'domain', also: [] }, link).text).toBe(text)
  })

  testTable<[Match, string, string]>([
    ['host', 'acme.com:81/a?b', 'is on acme.com, but on another port than acme.com:81'],
    ['prefix', 'acme.com/shop?b', 'is on acme.com, but has another path than acme.com/shop'],
    ['url', 'acme.com/?b', 'is acme.com/?b with another query string'],
  ])('%s %s %s', (match, site, text) => {
    expect(explainMatch({ site, match, also: [] }, 'https://acme.com/').text).toBe(text)
  })
})
