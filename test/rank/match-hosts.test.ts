import { describe } from 'vitest'
import { near, no, table, yes } from './matching.ts'

describe('domain: labels, never letters', () => {
  table(
    'domain',
    [],
    [
      ['example.com', 'https://example.com/', yes, 'in-domain'],
      ['example.com', 'https://a.b.c.example.com/', yes, 'in-domain'],
      ['www.example.com', 'https://shop.example.com/', yes, 'in-domain'],
      ['www.example.com', 'https://www.www.example.com/', yes, 'in-domain'],
      ['example.com', 'HTTPS://WWW.EXAMPLE.COM/PATH', yes, 'in-domain'],
      ['example.com', 'https://www.example.com.:8443/', yes, 'in-domain'],
      ['example.com', 'https://example.com.evil.net@example.com/', yes, 'in-domain'],
      ['example.com', 'https://example.com?x', yes, 'in-domain'],
      ['example.com', 'https://example.com#x', yes, 'in-domain'],
      ['example.com', ' https://example.com/ ', yes, 'in-domain'],
      ['example.com', 'https:\\\\example.com\\a', yes, 'in-domain'],
      ['example.com', 'https://ex%61mple.com/', yes, 'in-domain'],
      ['example.com', 'https://exam\tple.com/', yes, 'in-domain'],
      ['example.com', 'https://ｅｘａｍｐｌｅ．ｃｏｍ/', yes, 'in-domain'],
      ['example.com', 'https://my_shop.example.com/', yes, 'in-domain'],
      ['my_shop.example.com', 'https://my_shop.example.com/a', yes, 'in-domain'],
      ['my_shop.example.com', 'https://myshop.example.com/a', near, 'same-site'],
      ['example.com', 'https://-a-.example.com/', yes, 'in-domain'],
      ['example.com', 'https://notexample.com/', near, 'name-within'],
      ['example.com', 'https://www.notexample.com/', near, 'name-within'],
      ['example.com', 'https://not-example.com/', near, 'name-within'],
      ['example.com', 'https://example.com.evil.net/', near, 'name-within'],
      ['example.com', 'https://example-com.evil.net/', near, 'name-within'],
      ['example.com', 'https://evil.net/example.com', no, 'other-site'],
      ['example.com', 'https://example.com@evil.net/', no, 'other-site'],
      ['example.com', 'https://example.com:pass@evil.net/', no, 'other-site'],
      ['example.com', 'https://evil.net#@example.com/', no, 'other-site'],
      ['example.com', 'https://evil.net?@example.com/', no, 'other-site'],
      ['example.com', 'https://evil.net\\@example.com/', no, 'other-site'],
      ['example.com', 'https://example.co/', near, 'other-suffix'],
      ['example.com', 'https://www.example.co.uk/', near, 'other-suffix'],
      ['example.com', 'https://example.community/', near, 'other-suffix'],
      ['example.com', 'https://rival.com/', no, 'other-site'],
      ['acme.com', 'https://acmeshop.net/', no, 'other-site'],
      ['acme.com', 'https://acme.computer/', near, 'other-suffix'],
      ['shop.example.com', 'https://example.com/', near, 'same-site'],
      ['shop.example.com', 'https://workshop.example.com/', near, 'same-site'],
      ['shop.example.com', 'https://www.shop.example.com/', yes, 'in-domain'],
      ['www.com', 'https://rival.com/', no, 'other-site'],
      ['www.com', 'https://shop.www.com/', yes, 'in-domain'],
    ],
  )
})

describe('domain: below a public suffix lie the sites of others', () => {
  table(
    'domain',
    [],
    [
      ['acme.github.io', 'https://acme.github.io/docs', yes, 'in-domain'],
      ['acme.github.io', 'https://www.acme.github.io/docs', yes, 'in-domain'],
      ['acme.github.io', 'https://rival.github.io/docs', near, 'other-owner'],
      ['acme.github.io', 'https://github.io/', near, 'other-owner'],
      ['acme.github.io', 'https://acme.gitlab.io/', near, 'other-suffix'],
      ['github.io', 'https://github.io/', yes, 'in-domain'],
      ['github.io', 'https://acme.github.io/', near, 'other-owner'],
      ['github.io', 'https://www.github.io/', near, 'other-owner'],
      ['www.github.io', 'https://www.github.io/a', yes, 'in-domain'],
      ['www.github.io', 'https://github.io/a', near, 'other-owner'],
      ['co.uk', 'https://acme.co.uk/', near, 'other-owner'],
      ['co.uk', 'https://co.uk/', yes, 'in-domain'],
      ['acme.co.uk', 'https://rival.co.uk/', no, 'other-site'],
      ['acme.co.uk', 'https://shop.acme.co.uk/', yes, 'in-domain'],
      ['www.co.uk', 'https://www.co.uk/', yes, 'in-domain'],
      ['www.co.uk', 'https://acme.co.uk/', no, 'other-site'],
      ['amazonaws.com', 'https://docs.amazonaws.com/', yes, 'in-domain'],
      ['amazonaws.com', 'https://acme.s3.amazonaws.com/a.pdf', near, 'other-owner'],
      ['amazonaws.com', 'https://s3.amazonaws.com/acme/a.pdf', yes, 'in-domain'],
      ['acme.s3.amazonaws.com', 'https://acme.s3.amazonaws.com/a.pdf', yes, 'in-domain'],
      ['acme.s3.amazonaws.com', 'https://rival.s3.amazonaws.com/a.pdf', near, 'other-owner'],
      ['a.ck', 'https://acme.a.ck/', near, 'other-owner'],
      ['www.ck', 'https://shop.www.ck/', yes, 'in-domain'],
    ],
  )
})

