import PQueue from 'p-queue'
import { Pool } from 'undici'

/**
 * A script that keeps the rate by p-queue's `intervalCap`. A refused call is not repeated.
 * Arguments: address, calls, calls per second, `fixed` or `strict`.
 */
const [origin = '', calls = '0', perSecond = '0', mode = 'fixed'] = process.argv.slice(2)
const queue = new PQueue({ intervalCap: Number(perSecond), interval: 1_000, strict: mode === 'strict' })
const pool = new Pool(origin, { connections: 256, pipelining: 1 })

async function call(id: number): Promise<void> {
  const { body } = await pool.request({
    method: 'GET',
    path: `/v1/alpha/search?query=${encodeURIComponent(`query ${id}`)}`,
    headers: { 'x-api-key': 'bench' },
  })
  await body.json()
}

for (let id = 1; id <= Number(calls); id++) void queue.add(() => call(id))
await queue.onIdle()
await pool.close()
