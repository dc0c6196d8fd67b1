import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'
import { spokenOrEnded } from '../support/turns.ts'
import { staged, waitWhile } from './staged.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test('a second process waits its turn; with --wait 0 it exits 7 and has sent nothing; reports run beside', async () => {
  const { sandbox, place } = await staged({ latencyMs: 2_000 })
  const a = await place.file('a.csv', queriesCsv(8, 'first'))
  const b = await place.file('b.csv', queriesCsv(5, 'second'))
  const first = place.start(['run', a, '--concurrency', '2'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)

  const refused = await place.call(['run', b, '--wait', '0'])
  const listed = await place.call(['runs', '--json'])
  const search = await place.call(['search', 'alpha.search', 'x', '--wait', '0'])
  const next = place.start(['run', b])
  await spokenOrEnded(next)
  sandbox.control({ latencyMs: 0 })
  const waiting = await next.ended

  expect(refused).toMatchObject({ code: 7, stdout: '' })
  expect(refused.stderr).toContain(`process ${first.child.pid}`)
  expect(search.code).toBe(7)
  expect(JSON.parse(listed.stdout)).toMatchObject([{ job: 'a', status: 'running' }])
  expect((await first.ended).code).toBe(0)
  expect(waiting.code).toBe(0)
  expect(waiting.stderr).toContain('Waiting')
  const sent = sandbox.ledger.requestsFor(isSearch).map(({ params }) => String(params.query).split(' ')[0])
  expect(sent).toEqual([...Array(8).fill('first'), ...Array(5).fill('second')])
})

test('the same job from two shells: the second says that it is finished by then, and buys it again', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 2_000 }, 8)
  const first = place.start(['run', job, '--concurrency', '2'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)
  const second = place.start(['run', job])
  await spokenOrEnded(second)
  sandbox.control({ latencyMs: 0 })

  expect((await first.ended).code).toBe(0)
  const { code, stderr } = await second.ended
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^Waiting .*\njob is already finished for today \(run 1\)\. This run buys it again, for 8 credits\. To buy only /m,
  )
  expect(sandbox.ledger.charged).toBe(16)
})

test('the turn of a killed process is over at once', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 500 }, 8)
  const { child, ended } = place.start(['run', job, '--concurrency', '2'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)
  child.kill('SIGKILL')
  await ended
  sandbox.control({ latencyMs: 0 })

  expect((await place.call(['run', job, '--wait', '0'])).code).toBe(0)
})

test('a database reached by a symbolic link, with another TMPDIR and another key, is the same database', async () => {
  await using sandbox = await startSandbox({ latencyMs: 2_000 })
  await using other = await startSandbox({ key: 'another-key' })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(8))
  const { ended } = place.start(['run', job, '--concurrency', '2'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)
  await place.file('elsewhere/tmp/file', '')
  await symlink(join(place.folder, 'data/rankline.db'), join(place.folder, 'elsewhere/link.db'))

  const linked = ['run', job, '--db', 'elsewhere/link.db', '--wait', '0']
  const second = await place.call(linked, { TMPDIR: join(place.folder, 'elsewhere/tmp') })
  const third = await place.call(linked, { RANKLINE_BASE_URL: other.url, RANKLINE_API_KEY: 'another-key' })
  sandbox.control({ latencyMs: 0 })

  expect(second).toMatchObject({ code: 7, stdout: '' })
  expect(third).toMatchObject({ code: 7, stdout: '' })
  expect(other.ledger.charged).toBe(0)
  expect((await ended).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(8)
})

test('two databases with one key take turns, too; another key does not wait', async () => {
  await using sandbox = await startSandbox({ latencyMs: 2_000 })
  await using other = await startSandbox({ key: 'another-key' })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(8))
  const { ended } = place.start(['run', job, '--concurrency', '2'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 2)

  const sameKey = await place.call(['run', job, '--db', 'data/second.db', '--wait', '0'], {
    TMPDIR: join(place.folder, 'data'),
  })
  const otherKey = await place.call(['run', job, '--db', 'data/third.db', '--wait', '0'], {
    RANKLINE_BASE_URL: other.url,
    RANKLINE_API_KEY: 'another-key',
  })
  sandbox.control({ latencyMs: 0 })

  expect(sameKey.code).toBe(7)
  expect(otherKey.code).toBe(0)
  expect((await ended).code).toBe(0)
})
