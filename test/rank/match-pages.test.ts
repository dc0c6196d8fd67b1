import { describe } from 'vitest'
import { near, no, table, yes } from './matching.ts'

describe('prefix: everything below a path, by whole segments', () => {
  table(
    'prefix',
    [],
    [
      ['example.com/shop', 'https://example.com/shop', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/shop/', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/shop/desks?page=2#top', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/shop?page=2', yes, 'below-path'],
      ['example.com/shop/', 'https://www.example.com/shop', yes, 'below-path'],
      ['example.com/shop', 'https://example.com//shop//desks', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/%73hop/x', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/other/../shop/x', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/other/%2e%2E/shop/x', yes, 'below-path'],
      ['example.com/café', 'https://example.com/caf%c3%a9/menu', yes, 'below-path'],
      ['example.com/~acme', 'https://example.com/%7eacme/x', yes, 'below-path'],
      ['example.com/@acme', 'https://example.com/%40acme/x', yes, 'below-path'],
      ['example.com', 'https://example.com/anything', yes, 'below-path'],
      ['example.com:8443/shop', 'https://example.com:8443/shop/x', yes, 'below-path'],
      ['example.com/shop?a=1', 'https://example.com/shop/x?a=2', yes, 'below-path'],
      ['example.com/shop', 'https://example.com/shopping', near, 'within-segment'],
      ['example.com/shop', 'https://example.com/shop-a/x', near, 'within-segment'],
      ['example.com/shop', 'https://example.com/shop%2Fx', near, 'within-segment'],
      ['example.com/shop', 'https://example.com/shop;a=1', near, 'within-segment'],
      ['example.com/shop', 'https://example.com/a/shop', near, 'other-path'],
      ['example.com/shop', 'https://example.com/Shop', near, 'other-path'],
      ['example.com/shop', 'https://example.com/', near, 'other-path'],
      ['example.com/shop', 'https://example.com/shop/../other', near, 'other-path'],
      ['example.com/shop', 'https://example.com:8443/shop', near, 'other-port'],
      ['example.com/shop', 'https://blog.example.com/shop', near, 'same-site'],
      ['example.com/shop', 'https://rival.net/shop', no, 'other-site'],
    ],
  )
})

describe('url: one page', () => {
  table(
    'url',
    [],
    [
      ['https://example.com/desks', 'http://www.example.com/desks/', yes, 'same-page'],
      ['https://example.com/desks/', 'https://EXAMPLE.com/desks#reviews', yes, 'same-page'],
      ['https://example.com/desks#a', 'https://example.com/desks#:~:text=a,b', yes, 'same-page'],
      ['https://example.com/desks', 'https://example.com:80/desks?', yes, 'same-page'],
      ['example.com', 'https://www.example.com', yes, 'same-page'],
      ['example.com', 'https://example.com//', yes, 'same-page'],
      ['example.com/a/b', 'https://example.com//a///b//', yes, 'same-page'],
      ['example.com/a/b', 'https://example.com/a/./x/../b', yes, 'same-page'],
      ['example.com/~a', 'https://example.com/%7Ea', yes, 'same-page'],
      ['example.com/%7ea', 'https://example.com/~a', yes, 'same-page'],
      ['example.com/café', 'https://example.com/caf%c3%A9', yes, 'same-page'],
      ['example.com/Desk_(oak)', 'https://example.com/Desk_%28oak%29', yes, 'same-page'],
      ['example.com/a|b', 'https://example.com/a%7cb', yes, 'same-page'],
      ['example.com/a b', 'https://example.com/a%20b', yes, 'same-page'],
      ['example.com/@acme', 'https://example.com/%40acme', yes, 'same-page'],
      ['example.com/%40acme', 'https://example.com/@acme', yes, 'same-page'],
      ['example.com/a:b,$c&d=e', 'https://example.com/a%3Ab%2C%24c%26d%3de', yes, 'same-page'],
      ['example.com/a+b', 'https://example.com/a%2Bb', near, 'other-path'],
      ['example.com/a;b', 'https://example.com/a%3Bb', near, 'other-path'],
      ['example.com/a', 'https://example.com/a%3F', near, 'other-path'],
      ['example.com/a', 'https://example.com/a%23', near, 'other-path'],
      ['example.com/100%25', 'https://example.com/100%2525', near, 'other-path'],
      ['example.com/a%2fb', 'https://example.com/a%2Fb', yes, 'same-page'],
      ['example.com/a/b', 'https://example.com/a%2Fb', near, 'other-path'],
      ['example.com/a%252Fb', 'https://example.com/a%2Fb', near, 'other-path'],
      ['example.com/100%', 'https://example.com/100%', yes, 'same-page'],
      ['example.com/desks', 'https://example.com/Desks', near, 'other-path'],
      ['example.com/desks', 'https://example.com/desks/oak', near, 'other-path'],
      ['example.com/desks', 'https://example.com/deskside', near, 'other-path'],
      ['example.com', 'https://example.com/index.html', near, 'other-path'],
      ['example.com/desks', 'https://example.com:8443/desks', near, 'other-port'],
      ['example.com/desks', 'https://shop.example.com/desks', near, 'same-site'],
      ['example.com/desks', 'https://example.net/desks', near, 'other-suffix'],
      ['https://user:secret@example.com/a', 'https://example.com/a', yes, 'same-page'],
      ['example.com/a', 'https://user:secret@example.com/a', yes, 'same-page'],
    ],
  )
})

describe('url: query strings', () => {
  table(
    'url',
    [],
    [
      ['example.com/d?a=1', 'https://example.com/d?a=1', yes, 'same-page'],
      ['example.com/d?a=1&b=2', 'https://example.com/d?b=2&a=1', yes, 'same-page'],
      ['example.com/d?a=1&a=2', 'https://example.com/d?a=2&a=1', near, 'other-query'],
      ['example.com/d?a=x%20y', 'https://example.com/d?a=x+y', yes, 'same-page'],
      ['example.com/d?a', 'https://example.com/d?a=', yes, 'same-page'],
      ['example.com/d?a=%c3%a9', 'https://example.com/d?a=é', yes, 'same-page'],
      ["example.com/d?a='x'", 'https://example.com/d?a=%27x%27', yes, 'same-page'],
      ['example.com/d?u=@a:b/c?d', 'https://example.com/d?u=%40a%3Ab%2fc%3Fd', yes, 'same-page'],
      ['example.com/d?a=x%3Db', 'https://example.com/d?a=x=b', near, 'other-query'],
      ['example.com/d?a=x%26b', 'https://example.com/d?a=x&b', near, 'other-query'],
      ['example.com/d?a=1', 'https://example.com/d?&&a=1&', yes, 'same-page'],
      ['example.com/d?a=1', 'https://example.com/d', near, 'other-query'],
      ['example.com/d', 'https://example.com/d?ref=1', near, 'other-query'],
      ['example.com/d', 'https://example.com/d?id=7', near, 'other-query'],
      ['example.com/d', 'https://example.com/d?page=2', near, 'other-query'],
      ['example.com/d?a=X', 'https://example.com/d?a=x', near, 'other-query'],
      ['example.com/d?a=1', 'https://example.com/e?a=1', near, 'other-path'],
      ['example.com/d', 'https://example.com/d?utmost=1', near, 'other-query'],
      ['example.com/d', 'https://example.com/d?version=1&ved=2', near, 'other-query'],
      ['example.com/d?gclid=1', 'https://example.com/d', yes, 'same-page'],
      ['example.com/d?a=1', 'https://example.com/d?utm_source=x&a=1&gclid=y', yes, 'same-page'],
    ],
  )
})

const tracked =
  'srsltid utm_source utm_medium UTM_Campaign utm%5Fterm gclid gbraid wbraid fbclid msclkid dclid yclid _ga _gl ' +
  'mc_cid mc_eid igshid ref_src sca_esv ved usg'

describe('url: parameters that only say how a visitor came', () => {
  table(
    'url',
    [],
    tracked.split(' ').map((name) => ['example.com/d', `https://example.com/d?${name}=x`, yes, 'same-page']),
  )
})
