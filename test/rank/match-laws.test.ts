import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matches, variants } from '../../src/model/job.ts'
import { explainMatch } from '../../src/rank/explain.ts'
import { matcherOf, type Pattern } from '../../src/rank/match.ts'
import { anyText, anyUrl } from '../support/any-text.ts'

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/).filter((text) => text !== 'www')
const host = fc
  .tuple(label, fc.constantFrom('com', 'co.uk', 'example', 'github.io'))
  .map((all) => all.join('.'))
const path = fc
  .array(fc.constantFrom('shop', 'amp', 'Shop', 'a%7eb', 'é'), { maxLength: 3 })
  .map((all) => `/${all.join('/')}`)
const query = fc.constantFrom('', '?id=1', '?id=1&ref=2', '?q=a+b', '?amp=1')
const site = fc.tuple(host, path, query).map((all) => all.join(''))
const pattern: fc.Arbitrary<Pattern> = fc.record({
  site,
  match: fc.constantFrom(...matches),
  also: fc.subarray([...variants]),
})

/** What links are made of, in any order: many are none. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          'https://',
          'http://',
          '//',
          '/',
          ':',
          '@',
          '?',
          '#',
          '&',
          '=',
          '%',
          '%2F',
          '%zz',
          '.',
          'www.',
          'm.',
        ],
      ),
      fc.constantFrom(
        ...['/url?q=', '/link?url=', '/ck/a?u=a1', '/RU=', '/RK=', '/amp/s/', '/c/s/', 'cdn.ampproject.org'],
      ),
      fc.constantFrom('google.com', 'bit.ly', '\\', '\t', ' ', '\ud800', '\u0000', '[::1]', '0x7f.1', 'xn--'),
      host,
      path,
    ),
    { maxLength: 8 },
  )
  .map((all) => all.join(''))

/** Links that may well belong to the site. */
function linkTo({ site }: Pattern): fc.Arbitrary<string> {
  const front = fc.constantFrom('', 'www.', 'm.', 'amp.', 'shop.', 'not')
  const bare = fc.constantFrom(site, site.replace(/[/?].*/, ''))
  return fc.tuple(front, bare).map(([before, rest]) => `https://${before}${rest}`)
}

const both = pattern.chain((target) =>
  fc.tuple(
    fc.constant(target),
    fc.oneof(
      linkTo(target),
      site.map((other) => `https://${other}`),
    ),
  ),
)

const anyLink = fc.oneof(anyText(), pieces, anyUrl())

test('no string makes a matcher or an explanation throw, whether as a link or as a site', () => {
  fc.assert(
    fc.property(pattern, anyLink, anyLink, (target, link, odd) => {
      for (const one of [target, { ...target, site: odd }]) {
        expect(matcherOf(one)(link)).toBeTypeOf('boolean')
        expect(explainMatch(one, link).text).not.toBe('')
      }
    }),
    { numRuns: 600 },
  )
})

test('what is explained is what the matcher says', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        both,
        fc.tuple(pattern, pieces),
        pattern.map((target) => [target, '/'] as const),
      ),
      fc.constantFrom('', 'https://www.google.com/url?q=', 'https://www.google.com/amp/s/'),
      ([target, link], front) => {
        const whole = front.endsWith('=')
          ? `${front}${encodeURIComponent(link.toWellFormed())}`
          : `${front}${link}`
        const { matches, near } = explainMatch(target, whole)
        expect(matcherOf(target)(whole)).toBe(matches)
        expect(matches && near).toBe(false)
      },
    ),
    { numRuns: 600 },
  )
})

test('a host with letters glued on in front belongs to another', () => {
  fc.assert(
    fc.property(host, fc.stringMatching(/^[a-z0-9_-]{1,8}$/), path, (tracked, front, at) => {
      const target: Pattern = { site: tracked, match: 'domain', also: [...variants] }
      expect(matcherOf(target)(`https://${front}${tracked}${at}`)).toBe(false)
      expect(matcherOf(target)(`https://${tracked}.${front}.net${at}`)).toBe(false)
    }),
  )
})

test('scheme, case of the host, tracking parameters, fragment and credentials change no verdict', () => {
  const names = fc.constantFrom('srsltid', 'utm_x', 'gclid', 'fbclid', '_ga', 'mc_eid', 'ved', 'usg')
  const tracking = fc.array(
    fc.tuple(names, label).map((all) => all.join('=')),
    { maxLength: 3 },
  )
  fc.assert(
    fc.property(
      both,
      tracking,
      fc.boolean(),
      fc.constantFrom('', '#top', '#:~:text=a,b&c'),
      ([target, link], extra, loud, end) => {
        const { host: plain, href } = new URL(link)
        const grown = [href, ...extra].reduce((all, part) => `${all}${all.includes('?') ? '&' : '?'}${part}`)
        const other = grown.replace(
          `https://${plain}`,
          `http://me:secret@${loud ? plain.toUpperCase() : plain}`,
        )
        expect(explainMatch(target, `${other}${end}`)).toEqual(explainMatch(target, link))
        expect(matcherOf(target)(`${other}${end}`)).toBe(matcherOf(target)(link))
      },
    ),
    { numRuns: 600 },
  )
})

test('a variant that is asked for takes nothing away, and each rule takes no more than the one before', () => {
  fc.assert(
    fc.property(both, ([target, link]) => {
      const takes = (other: Partial<Pattern>) => matcherOf({ ...target, ...other })(link)
      expect(!takes({ also: [] }) || takes({})).toBe(true)
      expect(!takes({}) || takes({ also: variants })).toBe(true)
      const narrowing = matches.map((match) => takes({ match }))
      expect(narrowing.toSorted((a, b) => Number(b) - Number(a))).toEqual(narrowing)
    }),
    { numRuns: 600 },
  )
})

test('links of any length are judged at once', () => {
  const target: Pattern = { site: 'acme.com/shop', match: 'url', also: variants }
  const start = performance.now()
  for (const part of [
    '/',
    '%2F',
    '/amp',
    '.',
    'a.',
    '&a=',
    '&utm_x=',
    '/RU=',
    'https://',
    '%',
    '/url?q=',
    '-a.com',
  ])
    for (const front of ['https://acme.com/', 'https://a', '/url?q=https://acme.com/', ''])
      explainMatch(target, front + part.repeat(50_000))
  expect(performance.now() - start).toBeLessThan(10_000)
})
