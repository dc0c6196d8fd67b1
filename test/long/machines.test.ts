import { expect, test } from 'vitest'
import { playHistory } from '../support/history.ts'
import { type Trouble, troubles } from '../support/history-troubles.ts'
import { often } from '../support/long.ts'
import { seed } from '../support/seed.ts'

/** Each takes some twenty seconds, most of which it waits: two are played at a time. On a machine with much to do it takes minutes. */
const longestMs = 900_000
const histories = Number(process.env.RANKLINE_TEST_HISTORIES ?? often(10, 0))
/** Few histories may by chance lack one. */
const enough = 8

const happened = new Set<Trouble>()

// A history that fails is played again with RANKLINE_TEST_SEED and one history.
test.concurrent.each(Array.from({ length: histories }, (_, index) => seed + index))(
  'history %i of several machines: each page is bought once, within one limit, and the books agree',
  async (number) => {
    const played = await playHistory(number)
    for (const one of played.troubles) happened.add(one)
    expect(played.faults, played.troubles.join(', ')).toEqual([])
  },
  longestMs,
)

test.runIf(histories >= enough)('every kind of trouble has come about in these histories', () => {
  expect(troubles.filter((kind) => !happened.has(kind))).toEqual([])
})
