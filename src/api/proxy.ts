import { isLoopback, parseUrl, percentDecoded } from '../model/url.ts'

/** The variables with the proxies of the system; null for a variable that is not set. */
export interface ProxyVariables {
  readonly httpProxy: string | null
  readonly httpsProxy: string | null
  readonly noProxy: string | null
}

/** A proxy that requests go through, by CONNECT. */
export interface HttpProxy {
  /** Scheme, host and port, without credentials. */
  readonly origin: string
  /** The `Proxy-Authorization` header; null without a user name. */
  readonly authorization: string | null
}

/** `unreadable`: the variable is not the address of a proxy. */
export type ProxyChoice = HttpProxy | 'direct' | 'unreadable'

/** The proxy for requests to this address. This machine is never asked through a proxy. */
export function proxyFor(url: string, { httpProxy, httpsProxy, noProxy }: ProxyVariables): ProxyChoice {
  const { protocol, hostname, port } = new URL(url)
  const named = protocol === 'https:' ? (httpsProxy ?? httpProxy) : httpProxy
  if (named === null || isLoopback(hostname)) return 'direct'
  const asked = { host: hostname.toLowerCase(), port: port === '' ? defaultPorts[protocol] : port }
  return (noProxy ?? '').split(/[,\s]+/).some((entry) => isExempt(entry, asked)) ? 'direct' : readProxy(named)
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Whether an entry of NO_PROXY covers a host. It names a host and all below it, for one port if it has one; `*` is every host. */
function isExempt(
  entry: string,
  { host, port }: { readonly host: string; readonly port?: string | undefined },
) {
  if (entry === '*') return true
  const [, name = '', only] = entry.toLowerCase().match(/^(?:\*?\.)?(.+?)(?::(\d+))?$/) ?? []
  if (name === '' || (only !== undefined && only !== port)) return false
  return host === name || host.endsWith(`.${name}`)
}

function readProxy(named: string): HttpProxy | 'unreadable' {
  // Many people write the host and the port only.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`
  const url = parseUrl(text)
  if (url === null) return 'unreadable'
  const { protocol, host, username, password } = url
  if ((protocol !== 'http:' && protocol !== 'https:') || host === '') return 'unreadable'
  if (username === '' && password === '') return { origin: `${protocol}//${host}`, authorization: null }
  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString(
    'base64',
  )
  return { origin: `${protocol}//${host}`, authorization: `Basic ${credentials}` }
}
