import { describe, expect, test } from 'vitest'
import { type Departure, latestMs, openLateness } from '../../src/api/lateness.ts'
import { draws } from './draws.ts'

/** Requests that leave at these instants and are answered after these milliseconds; null is not yet. */
interface Sending {
  readonly at: number
  readonly latency: number | null
  readonly kind?: string
}

/** How late each of them arrived, as seen at an instant when all answers that come have come. */
function latenessOf(sendings: readonly Sending[], seenAt = 1_000_000): readonly number[] {
  let now = 0
  const lateness = openLateness({ monotonic: () => now })
  const sent = sendings.map(({ at, kind = 'search' }): Departure => ({ at, kind, answer: null }))
  const answers = sendings
    .flatMap(({ at, latency }, index) => (latency === null ? [] : [{ index, instant: at + latency }]))
    .sort((a, b) => a.instant - b.instant)
  for (const { index, instant } of answers) {
    now = instant
    lateness.answered(sent[index] as Departure)
  }
  now = seenAt
  return sent.map((_, index) => lateness.of(sent, index))
}

/** Bursts of ten, a second apart, in which answers take 20 to 200 ms in an order that mixes slow and fast. */
function usual(bursts: number): readonly Sending[] {
  const mixed = [110, 20, 180, 60, 140, 40, 200, 80, 160, 100]
  return Array.from({ length: bursts }, (_, burst) =>
    mixed.map((latency, index) => ({ at: burst * 1000 + index, latency })),
  ).flat()
}

/** What the last ones came to, after five usual bursts. */
function afterUsual(sendings: readonly Sending[], seenAt?: number): readonly number[] {
  return latenessOf([...usual(5), ...sendings.map((one) => ({ ...one, at: 5000 + one.at }))], seenAt).slice(
    50,
  )
}

const burst = (latencies: readonly (number | null)[]): readonly Sending[] =>
  latencies.map((latency, at) => ({ at, latency }))

describe('nothing is said of', () => {
  test('usual answers', () => {
    expect(afterUsual(usual(5))).toEqual(Array(50).fill(0))
  })

  test('seven slow ones in a row', () => {
    expect(afterUsual(burst([20, 190, 190, 190, 190, 190, 190, 190, 20]))).toEqual(Array(9).fill(0))
  })

  test('eight slow ones in a row that left too far apart to be held up by the same thing', () => {
    const apart = Array.from({ length: 8 }, (_, index) => ({ at: index * 60, latency: 190 }))
    expect(afterUsual(apart)).toEqual(Array(8).fill(0))
  })

  test('answers that have not come, but still may come as soon as others did', () => {
    expect(afterUsual(burst([null, null]), 5_200)).toEqual([0, 0])
  })

  test('slow ones of a kind that always is, once that is known', () => {
    const slow = Array.from({ length: 60 }, (_, at) => ({ at: at * 300, latency: 900, kind: 'ai' }))
    const all = [...usual(5), ...slow].sort((a, b) => a.at - b.at)
    const late = latenessOf(all).filter((_, index) => all[index]?.kind === 'ai')
    expect(late.slice(40)).toEqual(Array(20).fill(0))
  })
})

describe('as late as they can be are', () => {
  test('an answer that is slower than almost all others: by what it took longer than the fastest', () => {
    expect(afterUsual(burst([100, 290, 100]))).toEqual([0, 270, 0])
  })

  test('eight in a row that are all slower than a good third: by what the fastest of them took longer', () => {
    expect(afterUsual(burst([20, 130, 140, 150, 130, 140, 150, 120, 150, 20]))).toEqual([
      0,
      ...Array(8).fill(100),
      0,
    ])
  })

  test('each of more than eight by the eight that say most of it', () => {
    const [first, ...others] = afterUsual(burst([110, 150, 150, 150, 150, 150, 150, 150, 150]))
    expect([first, ...new Set(others)]).toEqual([90, 130])
  })

  test('a request whose answer already takes longer than all others, more so from moment to moment', () => {
    expect(afterUsual(burst([null]), 5_201)).toEqual([181])
    expect(afterUsual(burst([null]), 5_300)).toEqual([280])
  })

  test('all while few are answered, but not those that have not been', () => {
    expect(latenessOf(burst([20, 150, 30, null]))).toEqual([0, 130, 10, 0])
  })

  test('the first of a kind, by what they took longer than the fastest of any kind', () => {
    const lookup = { at: 0, latency: 5, kind: 'usage' }
    expect(latenessOf([lookup, { at: 10, latency: 130 }, { at: 11, latency: 105 }])).toEqual([0, 125, 100])
  })

  test('none by more than half a second', () => {
    expect(latestMs).toBe(500)
    expect(afterUsual(burst([9_000, null]), 90_000)).toEqual([500, 500])
  })
})

test('a request that was refused long ago is not waited for as if its answer were slow', () => {
  let now = 0
  const lateness = openLateness({ monotonic: () => now })
  const sent = Array.from({ length: 41 }, (): Departure => ({ at: 0, kind: 'search', answer: null }))
  const [last, ...others] = sent as [Departure, ...Departure[]]
  now = 100
  for (const one of others) lateness.answered(one)
  now = 300
  expect(lateness.of(sent, 0)).toBe(200)
  lateness.refused(last)
  expect(lateness.of(sent, 0)).toBe(0)
})

describe.each([
  ['evenly spread', (draw: number) => 20 + 180 * draw],
  ['alike', (draw: number) => 50 + 2 * draw],
  ['spread to one side', (draw: number) => 100 - 60 * Math.log(1 - draw)],
])('where answers are %s and nothing is late', (_, latency) => {
  test('chance costs less than 20 ms of each window', () => {
    const draw = draws()
    const sendings = Array.from({ length: 4_000 }, (_, index) => ({
      at: Math.floor(index / 40) * 1000 + (index % 40) / 10,
      latency: latency(draw()),
    }))
    const late = latenessOf(sendings)
    expect(late.reduce((sum, one) => sum + one, 0) / late.length).toBeLessThan(20)
  })
})
