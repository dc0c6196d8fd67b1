import { expect, test } from 'vitest'
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import { aStore, hour, noon } from './build.ts'

test('of all processes that want a slot, one takes it; another job has slots of its own', async () => {
  const { store, path } = await aStore()
  await using other = await openStore(path)
  const tries = await Promise.all(
    [store, other, store, other].map((one) => one.takeSlot('acme', noon, noon + 1)),
  )
  expect(tries.filter((taken) => taken)).toHaveLength(1)
  expect(await other.takeSlot('acme', noon + hour, noon + hour)).toBe(true)
  expect(await other.takeSlot('rival', noon, noon)).toBe(true)
})

test('a slot says what became of it, and those of killed processes say that', async () => {
  const { store, path } = await aStore()
  for (const slotAt of [noon, noon + hour, noon + 2 * hour]) await store.takeSlot('acme', slotAt, slotAt + 5)
  await store.noteSlotRun('acme', noon + hour, 7)
  await store.endSlot('acme', noon, { outcome: 'nothing-due', runId: null, reason: null })
  await store.endKilledSlots('acme', noon + 2 * hour)

  const nothingDue = {
    job: 'acme',
    slotAt: noon,
    takenAt: noon + 5,
    runId: null,
    outcome: 'nothing-due',
    reason: null,
  }
  const killed = {
    ...{ job: 'acme', slotAt: noon + hour, takenAt: noon + hour + 5, runId: 7, outcome: 'skipped' },
    reason: 'The process that ran it was killed.',
  }
  const open = {
    job: 'acme',
    slotAt: noon + 2 * hour,
    takenAt: noon + 2 * hour + 5,
    runId: null,
    outcome: null,
    reason: null,
  }
  await using reader = await openReader(path)
  expect(await reader.slots('acme', 9)).toEqual([open, killed, nothingDue])
  expect(await reader.slots('acme', 1)).toEqual([open])
  expect(await reader.slotIn('acme', noon - hour, noon + hour)).toEqual(killed)
  expect(await reader.slotIn('acme', noon + 1, noon + hour - 1)).toBeNull()
  expect(await reader.slots('rival', 9)).toEqual([])
})
