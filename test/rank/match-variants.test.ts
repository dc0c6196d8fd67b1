import { near, no, table, yes } from './matching.ts'

const cache = 'https://example-com.cdn.ampproject.org'

table('AMP where a target says so', 'url amp', [
  ['example.com/d', 'https://example.com/d', yes, 'same-page'],
  ['example.com/d', 'https://amp.example.com/d', yes, 'amp-variant'],
  ['www.example.com/d', 'https://amp.example.com/d', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/amp/d', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/d/amp', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/d/amp/', yes, 'amp-variant'],
  ['example.com', 'https://example.com/amp', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/d?amp', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/d?amp=1&utm_source=x', yes, 'amp-variant'],
  ['example.com/d?a=1', 'https://example.com/d?outputType=amp&a=1', yes, 'amp-variant'],
  ['example.com/amp/d', 'https://example.com/amp/d', yes, 'same-page'],
  ['example.com/amp/d', 'https://example.com/amp/d/amp', yes, 'amp-variant'],
  ['example.com/amp/d', 'https://example.com/d', near, 'other-path'],
  ['example.com/d', `${cache}/c/s/example.com/d`, yes, 'amp-variant'],
  ['example.com/d', `${cache}/c/s/www.example.com/d/amp/?usqp=mq331`, yes, 'amp-variant'],
  ['example.com/d', `${cache}/v/s/example.com/d?amp_js_v=0.1`, yes, 'amp-variant'],
  ['example.com/d', `${cache}/c/example.com/d`, yes, 'amp-variant'],
  ['example.com/d', 'https://cdn.ampproject.org/c/s/example.com/d', yes, 'amp-variant'],
  ['example.com/d', 'https://www.google.com/amp/s/www.example.com/d', yes, 'amp-variant'],
  ['example.com/d', 'https://www.google.co.uk/amp/s/amp.example.com/d', yes, 'amp-variant'],
  ['example.com/d', 'https://www.bing.com/amp/s/example.com/d', yes, 'amp-variant'],
  ['example.com/d', 'https://www.google.com/amp/example.com/d', yes, 'amp-variant'],
  ['example.com/d', `${cache}/i/s/example.com/d`, near, 'name-within'],
  ['example.com/d', `${cache}/c/s/rival.net/d`, near, 'name-within'],
  ['example.com/d', 'https://rival-net.cdn.ampproject.org/c/s/example.com.rival.net/d', no, 'other-site'],
  ['example.com/d', 'https://rival.net/amp/s/example.com/d', no, 'other-site'],
  ['example.com/d', 'https://google.rival.net/amp/s/example.com/d', no, 'other-site'],
  ['example.com/d', 'https://google.github.io/amp/s/example.com/d', no, 'other-site'],
  ['example.com/d', 'https://example.com/d?amp=2', near, 'other-query'],
  ['example.com/d', 'https://example.com/dam/amp', near, 'other-path'],
  ['example.com/d', 'https://example.com/dxamp', near, 'other-path'],
  ['example.com/d', 'https://example.com/amp/d/amp', yes, 'amp-variant'],
  ['example.com/amp/d', 'https://example.com/amp/d?amp=1', yes, 'amp-variant'],
  ['example.com/amp/d/amp', 'https://example.com/amp/d/amp?amp=1', yes, 'amp-variant'],
  ['example.com/d', 'https://example.com/amplify/d', near, 'other-path'],
  ['example.com/d', 'https://m.example.com/d', near, 'mobile-not-asked'],
  ['example.com/d', 'https://m.example.com/d/amp', near, 'mobile-not-asked'],
])

table('AMP where a target says so', 'prefix amp', [
  ['example.com/shop', 'https://example.com/amp/shop/x', yes, 'amp-variant'],
  ['example.com/shop', 'https://example.com/shop/x/amp', yes, 'below-path'],
  ['example.com/shop', 'https://example.com/amp/shopping', near, 'other-path'],
  ['example.com/shop', 'https://www.google.com/amp/s/example.com/shop/x', yes, 'amp-variant'],
])

table('AMP where a target says so', 'host amp', [
  ['example.com', 'https://amp.example.com/x', yes, 'amp-variant'],
  ['example.com', `${cache}/c/s/example.com/x`, yes, 'amp-variant'],
  ['example.com', 'https://stamp.example.com/x', near, 'same-site'],
])

table('AMP where a target says so', 'domain amp', [
  ['example.com', `${cache}/c/s/shop.example.com/x`, yes, 'amp-variant'],
  ['example.com', 'https://www.google.com\\amp\\s\\example.com/x', yes, 'amp-variant'],
  ['example.com', 'https://www.google.com/amp\\s\\example.com/x', yes, 'amp-variant'],
  ['example.com', 'https://amp.example.com/x', yes, 'in-domain'],
  ['github.io', 'https://amp.github.io/x', near, 'other-owner'],
  ['ampproject.org', `${cache}/c/s/example.com/x`, yes, 'in-domain'],
])

table('mobile hosts where a target says so', 'url mobile', [
  ['example.com/d', 'https://m.example.com/d', yes, 'mobile-variant'],
  ['www.example.com/d', 'https://mobile.example.com/d', yes, 'mobile-variant'],
  ['example.com/d', 'https://touch.example.com/d/', yes, 'mobile-variant'],
  ['example.com/d', 'https://m.example.com/e', near, 'other-path'],
  ['example.com/d', 'https://am.example.com/d', near, 'same-site'],
  ['m.example.com/d', 'https://example.com/d', near, 'same-site'],
  ['example.com/d', 'https://amp.example.com/d', near, 'amp-not-asked'],
])

table('mobile hosts where a target says so', 'host mobile', [
  ['example.com', 'https://m.example.com/x', yes, 'mobile-variant'],
  ['example.com', 'https://m.shop.example.com/x', near, 'same-site'],
  ['shop.example.com', 'https://m.shop.example.com/x', yes, 'mobile-variant'],
  ['github.io', 'https://m.github.io/x', near, 'other-owner'],
])

table('both, or none', 'url amp mobile', [
  ['example.com/d', 'https://m.example.com/amp/d', yes, 'amp-variant'],
  ['example.com/d', `${cache}/c/s/m.example.com/d`, yes, 'amp-variant'],
  ['example.com/d', 'https://m.example.com/d', yes, 'mobile-variant'],
])

table('both, or none', 'url', [
  ['example.com/d', 'https://amp.example.com/d', near, 'amp-not-asked'],
  ['example.com/d', 'https://example.com/d/amp', near, 'amp-not-asked'],
  ['example.com/d', 'https://example.com/d?amp=1', near, 'amp-not-asked'],
  ['example.com/d', 'https://m.example.com/d', near, 'mobile-not-asked'],
  ['example.com/d', 'https://m.example.com/d?amp', near, 'variants-not-asked'],
])

table('both, or none', 'domain', [
  ['example.com', 'https://m.example.com/d', yes, 'in-domain'],
  ['example.com', `${cache}/c/s/example.com/d`, near, 'amp-not-asked'],
  ['example.com', 'https://www.google.com/amp/s/example.com/d', near, 'amp-not-asked'],
])
