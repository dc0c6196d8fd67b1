import { describe, expect, test } from 'vitest'
import { wantsHttps } from '../../src/api/client.ts'
import { explainFailure } from '../../src/api/http.ts'
import { testTable } from '../support/test-table.ts'

describe('a failure in words', () => {
  testTable([
    ['ENOTFOUND', 'the host name is not known', false],
    ['ECONNREFUSED', 'the connection was refused', false],
    ['CERT_HAS_EXPIRED', 'its certificate has expired', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name', true],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS', true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'the port speaks http, not https', true],
    ['HPE_INVALID_CONSTANT', 'what answered does not speak HTTP', false],
    ['UND_ERR_ANYTHING', 'the connection failed (UND_ERR_ANYTHING)', false],
    ['SOMETHING_ELSE', 'as the system said it', false],
  ])('%s: %s', (code, words, wrongSetting) => {
    const explained = explainFailure(Object.assign(new Error('as the system said it'), { code }), null)
    expect(explained).toEqual({ reason: expect.stringContaining(words), wrongSetting })
  })

  test.each([
    ['400 The plain HTTP request was sent to HTTPS port', true],
    ["Your browser sent a request. Reason: You're speaking plain HTTP to an SSL-enabled server port.", true],
    ['Client sent an HTTP request to an HTTPS server.', true],
    ['Bad Request: query is missing', false],
  ])('%s', (words, wants) => {
    expect(wantsHttps(words)).toBe(wants)
  })
})
