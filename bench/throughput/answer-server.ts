import { createServer } from 'node:http'
import { billableOperation } from '../../src/catalog/index.ts'
import { openAccount } from '../../src/sandbox/account.ts'
import { usageRecord } from '../../src/sandbox/usage-record.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'

/**
 * The service as far as a benchmark of throughput needs it, as quick as Node can be: web searches with ten results of
 * about 8 KB and a usage record without limits, in a process of its own. Arguments: latency in milliseconds; `new` where
 * no title or link is ever to come twice.
 */
const latencyMs = Number(process.argv[2] ?? 0)
const isNew = process.argv[3] === 'new'
/** Answers are made ahead, so that the time is the client's. */
const variety = 500
/** Stands in them where the number of the call is to be written. */
const mark = '########'
const account = openAccount({ subscription: { total: 100_000_000 } }, Date.now())
const answersOfPage = new Map<number, readonly Answer[]>()
let calls = 0

interface Answer {
  readonly body: Buffer
  readonly marks: readonly number[]
}

const server = createServer((request, response) => {
  const body = request.url?.startsWith('/v1/usage') ? usage() : nextAnswer(request.url ?? '')
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
  const page = Number(/[?&]page=(\d+)/.exec(url)?.[1] ?? 1)
  const answers = answersOfPage.get(page) ?? madeAnswers(page)
  answersOfPage.set(page, answers)
  const { body, marks } = answers[calls++ % variety] as Answer
  if (marks.length === 0) return body
  const numbered = Buffer.from(body)
  for (const at of marks) numbered.write(String(calls).padStart(mark.length, '0'), at, 'latin1')
  return numbered
}

function madeAnswers(page: number): readonly Answer[] {
  const world = createWorld('throughput', ['acme.example'])
  const asked = { style: 'get', params: { gl: 'us', hl: 'en' }, page, isAsync: false } as const
  return Array.from({ length: variety }, (_, number) => {
    const answer = world(
      billableOperation('alpha.search'),
      { ...asked, query: `query ${number}` },
      { now: Date.UTC(2026, 0, 1), pages: 'even', positions: 'restart' },
    ) as {
      organic_results: { title: string; link: string; snippet: string }[]
      related_searches?: unknown
    }
    // Ten results, as the other contenders store them, and nothing besides.
    delete answer.related_searches
    const text = JSON.stringify(answer)
    const missing = Math.max(0, 8_000 - text.length) / answer.organic_results.length
    for (const result of answer.organic_results)
      result.snippet += ` ${'and so on '.repeat(missing / 10)}`.trimEnd()
    if (isNew)
      for (const result of answer.organic_results) {
        result.title += ` ${mark}`
        result.link += `?${mark}`
      }
    const body = Buffer.from(JSON.stringify(answer))
    return { body, marks: marksIn(body) }
  })
}

function marksIn(body: Buffer): readonly number[] {
  const marks: number[] = []
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) marks.push(at)
  return marks
}

function usage(): Buffer {
  account.subscription.used = calls
  return Buffer.from(JSON.stringify(usageRecord(account, Date.now())))
}
