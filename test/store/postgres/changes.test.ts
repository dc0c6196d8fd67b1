import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalChange, JournalPosition } from '../../../src/store/shared/changes.ts'
import { hour, noon } from '../build.ts'
import { aCall, aJournal, ended, heldOpen, leased, type TestJournal, theAnswer } from './journal.ts'

const reading = (key: string, at: number) => ({
  ...{ run: null, keyHash: key, askedAt: at, readAt: at, remaining: 10, totalUsed: 5, record: '{}' },
})

/** Reads to the end in steps of so many rows. */
async function readAll({ changes }: TestJournal, most: number, from: JournalPosition | null = null) {
  const read: JournalChange[] = []
  let position = from
  for (let more = true; more; ) {
    const batch = await changes.after(position, most)
    read.push(...batch.changes)
    position = batch.position
    more = batch.more
  }
  return { read, position: position as JournalPosition }
}

test('what a slow transaction commits late is not skipped', async () => {
  const journal = await aJournal()
  await journal.calls.saveUsage(reading('before', noon))
  const insert = `INSERT INTO rankline.readings (key_hash, asked_at, read_at, record) VALUES ($1, $2, $2, '{}')`
  const first = await heldOpen(journal, insert, ['slow', noon], async () => {
    await journal.calls.saveUsage(reading('quick', noon))
    return await readAll(journal, 100)
  })

  const second = await readAll(journal, 100, first.position)

  const keys = ({ read }: typeof first) =>
    read.map((change) => (change.kind === 'reading' ? change.reading.keyHash : change.kind))
  expect(keys(first)).toEqual(['before'])
  expect(keys(second).sort()).toEqual(['quick', 'slow'])
})

test('however small the steps of a reader are, it reads the same changes', async () => {
  const journal = await aJournal()
  const { leases } = await leased(journal, { chunks: 4 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(3), fc.constantFrom('answered', 'server-error', 'open')), { maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (calls, most) => {
        for (const [which, outcome] of calls) {
          const lease = leases[which] as (typeof leases)[0]
          const call = aCall(lease)
          await journal.calls.begin(lease, call)
          if (outcome === 'answered')
            await journal.calls.answer(call, ended('answered'), theAnswer(call, randomUUID()))
          else if (outcome === 'server-error') await journal.calls.settle(call, ended('server-error'))
        }
        const whole = await readAll(journal, 100_000)
        const steps = await readAll(journal, most)
        const sorted = ({ read }: typeof whole) => read.map((change) => JSON.stringify(change)).sort()
        expect(sorted(steps)).toEqual(sorted(whole))
      },
    ),
    { numRuns: 15 },
  )
})

test('a call comes when it is settled, and again when that turns out otherwise', async () => {
  const journal = await aJournal()
  const { lease } = await leased(journal)
  const call = aCall(lease)
  await journal.calls.begin(lease, call)
  const inFlight = await readAll(journal, 100)
  await journal.sql(`UPDATE rankline.chunks SET leased_until = clock_timestamp() - interval '1 ms'`)
  await journal.chunks.takeBack(10)
  const lost = await readAll(journal, 100, inFlight.position)
  await journal.calls.answer(call, ended('answered'), theAnswer(call))
  const late = await readAll(journal, 100, lost.position)

  const outcomes = ({ read }: typeof lost) =>
    read.flatMap((change) => (change.kind === 'call' ? [change.call.settlement?.outcome] : []))
  expect([inFlight, lost, late].map(outcomes)).toEqual([[], ['ambiguous'], ['answered']])
  expect(late.read.map(({ kind }) => kind)).toEqual(['call', 'answer'])
})

test('bodies are dropped when they are old and all readers have them; forgotten readers do not count', async () => {
  const journal = await aJournal()
  const { lease } = await leased(journal)
  const [old, young] = [aCall(lease), aCall(lease, { page: 2 })]
  for (const [call, at] of [
    [old, Date.now() - 3 * hour],
    [young, Date.now()],
  ] as const) {
    await journal.calls.begin(lease, call)
    await journal.calls.answer(call, ended('answered'), theAnswer(call, 'body', at))
  }
  const dropped = async (forgetAfterMs = hour) => await journal.changes.dropRead(2 * hour, forgetAfterMs)
  const [quick, slow] = ['quick', 'slow'].map((name) => ({ id: randomUUID(), name }))
  expect(await dropped()).toBe(0)
  const { position } = await readAll(journal, 100)
  await journal.changes.reached(quick as { id: string; name: string }, position)
  await journal.changes.reached(slow as { id: string; name: string }, '0')
  expect(await dropped()).toBe(0)
  await journal.sql(`UPDATE rankline.readers SET seen_at = seen_at - interval '2 hours' WHERE name = 'slow'`)

  expect(await dropped()).toBe(1)

  const { read } = await readAll(journal, 100)
  const answers = read.flatMap((change) => (change.kind === 'answer' ? [change.answer.call] : []))
  expect(answers).toEqual([young.id])
})