describe('domain: hosts in every spelling, and hosts that are no names', () => {
  table(
    'domain',
    [],
    [
      ['bücher.example', 'https://xn--bcher-kva.example/', yes, 'in-domain'],
      ['xn--bcher-kva.example', 'https://shop.BÜCHER.example/', yes, 'in-domain'],
      ['BÜCHER.example', 'https://www.xn--BCHER-kva.example/', yes, 'in-domain'],
      ['bücher.example', 'https://bucher.example/', no, 'other-site'],
      ['例え.テスト', 'https://xn--r8jz45g.xn--zckzah/', yes, 'in-domain'],
      ['пример.рф', 'https://магазин.пример.рф/', yes, 'in-domain'],
      ['127.0.0.1', 'http://127.0.0.1:8787/', yes, 'in-domain'],
      ['127.0.0.1', 'http://0x7f.1/', yes, 'in-domain'],
      ['127.0.0.1', 'http://127.0.0.10/', near, 'name-within'],
      ['127.0.0.1', 'http://1.127.0.0.1.example/', near, 'name-within'],
      ['0.0.1', 'http://127.0.0.1/', no, 'other-site'],
      ['[::1]', 'http://[::1]:3000/', yes, 'in-domain'],
      ['[::1]:80', 'http://[0:0:0:0:0:0:0:1]/', yes, 'in-domain'],
      ['[::1]', 'http://[::2]/', no, 'other-site'],
      ['localhost', 'http://localhost:3000/', yes, 'in-domain'],
      ['localhost', 'http://app.localhost/', yes, 'in-domain'],
      ['localhost', 'http://mylocalhost/', near, 'name-within'],
      ['intranet', 'http://wiki.intranet/', yes, 'in-domain'],
      ['intranet', 'http://intranet.example.com/', near, 'name-within'],
    ],
  )
})

describe('host: that host alone', () => {
  table(
    'host',
    [],
    [
      ['example.com', 'https://example.com/a', yes, 'on-host'],
      ['example.com', 'http://www.example.com./a', yes, 'on-host'],
      ['www.example.com', 'https://example.com/a', yes, 'on-host'],
      ['www.example.com', 'https://www.www.example.com/a', near, 'same-site'],
      ['example.com', 'https://shop.example.com/', near, 'same-site'],
      ['shop.example.com', 'https://example.com/', near, 'same-site'],
      ['shop.example.com', 'https://www.shop.example.com/', yes, 'on-host'],
      ['example.com', 'https://notexample.com/', near, 'name-within'],
      ['example.com', 'http://example.com:80/', yes, 'on-host'],
      ['example.com', 'http://example.com:443/', yes, 'on-host'],
      ['example.com:443', 'http://example.com/', yes, 'on-host'],
      ['example.com:80', 'https://example.com/', yes, 'on-host'],
      ['example.com', 'https://example.com:8443/', near, 'other-port'],
      ['example.com:8443', 'http://www.example.com:8443/', yes, 'on-host'],
      ['example.com:8443', 'https://example.com/', near, 'other-port'],
      ['example.com/shop', 'https://example.com/other', yes, 'on-host'],
      ['github.io', 'https://github.io/', yes, 'on-host'],
      ['github.io', 'https://www.github.io/', near, 'other-owner'],
      ['[::1]:3000', 'http://[::1]:3000/a', yes, 'on-host'],
      ['[::1]:3000', 'http://[::1]:3001/a', near, 'other-port'],
      ['www.com', 'https://www.www.com/', yes, 'on-host'],
      ['192.168.0.1', 'http://3232235521/', yes, 'on-host'],
    ],
  )
})

describe('what is no web page belongs to nothing', () => {
  table(
    'domain',
    [],
    [
      ['example.com', 'ftp://example.com/', no, 'no-page'],
      ['example.com', 'mailto:me@example.com', no, 'no-page'],
      ['example.com', 'javascript:location="https://example.com/"', no, 'no-page'],
      ['example.com', '/relative/path', no, 'no-page'],
      ['example.com', '//example.com/', no, 'no-page'],
      ['example.com', 'example.com', no, 'no-page'],
      ['example.com', 'https://', no, 'no-page'],
      ['example.com', '', no, 'no-page'],
      ['', 'https://example.com/', no, 'no-site'],
      ['ftp://example.com', 'https://example.com/', no, 'no-site'],
      ['exa mple.com', 'https://example.com/', no, 'no-site'],
    ],
  )
})
