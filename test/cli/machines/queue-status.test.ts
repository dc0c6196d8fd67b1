import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  aChunk,
  aSharedRun,
  released,
  type TestJournal,
  withJournal,
} from '../../machines/postgres/journal.ts'
import { workspace } from '../../support/rankline.ts'

let journal: TestJournal
withJournal((opened) => {
  journal = opened
})

test('queue status tells problems first, then runs, workers and readers; queue retry brings back dead chunks', async () => {
  await using place = await workspace()
  const queue = { RANKLINE_QUEUE: journal.url }
  const ask = async (...args: readonly string[]) => (await place.call(['queue', ...args], queue)).stdout
  expect(await ask('status')).toMatch(
    /^No problems\.\n\nUnfinished runs: none\n\nWorkers: none\n\nDatabases that read: none\n$/,
  )

  const keyHash = '0123456789abcdef'
  const run = aSharedRun({ keyHash })
  const [busy, silent] = [randomUUID(), randomUUID()]
  await released(journal, run, ...['a', 'b', 'c'].map((text) => aChunk([text], { mostCredits: 4 })))
  await journal.chunks.take(busy, [keyHash], 1, 60_000)
  await journal.sql(
    `UPDATE rankline.chunks SET state = 'dead' WHERE id = (SELECT max(id) FROM rankline.chunks)`,
  )
  for (const [id, name] of [
    [busy, 'host, process 1'],
    [silent, 'host, process 2'],
  ] as const)
    await journal.operations.seen({
      ...{ id, name, version: '0.1.0', keys: [keyHash], startedAt: 0, clockOffsetMs: 1_500 },
    })
  await journal.sql(
    `UPDATE rankline.workers SET seen_at = seen_at - interval '3 minutes' WHERE id = $1`,
    silent,
  )
  await journal.rates.refused(keyHash, Date.now(), 3_600_000)
  const { position } = await journal.changes.after(null, 1_000)
  await journal.changes.reached({ id: randomUUID(), name: 'host: /new.db' }, '0', 0)
  await journal.changes.reached({ id: randomUUID(), name: 'host: /old.db' }, position, 0)

  const lines = (await ask('status')).split('\n').map((line) => line.trim().split(/ {2,}/))
  expect(lines.slice(0, 3)).toEqual([
    ['acme: workers were lost over 1 chunk; try again: rankline queue retry'],
    ['host, process 2: not seen for 3 minutes'],
    ['key 01234567: the service refuses calls for their rate; all workers wait'],
  ])
  expect(lines).toContainEqual(['acme', '01234567', 'test', '0', '1', '1', '0', '0', '8', '0'])
  const ago = expect.stringMatching(/^\d+ s ago$/)
  expect(lines).toContainEqual(['host, process 1', '01234567', '0.1.0', '1', ago, '1.5 s'])
  expect(lines).toContainEqual(['host: /new.db', ago, 'yes'])
  expect(lines).toContainEqual(['host: /old.db', ago, 'no'])
  expect(JSON.parse(await ask('status', '--json'))).toMatchObject({
    runs: [
      {
        ...{ run: run.id, job: 'acme', coordinator: 'test', chunks: { released: 1, leased: 1, dead: 1 } },
        credits: { spent: 0, ambiguous: 0, reserved: 8 },
      },
    ],
    workers: [
      { worker: busy, chunks: 1, clock_ahead_ms: 1_500 },
      { worker: silent, chunks: 0 },
    ],
    keys: [{ key: keyHash, held_until: expect.any(String), remaining: null }],
    readers: [
      { name: 'host: /new.db', behind: true },
      { name: 'host: /old.db', behind: false },
    ],
  })

  expect(await ask('retry')).toMatch(/^1 chunk can be released again\./)
  expect(await ask('status')).not.toContain('queue retry')
})
