import type { Sandbox } from '../../src/sandbox/server.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  /** The JSON body, or undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
  readonly body: any
  readonly headers: Headers
}

export type Params = Readonly<Record<string, string | number>>

/** GET below the base URL, with the sandbox's key unless `headers` are given. */
export function get(
  sandbox: Sandbox,
  path: string,
  params: Params = {},
  headers: Record<string, string> = { 'x-api-key': sandbox.key },
): Promise<Answer> {
  const url = new URL(sandbox.url + path)
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, String(value))
  return read(fetch(url, { headers, redirect: 'manual' }))
}

/** POST at the host's root: an object as JSON, a string as it is. */
export function post(
  sandbox: Sandbox,
  path: string,
  body: unknown,
  type = 'application/json',
): Promise<Answer> {
  return read(
    fetch(new URL(path, sandbox.url), {
      method: 'POST',
      headers: { 'x-api-key': sandbox.key, 'content-type': type },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
}

export function search(sandbox: Sandbox, query = 'standing desk', params: Params = {}): Promise<Answer> {
  return get(sandbox, '/v1/alpha/search', { query, ...params })
}

export function links(answer: Answer): string[] {
  return (answer.body.organic_results ?? answer.body.images).map((item: { link: string }) => item.link)
}

async function read(sent: Promise<Response>): Promise<Answer> {
  const response = await sent
  const text = await response.text()
  return { status: response.status, text, body: json(text), headers: response.headers }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
