import type { IncomingMessage, ServerResponse } from 'node:http'
import { UsageError } from '../errors.ts'
import type { Box } from './box.ts'
import { applyChange } from './control.ts'
import { send } from './deliver.ts'
import { jsonObject, readBody, readTarget } from './incoming.ts'
import { badRequest, errorReply, type Reply } from './reply.ts'

/** Where other processes steer the sandbox and read its ledger: no key, no meter, no ledger entry. */
export const controlPrefix = '/_sandbox/'

/** Answers a request below the control prefix. */
export async function serveControl(
  box: Box,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) return
  const { path, params } = readTarget(request.url ?? '')
  const route = `${request.method} ${path.slice(controlPrefix.length)}`
  if (route === 'POST control')
    return send(response, null, body === null ? errorReply(413) : changed(box, body))
  if (route === 'GET ledger')
    return send(response, null, { status: 200, body: ledgerOf(box, 'summary' in params) })
  send(response, null, errorReply(404))
}

function changed(box: Box, body: Buffer): Reply {
  const change = jsonObject(body)
  if (change === undefined) return badRequest('the body is no JSON object')
  try {
    applyChange(box, change)
  } catch (error) {
    if (error instanceof UsageError) return badRequest(error.message)
    throw error
  }
  return { status: 200, body: { now: new Date(box.worldClock.now()).toISOString() } }
}

function ledgerOf(box: Box, summaryOnly: boolean): object {
  const { ledger } = box.books
  const summary = ledger.summary()
  return summaryOnly ? summary : { ...summary, requests: ledger.requests }
}
