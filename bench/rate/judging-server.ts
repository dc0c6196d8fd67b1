import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccount } from '../../src/sandbox/account.ts'
import { slidingWindows } from '../../src/sandbox/state.ts'
import { mix, unit } from '../../src/sandbox/world/hash.ts'
import type { Judged, Judging } from './judging.ts'

/**
 * The service as far as a benchmark of its rate limit needs it, in a process of its own: it judges every call by its own
 * clock as the call arrives, refuses what is one too many in any sliding second or minute, and answers the others after a
 * time drawn at random, the same for every client. Argument: a `Judging` as JSON. What it saw is told when asked.
 */
const { limits, latencyMs, wayMs } = JSON.parse(process.argv[2] ?? '{}') as Judging
const windows = slidingWindows()
const account = openAccount({ subscription: { total: 1_000_000 }, ...limits }, Date.now())
let [passed, refused, calls] = [0, 0, 0]
let begun: number | null = null
let judged: Judged = { passed, refused, seconds: 0 }

const server = createServer(async (request, response) => {
  const call = calls++
  if (wayMs > 0) await sleep(wayMs * unit(mix(1, call)))
  const now = performance.now()
  if (!windows.admit(now, limits)) {
    refused += 1
    return answer(response, 401, { error: 'Rate limit exceeded for the API key: quota monthly' })
  }
  passed += 1
  account.subscription.used = passed
  begun ??= now
  if (request.url?.startsWith('/v1/usage')) return answer(response, 200, account.usage(Date.now()))
  // Lookups use up the limit, too; the last one, when everything is collected, waits for the last answer.
  judged = { passed, refused, seconds: (now - begun) / 1000 }
  const [least, most] = latencyMs
  await sleep(least + (most - least) * unit(mix(2, call)))
  // One list for all queries would be suspect.
  const link = `https://acme.example/desks/${call}`
  answer(response, 200, { organic_results: [{ ...result, link }], search_parameters: {} })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : null)
})
process.on('message', () => process.send?.({ ...judged, refused }))
process.on('disconnect', () => process.exit())

const result = {
  position: 1,
  title: 'Standing desks',
  domain: 'acme.example',
  displayed_link: 'acme.example › desks',
  snippet: 'Desks that go up and down.',
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
