import { createWriteStream } from 'node:fs'
import PQueue from 'p-queue'

/**
 * What a script does that somebody writes in an afternoon: `fetch`, so many at once, and a line of JSON appended for each
 * result. It forgets in a crash what it paid for. Arguments: address, calls, file.
 */
const [origin = '', calls = '0', path = ''] = process.argv.slice(2)
const out = createWriteStream(path)
const queue = new PQueue({ concurrency: 64 })

async function call(id: number): Promise<void> {
  const response = await fetch(`${origin}/v1/alpha/search?query=${encodeURIComponent(`query ${id}`)}`, {
    headers: { 'x-api-key': 'bench' },
  })
  const { organic_results: items } = (await response.json()) as { organic_results: readonly object[] }
  for (const item of items) out.write(`${JSON.stringify({ query: id, ...item })}\n`)
}

for (let id = 1; id <= Number(calls); id++) void queue.add(() => call(id))
await queue.onIdle()
await new Promise((done) => out.end(done))
