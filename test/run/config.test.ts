import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { decodedText, nearlyNamed, serviceSettings } from '../../src/run/config.ts'
import { testTable } from '../support/test-table.ts'

describe('a base URL', () => {
  let before: string | undefined
  beforeEach(() => {
    before = process.env.RANKLINE_API_KEY
    process.env.RANKLINE_API_KEY = 'test-key'
  })
  afterEach(() => {
    if (before === undefined) delete process.env.RANKLINE_API_KEY
    else process.env.RANKLINE_API_KEY = before
  })
  const read = (text: string) => serviceSettings({ baseUrl: text }).baseUrl

  testTable([
    ['https://a.test', 'https://a.test'],
    ['https://a.test/', 'https://a.test'],
    ['https://a.test/base//', 'https://a.test/base'],
    ['https://a.test/v1/base', 'https://a.test/v1/base'],
    ['https://a.test/v12', 'https://a.test/v12'],
    ['https://a.test/api', 'https://a.test/api'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
  ])('%s is taken as %s', (text, url) => {
    expect(read(text)).toBe(url)
  })

  testTable([
    ['https://a.test/v1', 'leave out /v1 and write https://a.test'],
    ['https://a.test/V1/', 'leave out /V1 and write https://a.test'],
    ['https://a.test/base/v1', 'leave out /v1 and write https://a.test/base'],
    ['https://a.test/api/v1/', 'leave out /api/v1 and write https://a.test'],
    ['a.test', "'a.test' is not a web address"],
    ['https://user:secret@', "'https://' is not a web address"],
    ['https://user:secret@a.test', 'Leave out user names'],
    ['http://a.test', '--allow-http'],
  ])('%s is refused: %s', (text, words) => {
    expect(() => read(text)).toThrow(UsageError)
    expect(() => read(text)).toThrow(words)
    expect(() => read(text)).not.toThrow('secret')
  })
})

describe('a key', () => {
  const read = (key: string): string => {
    vi.stubEnv('RANKLINE_API_KEY', key)
    return serviceSettings({ baseUrl: 'https://a.test' }).apiKey
  }
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  testTable([['12345678'], ['sk-1234-of-this-account']])('%s is taken', (key) => {
    expect(read(key)).toBe(key)
  })

  testTable([
    ['1', 'fewer than 8 characters'],
    ['example', 'fewer than 8 characters'],
    ['two words', 'spaces, line breaks'],
  ])('%s is refused: %s', (key, words) => {
    expect(() => read(key)).toThrow(UsageError)
    expect(() => read(key)).toThrow(words)
    expect(() => read(key)).not.toThrow(key)
  })
})

describe('a text file', () => {
  const text = 'RANKLINE_DB=data/größer.db\n'
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  test.each([
    ['in UTF-8', Buffer.from(text)],
    ['in UTF-8 that says so', Buffer.from(`\ufeff${text}`)],
    ['in UTF-16, low bytes first', utf16],
    ['in UTF-16, high bytes first', Buffer.from(utf16).swap16()],
  ])('%s is read', (_, bytes) => {
    expect(decodedText(bytes, '.env')).toBe(text)
  })

  test.each([
    ['in UTF-16 that does not say so', Buffer.from('KEY=1', 'utf16le')],
    ['in another encoding', Buffer.from('größer', 'latin1')],
    ['in UTF-16 that is cut off', utf16.subarray(0, 9)],
  ])('%s is refused', (_, bytes) => {
    expect(() => decodedText(bytes, '.env')).toThrow('.env is not text in UTF-8. Save it as UTF-8')
  })
})

describe('a slip in the name of a setting', () => {
  testTable([
    ['RANKLINE_BASE_URL', 'RANKLINE_BASEURL'],
    ['RANKLINE_BASE_URL', 'RANKLINE_URL'],
    ['RANKLINE_BASE_URL', 'rankline_base_url'],
    ['RANKLINE_BASE_URL', 'RANKLINE-BASE-URL'],
    ['RANKLINE_BASE_URL', 'RANKLNE_BASE_URL'],
    ['RANKLINE_API_KEY', 'RANKLINE_APIKEY'],
    ['RANKLINE_API_KEY', 'RANKLINE_KEY'],
    ['RANKLINE_DB', 'RANKLINE_DATABASE'],
    ['RANKLINE_DB', 'RANKLINE_BD'],
  ])('%s is seen in %s', (name, written) => {
    expect(nearlyNamed(name, ['PATH', written])).toBe(written)
  })

  test.each([
    ['RANKLINE_BASE_URL', ['RANKLINE_BASE_URL', 'BASE_URL', 'RANKLINE_API_KEY']],
    ['RANKLINE_API_KEY', ['OTHER_API_KEY', 'RANKLINE_DB']],
    ['RANKLINE_DB', ['RANKLINE_TEST_LONG', 'RANKLINE_QUEUE', 'RANKLINE_METRICS', 'RANKLINE_']],
  ])('%s is not seen in %j', (name, variables) => {
    expect(nearlyNamed(name, variables)).toBeNull()
  })
})
