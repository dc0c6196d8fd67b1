import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify, type ResponseClass, serviceMessage } from '../../src/api/outcomes.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

const error = (text: string) => JSON.stringify({ error: text })
const meaning = (status: number, body = '') => classify(status, Buffer.from(body))

describe('what a status means', () => {
  testTable<[number, string, ResponseClass]>([
    [200, '{"organic_results":[]}', 'answered'],
    [200, '', 'answered'],
    [200, '<html>', 'answered'],
    [200, '{"error":"Rate limit exceeded"}', 'answered'],
    [201, '{}', 'answered'],
    [204, '', 'answered'],
    [206, '{"organic_res', 'answered'],
    [202, '{"job_id":"1"}', 'accepted'],
    [202, '', 'accepted'],
    [301, '', 'redirected'],
    [302, '<html><title>Moved</title>', 'redirected'],
    [304, '', 'redirected'],
    [307, '', 'redirected'],
    [308, '', 'redirected'],
    [400, error('Bad Request'), 'rejected'],
    [402, error('Payment required'), 'out-of-credit'],
    [402, '', 'out-of-credit'],
    [403, error('Forbidden'), 'rejected'],
    [404, error('Not Found'), 'not-found'],
    [404, '', 'not-found'],
    [405, '', 'rejected'],
    [408, '', 'server-error'],
    [413, '<html>', 'rejected'],
    [414, '', 'rejected'],
    [418, '', 'rejected'],
    [422, error('limit'), 'rejected'],
    [425, error('Too Early'), 'server-error'],
    [429, '', 'throttled'],
    [429, error('Invalid API Key'), 'throttled'],
    [499, '', 'rejected'],
    [500, error('Internal Error'), 'server-error'],
    [500, '{"err', 'server-error'],
    [502, '<html><h1>Bad Gateway</h1>', 'server-error'],
    [503, '', 'server-error'],
    [504, '', 'server-error'],
    [520, '', 'server-error'],
    [599, '', 'server-error'],
  ])('%i with %j is %s', (status, body, expected) => {
    expect(meaning(status, body)).toBe(expected)
  })
})

describe('what a 401 means is said by its body', () => {
  testTable<[string, ResponseClass]>([
    [error('Rate limit exceeded for the API key: quota monthly'), 'throttled'],
    [error('rate limit exceeded for the api key: quota daily'), 'throttled'],
    [error('Rate exceeded'), 'throttled'],
    [error('Too many requests'), 'throttled'],
    [error('Monthly quota used up for this key'), 'throttled'],
    [JSON.stringify({ message: 'Rate limit exceeded' }), 'throttled'],
    ['Rate limit exceeded', 'throttled'],
    ['<html><head><title>Rate limit</title></head></html>', 'throttled'],
    [error('Invalid API Key'), 'refused'],
    [error('API key expired'), 'refused'],
    [error('The key is inactive'), 'refused'],
    [error('Invalid API Key, generate a new one in the dashboard'), 'refused'],
    [error('Your corporate key is separate from this one'), 'refused'],
    ['<html><h1>401 Authorization Required</h1></html>', 'unauthorised'],
    [error('Unauthorized'), 'unauthorised'],
    [error('Nope'), 'unauthorised'],
    [error(''), 'unauthorised'],
    ['', 'unauthorised'],
    ['   \n', 'unauthorised'],
    ['{}', 'unauthorised'],
    ['null', 'unauthorised'],
    ['<html></html>', 'unauthorised'],
  ])('%s -> %s', (body, expected) => {
    expect(meaning(401, body)).toBe(expected)
  })

  test('a cut rate-limit body still speaks of the rate', () => {
    expect(meaning(401, '{"error":"Rate limit exceeded for the A')).toBe('throttled')
  })
})

describe("the service's own words", () => {
  testTable<[string, string | null]>([
    [error('Bad Request'), 'Bad Request'],
    ['{"error":"a","message":"b"}', 'a'],
    ['{"error":{"code":1},"message":"b"}', 'b'],
    ['{"error":12}', '{"error":12}'],
    ['"just text"', '"just text"'],
    ['[1,2]', '[1,2]'],
    ['{"error":"cut', '{"error":"cut'],
    ['plain', 'plain'],
    ['  <!doctype html><title>502 Bad Gateway</title>', '502 Bad Gateway'],
    ['<html><body><h1 class="x">Oops</h1>', 'Oops'],
    ['<html><body>no heading', 'an HTML page'],
    ['', null],
    ['\n\t ', null],
    [error('\u001b[31mred\u001b[0m\r\nnext'), '[31mred [0m next'],
    [error('\u0007\u0000\u009b'), null],
  ])('of %j are %j', (body, words) => {
    expect(serviceMessage(Buffer.from(body))).toBe(words)
  })

  test('are never longer than 301 characters, never empty and never hold control characters', () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
      anyText({ maxLength: 1_000 }).map((text) => Buffer.from(text)),
      anyText({ maxLength: 1_000 }).map((text) => Buffer.from(error(text))),
      anyText({ maxLength: 1_000 }).map((text) => Buffer.from(`<title>${text}</title>`)),
    )
    fc.assert(
      fc.property(body, (body) => {
        const words = serviceMessage(body)
        if (words === null) return
        expect(words.length).toBeLessThanOrEqual(301)
        expect(words.trim()).not.toBe('')
        expect(words).not.toMatch(/\p{Cc}/u)
      }),
    )
  })

  test('of a body of megabytes are cut', () => {
    expect(serviceMessage(Buffer.alloc(5_000_000, 'x'))).toBe(`${'x'.repeat(300)}…`)
    expect(serviceMessage(Buffer.from(error('y'.repeat(301))))).toBe(`${'y'.repeat(300)}…`)
    expect(serviceMessage(Buffer.from(error('y'.repeat(300))))).toBe('y'.repeat(300))
  })

  test('never change the meaning into an exception, whatever status and bytes come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        (status, body) => {
          expect(classify(status, body)).toEqual(expect.any(String))
        },
      ),
    )
  })
})
