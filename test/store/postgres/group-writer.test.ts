import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Postgres } from '../../../src/store/postgres/connection.ts'
import { groupWriter } from '../../../src/store/postgres/group-writer.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

/** A writer whose groups end when they are told to. */
function writer() {
  const groups: (readonly string[])[] = []
  const ends: (() => void)[] = []
  const group = groupWriter<string, string>({} as Postgres, async (_, entries) => {
    groups.push(entries)
    await new Promise<void>((resolve) => ends.push(resolve))
    return entries.map((entry) => `${entry} is written`)
  })
  const end = async (): Promise<void> => {
    await turn()
    ends.shift()?.()
    await turn()
  }
  return { ...group, groups, end }
}

test('What comes while a group is written makes the next one', async () => {
  const { write, groups, end } = writer()
  const written = ['a', 'b'].map(write)
  await turn()
  written.push(write('c'), write('d'))
  await end()
  await end()
  expect(groups).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  expect(await Promise.all(written)).toEqual(['a', 'b', 'c', 'd'].map((entry) => `${entry} is written`))
})

test('What may be written later goes with what comes next', async () => {
  const { write, writeLater, groups, end } = writer()
  void writeLater('later')
  await turn()
  expect(groups).toEqual([])
  void write('now')
  await turn()
  void writeLater('much later')
  await end()
  await end()
  expect(groups).toEqual([['later', 'now']])
  void write('next')
  await end()
  expect(groups.at(-1)).toEqual(['much later', 'next'])
})

test('What may be written later is written when nothing else comes, and at once where all is waited for', async () => {
  const { writeLater, idle, groups, end } = writer()
  void writeLater('alone')
  vi.advanceTimersByTime(1_000)
  await end()
  expect(groups).toEqual([['alone']])
  void writeLater('awaited')
  const isIdle = idle()
  await end()
  await isIdle
  expect(groups.at(-1)).toEqual(['awaited'])
})
