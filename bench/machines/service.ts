import { createServer, type ServerResponse } from 'node:http'
import { openAccount } from '../../src/sandbox/account.ts'
import { slidingWindows } from '../../src/sandbox/state.ts'
import { quickAnswers } from '../throughput/answers.ts'
import type { Seen, Service } from './seen.ts'

/**
 * The service as several machines see it, in a process of its own: answers of about 8 KB after a fixed time, and a limit
 * for all calls together, judged by its own clock as they arrive. Argument: a `Service` as JSON. What it saw since it was
 * asked last is told when asked.
 */
const { limits, latencyMs } = JSON.parse(process.argv[2] ?? '{}') as Service
const windows = slidingWindows()
const account = openAccount({ subscription: { total: 100_000_000 }, ...limits }, Date.now())
const answerTo = quickAnswers(false)
// Made now: else the first call would keep the service from all that come behind it for 0.4 s.
answerTo('/?page=1')
let arrivals: number[] = []
let refused = 0

const server = createServer((request, response) => {
  const { url = '' } = request
  const now = performance.now()
  if (!windows.admit(now, limits)) {
    refused += 1
    send(response, 401, Buffer.from('{"error":"Rate limit exceeded for the API key: quota monthly"}'))
  } else if (url.startsWith('/v1/usage'))
    send(response, 200, Buffer.from(JSON.stringify(account.usage(Date.now()))))
  else {
    arrivals.push(now)
    account.subscription.used += 1
    const body = answerTo(url)
    setTimeout(() => send(response, 200, body), latencyMs)
  }
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : null)
})
process.on('message', () => {
  const seen: Seen = { arrivals, refused }
  process.send?.(seen)
  arrivals = []
  refused = 0
})
process.on('disconnect', () => process.exit())

function send(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}
