import { createServer } from 'node:http'
import { openAccount } from '../../src/sandbox/account.ts'
import { quickAnswers } from './answers.ts'

/**
 * The service as far as a benchmark of throughput needs it, as quick as Node can be: web searches with ten results of
 * about 8 KB and a usage record without limits, in a process of its own. Arguments: latency in milliseconds; `new` where
 * no title, link or snippet is ever to come twice.
 */
const latencyMs = Number(process.argv[2] ?? 0)
const answerTo = quickAnswers(process.argv[3] === 'new')
const account = openAccount({ subscription: { total: 100_000_000 } }, Date.now())

const server = createServer((request, response) => {
  const { url = '' } = request
  const body = url.startsWith('/v1/usage') ? usage() : nextAnswer(url)
  const send = (): void => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  }
  if (latencyMs === 0) send()
  else setTimeout(send, latencyMs)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : null)
})
process.on('disconnect', () => process.exit())

function nextAnswer(url: string): Buffer {
  account.subscription.used += 1
  return answerTo(url)
}

function usage(): Buffer {
  return Buffer.from(JSON.stringify(account.usage(Date.now())))
}
