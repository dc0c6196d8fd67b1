import type { HttpProxy } from './proxy.ts'

/** Why an exchange failed, in words, and whether only another setting mends it. */
export interface Explained {
  readonly words: string
  readonly wrongSetting: boolean
}

const passing: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network of the host',
  ETIMEDOUT: 'the connection was not made in time',
  EPIPE: 'the connection was closed',
  EMFILE: 'this machine allows no more open files; allow more with ulimit -n, or set a lower --concurrency',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
}

export const speaksHttps = 'the port speaks https, not http: write https://'
const speaksHttp = 'the port speaks http, not https: write http://, or the port that speaks https'
const unknownIssuer =
  'its certificate comes from an issuer that this machine does not know: name a file with that certificate in NODE_EXTRA_CA_CERTS'

const wrongSettings: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: speaksHttp,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: speaksHttp,
  ERR_SSL_HTTP_REQUEST: speaksHttp,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownIssuer,
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
}

/** Says why an exchange failed: in our words where there are any. A proxy that was asked is named. */
export function explainFailure(error: Error, proxy: HttpProxy | null): Explained {
  const { code, data } = error as { readonly code?: unknown; readonly data?: unknown }
  const name = typeof code === 'string' ? code : ''
  const refusal = proxy === null ? undefined : error.message.match(/^Proxy response \((\d+)\)/)?.[1]
  if (proxy !== null && refusal !== undefined) return refusedBy(proxy, Number(refusal))
  if (isTlsAlert(data)) return { words: speaksHttps, wrongSetting: true }
  const wrong = wrongSettings[name]
  const words = wrong ?? passing[name] ?? otherFailure(name, error.message)
  return {
    words: proxy === null ? words : `${words}; asked through the proxy ${proxy.origin}`,
    wrongSetting: wrong !== undefined,
  }
}

/** What the HTTP library says helps no user, and its code can be looked up; what the system says is kept. */
function otherFailure(code: string, message: string): string {
  if (code.startsWith('HPE_')) return 'what answered does not speak HTTP'
  return code.startsWith('UND_ERR_') ? `the connection failed (${code})` : message
}

function refusedBy({ origin }: HttpProxy, status: number): Explained {
  const words = `the proxy ${origin} refused the connection with HTTP ${status}`
  if (status === 407)
    return { words: `${words}: put user name and password into the address of the proxy`, wrongSetting: true }
  if (status >= 500) return { words, wrongSetting: false }
  return { words: `${words}: allow the host there, or add it to NO_PROXY`, wrongSetting: true }
}

/** Whether an error says, as nginx, Apache and Go do, that the request was not encrypted and should have been. */
export function wantsHttps(words: string): boolean {
  return /plain HTTP (?:request was sent )?to (?:an? )?(?:HTTPS|SSL)|HTTP request to an HTTPS server/i.test(
    words,
  )
}

/** An alert of TLS in place of an answer: the request was not encrypted, and should have been. */
function isTlsAlert(data: unknown): boolean {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data
  return Buffer.isBuffer(bytes) && bytes[0] === 0x15 && bytes[1] === 0x03
}
