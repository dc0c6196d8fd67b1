import { describe, expect, test } from 'vitest'
import { explainRedirect } from '../../src/api/client.ts'
import { testTable } from '../support/test-table.ts'

const asked = { origin: 'http://a.test', path: '/base/v1/usage' }

describe('a redirect says where to, and what to set', () => {
  testTable<[string | string[] | undefined, string]>([
    [
      'https://a.test/base/v1/usage',
      'a redirect to https://a.test/base/v1/usage: if you trust that address, set RANKLINE_BASE_URL=https://a.test/base',
    ],
    ['https://www.a.test/v1/usage/', 'set RANKLINE_BASE_URL=https://www.a.test'],
    [
      '/base/v1/usage/',
      'a redirect to http://a.test/base/v1/usage/, on the same server. Ask the service why',
    ],
    ['/new/v1/usage?from=old#x', 'a redirect to http://a.test/new/v1/usage: if you trust'],
    ['https://user:secret@b.test/v1/usage?token=t', 'a redirect to https://b.test/v1/usage: if you trust'],
    [
      'https://login.test/start?back=/v1/usage',
      'a redirect to https://login.test/start, which is another page',
    ],
    ['javascript:alert(1)', 'a redirect that names no web address'],
    ['http://[', 'a redirect that names no web address'],
    [undefined, 'a redirect that names no web address'],
    [['https://a.test', 'https://b.test'], 'a redirect that names no web address'],
  ])('a redirect to %s is explained', (location, words) => {
    const { reason: said, wrongSetting } = explainRedirect(301, location, asked)
    expect(said).toContain(`HTTP 301, `)
    expect(said).toContain(words)
    expect(said).not.toMatch(/secret|token|from=/)
    expect(wrongSetting).toBe(said.includes('RANKLINE_BASE_URL'))
  })

  test.each([
    ['/v1/alpha/search?query=a%2Fv1%2Fb', 'https://b.test/v1/alpha/search', 'https://b.test'],
    ['/api/v1/alpha/search', 'https://b.test/api/v1/alpha/search', 'https://b.test'],
    ['/base/jobs/7', 'https://b.test/other/jobs/7', 'https://b.test/other'],
  ])('asked for %s and led to %s: %s', (path, location, base) => {
    expect(explainRedirect(308, location, { origin: 'http://a.test', path }).reason).toMatch(
      new RegExp(`RANKLINE_BASE_URL=${base}$`),
    )
  })
})
