import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errorReply, type Reply, rateMessage } from './http.ts'
import type { OpenEntry } from './ledger.ts'
import type { Fault } from './options.ts'
import type { SandboxState } from './state.ts'

/** A call that passed every check and has no answer yet. */
interface Call {
  readonly state: SandboxState
  readonly response: ServerResponse
  readonly entry: OpenEntry
  /** Charges the call, once, and gives its answer. */
  readonly settle: () => Reply
  readonly release: () => void
}

const json = 'application/json; charset=utf-8'

export function send(response: ServerResponse, entry: OpenEntry | null, { status, body }: Reply): void {
  sendText(response, entry, status, JSON.stringify(body), { 'content-type': json })
}

/** Answers a call, with its fault if it has one. */
export function respond(call: Call, fault: Fault | null): void {
  const { response, entry } = call
  entry.fault = fault === null ? null : kindOf(fault)
  if (fault === null || 'latency' in fault || 'job' in fault || 'answerAs' in fault)
    send(response, entry, call.settle())
  else if ('status' in fault) fail(call, fault)
  else if ('refuse' in fault) refuse(call, fault.refuse)
  else if ('redirect' in fault) redirect(call, fault.redirect)
  else if ('hangUp' in fault || 'stall' in fault) hang(call, fault)
  else if ('garble' in fault) sendGarbled(call)
  else if ('cut' in fault) sendHalf(call)
  else if ('oversize' in fault) sendOversized(call, fault.oversize)
  else send(response, entry, { ...call.settle(), body: fault.body })
}

// A fault with a status may have a body as well; the first name in this order is its kind.
const kinds = 'status refuse redirect hangUp stall garble cut oversize job latency answerAs body'.split(' ')

/** The name of a kind of fault; null for anything else. */
export function kindOf(fault: object): string | null {
  return kinds.find((kind) => kind in fault) ?? null
}

function fail(
  { state, response, entry, settle, release }: Call,
  fault: Extract<Fault, { status: number }>,
): void {
  if (fault.status === 404 && state.account.settings.chargeFor404) settle()
  else release()
  const { status, headers } = fault
  const html = fault.html ? `<html><body><h1>${status}</h1></body></html>` : undefined
  const text = fault.empty ? '' : (fault.body ?? html ?? JSON.stringify(errorReply(status).body))
  sendText(response, entry, status, text, { 'content-type': fault.html ? 'text/html' : json, ...headers })
}

function refuse({ state, response, entry, release }: Call, why: 'rate' | 'key'): void {
  release()
  if (why === 'rate') {
    state.windows.withdraw(entry.at)
    state.log.refuse(entry)
  }
  send(response, entry, errorReply(401, why === 'rate' ? rateMessage : undefined))
}

function redirect({ response, entry, release }: Call, location: string): void {
  release()
  sendText(response, entry, 302, '', { location })
}

function hang({ response, settle, release }: Call, fault: { hangUp: string } | { stall: string }): void {
  const when = 'hangUp' in fault ? fault.hangUp : fault.stall
  if (when === 'after') settle()
  else release()
  if ('hangUp' in fault) response.socket?.destroy()
}

function sendGarbled({ response, entry, settle }: Call): void {
  const { status, body } = settle()
  const text = JSON.stringify(body)
  sendText(response, entry, status, `${text.slice(0, text.length / 2)}<!-- garbled`, { 'content-type': json })
}

function sendHalf({ response, entry, settle }: Call): void {
  const { status, body } = settle()
  const bytes = Buffer.from(JSON.stringify(body))
  entry.status = status
  response.writeHead(status, { 'content-type': json, 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy())
}

function sendOversized({ response, entry, settle }: Call, size: number): void {
  const { status } = settle()
  entry.status = status
  response.writeHead(status, { 'content-type': json })
  pipeline(Readable.from(filler(size)), response).catch(() => response.destroy())
}

function* filler(size: number): Generator<Buffer> {
  const [head, tail] = [Buffer.from('{"padding":"'), Buffer.from('"}')]
  yield head
  const chunk = Buffer.alloc(65_536, 'x')
  for (let rest = size - head.length - tail.length; rest > 0; rest -= chunk.length)
    yield chunk.subarray(0, Math.min(rest, chunk.length))
  yield tail
}

function sendText(
  response: ServerResponse,
  entry: OpenEntry | null,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  if (entry !== null) entry.status = status
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
}
