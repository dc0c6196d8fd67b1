import { afterAll, beforeAll, expect, test } from 'vitest'
import { playHistory } from '../support/history.ts'
import { type TestPostgres, testPostgres } from '../support/postgres.ts'
import { seed } from '../support/seed.ts'

/** Each takes some fifteen seconds. */
const histories = Number(process.env.RANKLINE_TEST_HISTORIES ?? 10)

let server: TestPostgres

beforeAll(async () => {
  server = await testPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

// A history that fails is played again with RANKLINE_TEST_SEED and one history.
test.each(Array.from({ length: histories }, (_, index) => seed + index))(
  'history %i of several machines: each page is bought once, within one limit, and the books agree',
  async (number) => {
    expect(await playHistory(number, server)).toEqual([])
  },
)
