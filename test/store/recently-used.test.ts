import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recentlyUsed } from '../../src/store/sqlite/results/recently-used.ts'

test('what is used again stays, what is not is forgotten', () => {
  const known = recentlyUsed<string, number>(4)
  known.set('often', 1)
  known.set('once', 2)
  for (let other = 0; other < 20; other++) {
    known.set(`other ${other}`, other)
    expect(known.get('often')).toBe(1)
  }
  expect(known.get('once')).toBeUndefined()
})

test('large entries take the room of many small ones', () => {
  const known = recentlyUsed<string, string>(100, (_, text) => text.length)
  known.set('a', 'small')
  known.set('b', 'x'.repeat(50))
  expect(known.get('a')).toBe('small')
  known.set('c', 'x'.repeat(50))
  known.set('d', 'x'.repeat(50))
  expect(known.get('a')).toBeUndefined()
  expect(known.get('d')).toBeDefined()
})

test('an entry is what was set last, or forgotten; half of the room is never forgotten', () => {
  const use = fc.record({ key: fc.nat({ max: 7 }), value: fc.option(fc.nat()) })
  fc.assert(
    fc.property(fc.array(use, { maxLength: 200 }), (uses) => {
      const most = 10
      const known = recentlyUsed<number, number>(most)
      const set = new Map<number, number>()
      let recent: number[] = []
      for (const { key, value } of uses) {
        if (value === null) {
          const found = known.get(key)
          if (recent.includes(key)) expect(found).toBe(set.get(key))
          else expect([undefined, set.get(key)]).toContain(found)
          if (found === undefined) continue
        } else {
          known.set(key, value)
          set.set(key, value)
        }
        recent = [...recent.filter((one) => one !== key), key].slice(-most / 2)
      }
    }),
  )
})

test('an entry that is set again takes no more room', () => {
  const known = recentlyUsed<string, number>(4)
  known.set('a', 1)
  for (let value = 0; value < 20; value++) known.set('b', value)
  expect([known.get('a'), known.get('b')]).toEqual([1, 19])
})

test('nothing is left once it is cleared', () => {
  const known = recentlyUsed<string, number>(4)
  for (const key of ['a', 'b', 'c']) known.set(key, 1)
  known.clear()
  for (const key of ['a', 'b', 'c']) expect(known.get(key)).toBeUndefined()
})
