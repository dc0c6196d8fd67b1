import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { JournalUnreachable } from '../../../src/machines/journal.ts'
import { groupWriter } from '../../../src/machines/postgres/calls.ts'
import type { Postgres } from '../../../src/machines/postgres/connection.ts'

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

test('What may be written later is written in the time of the one that has least of it', async () => {
  const { writeLater, groups, end } = writer()
  void writeLater('has a second', 1_000)
  void writeLater('has less', 60)
  void writeLater('has two', 2_000)
  vi.advanceTimersByTime(59)
  await end()
  expect(groups).toEqual([])
  vi.advanceTimersByTime(1)
  await end()
  expect(groups).toEqual([['has a second', 'has less', 'has two']])
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

test('Nothing more is written where all that is waited for is in the group that is written', async () => {
  const { write, idle, groups, end } = writer()
  void write('last')
  await turn()
  const isIdle = idle()
  await end()
  await end()
  await isIdle
  expect(groups).toEqual([['last']])
})

/** A database that takes so many entries at once, and never one that is called bad. */
function narrow({ most, fails }: { most: number; fails: () => Error }) {
  const tries: number[] = []
  const written: string[] = []
  const group = groupWriter<string, string>({} as Postgres, async (_, entries) => {
    tries.push(entries.length)
    if (entries.length > most || entries.includes('bad')) throw fails()
    written.push(...entries)
    return entries
  })
  return { ...group, tries, written }
}

test('What is too much for one statement is written in smaller ones, and what came meanwhile goes with it', async () => {
  const { write, tries, written } = narrow({
    most: 3,
    fails: () => new JournalUnreachable('canceling statement due to statement timeout'),
  })
  const all = Array.from({ length: 9 }, (_, index) => `${index}`)
  const done = Promise.all(all.map(write))
  for (let turns = 0; turns < 20; turns++) {
    await turn()
    await vi.advanceTimersByTimeAsync(2_000)
  }
  expect(await done).toEqual(all)
  expect(written).toEqual(all)
  expect(tries.slice(0, 3)).toEqual([9, 4, 2])
})

test('One entry that cannot be written keeps no other one out', async () => {
  const { write, written } = narrow({ most: 256, fails: () => new TypeError('no such value') })
  const all = Array.from({ length: 20 }, (_, index) => (index === 13 ? 'bad' : `${index}`))
  const done = await Promise.allSettled(all.map(write))
  expect(done.flatMap(({ status }, index) => (status === 'rejected' ? [all[index]] : []))).toEqual(['bad'])
  expect(written).toEqual(all.filter((one) => one !== 'bad'))
})

test('What still waits when the process ends is rejected, and nothing is taken any more', async () => {
  const { write, writeLater, abandon } = narrow({ most: 0, fails: () => new JournalUnreachable('gone') })
  const done = Promise.allSettled([write('one'), writeLater('two')])
  await turn()
  abandon()
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await done).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(write('three')).rejects.toThrow('the process ends')
})
