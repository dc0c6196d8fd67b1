import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyHash } from '../../../src/run/config.ts'
import { keyLock, tryLock } from '../../../src/store/sqlite/connection/lock.ts'
import { queriesCsv } from '../../support/rankline.ts'
import { waitWhile } from '../staged.ts'
import { machines } from './machines.ts'

test('a run that was begun alone is not continued by machines, nor the other way round', async () => {
  const { sandbox, queue, host } = await machines()
  const place = await host()
  await place.file('job.yaml', `budget: { max_credits: 2 }\nqueries: [a, b, c, d]\n`)
  expect((await place.call(['run', 'job.yaml'])).code).toBe(4)
  await place.file('job.yaml', 'queries: [a, b, c, d]\n')

  const refused = await place.call(['run', 'job.yaml'], queue)

  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('was begun without the queue. Finish it without --queue')
  expect(sandbox.ledger.charged).toBe(2)
})

test('a process of a queue and one without it never collect with one key on one machine at once', async () => {
  const { sandbox, queue, host, workerProcess } = await machines({ latencyMs: 30 })
  const place = await host()
  await place.file('job.csv', queriesCsv(3))
  const { child, ended } = await workerProcess()
  const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
  await waitWhile(() => isFree(lock))

  const refused = await place.call(['run', 'job.csv', '--wait', '0'])

  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining('it works for a queue') })
  child.kill('SIGTERM')
  await ended
  expect(await place.call(['run', 'job.csv', '--wait', '0'])).toMatchObject({ code: 0 })
  expect(await place.call(['worker', '--once'], queue)).toMatchObject({ code: 0 })
})

test('a worker with nothing to do ends at once with --once, and with 0 at SIGTERM', async () => {
  const { queue, host } = await machines()
  const place = await host()
  expect(await place.call(['worker', '--once'], queue)).toMatchObject({ code: 0 })
  const { child, ended } = place.start(['worker', '--health', '0', '--metrics-file', 'worker.prom'], queue)
  let said = ''
  child.stderr?.on('data', (text: string) => {
    said += text
  })
  await waitWhile(() => !said.includes('Health: '))
  const health = await fetch(/Health: (\S+)/.exec(said)?.[1] as string)

  expect(await health.json()).toMatchObject({ status: 'ok', chunks: 0, chunks_done: 0 })
  // Written when the worker is at its work.
  await waitWhile(() => !existsSync(join(place.folder, 'worker.prom')))
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  expect(await place.read('worker.prom')).toContain('rankline_worker_connected 1\n')
})

test('a key that the service refuses ends run and worker with 5, and nothing is charged', async () => {
  const { sandbox, queue, host } = await machines()
  const place = await host()
  await place.file('job.csv', queriesCsv(3))

  const wrong = { ...queue, RANKLINE_API_KEY: 'wrong-key' }
  expect(await place.call(['run', 'job.csv'], wrong)).toMatchObject({ code: 5 })
  const { code, stderr } = await place.call(['worker'], wrong)
  expect(stderr).toMatch(/^The service refused the key \([^\n]+\)\. Check RANKLINE_API_KEY\.\n$/)
  expect(code).toBe(5)
  expect(sandbox.ledger.charged).toBe(0)
})

test('a search makes its call itself, beside the workers of the queue', async () => {
  const { sandbox, queue, host, workerProcess } = await machines()
  const { child } = await workerProcess()
  const place = await host()
  const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
  await waitWhile(() => isFree(lock))

  expect(await place.call(['search', 'alpha.search', 'desk', '--wait', '0'], queue)).toMatchObject({
    code: 0,
  })
  expect(sandbox.ledger.charged).toBe(1)
  expect(place.sql('SELECT credits_spent FROM runs')).toEqual([{ credits_spent: 1 }])
  expect(child.exitCode).toBe(null)
})

/** Whether nobody holds a lock. The name of its last owner does not tell: it stays, and ports come again. */
function isFree(lock: string): boolean {
  const mine = tryLock(lock)
  mine?.release()
  return mine !== null
}
