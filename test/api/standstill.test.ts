import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openHttpClient } from '../../src/api/http.ts'

/** A service in a thread of its own, which goes on while this one stands still. It answers after some time. */
async function service(afterMs: number) {
  const done = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(
    `const { createServer } = require('node:net')
    const { parentPort, workerData: { done, afterMs } } = require('node:worker_threads')
    const tell = (what) => { Atomics.add(done, what, 1); Atomics.notify(done, what) }
    createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => {
        tell(0)
        const answer = 'HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\nkeep-alive: timeout=5\\r\\n\\r\\nok'
        setTimeout(() => socket.write(answer, () => tell(1)), afterMs)
      })
    }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })`,
    { eval: true, workerData: { done, afterMs } },
  )
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = await once(worker, 'message')
  return {
    origin: `http://127.0.0.1:${port}`,
    requests: () => done[0],
    standUntilAnswered: () => Atomics.wait(done, 1, 0, 10_000),
  }
}

test('an answer that came while the process stood still beyond its deadline is taken', async () => {
  const there = await service(50)
  const { origin } = there
  const client = openHttpClient({
    origin,
    apiKey: 'canary-key-0123456789',
    connections: 1,
    timeoutMs: 200,
    userAgent: 'rankline/test',
  })
  onTestFinished(() => client.close())
  const began = performance.now()
  const answer = client.exchange({ method: 'GET', origin, path: '/v1/usage', body: null }, () => {})
  await vi.waitUntil(() => there.requests() === 1, { interval: 1 })
  // After an immediate timers are next, before anything is read.
  setImmediate(() => {
    there.standUntilAnswered()
    while (performance.now() - began < 250);
  })

  expect(await answer).toMatchObject({ status: 200 })
})
