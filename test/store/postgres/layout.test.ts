import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from '../../../src/store/postgres/connection.ts'
import { migrate, schemaVersion, versionOf } from '../../../src/store/postgres/layout.ts'
import { type TestPostgres, testPostgres } from '../../support/postgres.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await testPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

test('An empty database gets the journal, and a second time changes nothing', async () => {
  await using postgres = await openPostgres(await server.database())
  expect(await versionOf(postgres)).toBeNull()
  expect(await migrate(postgres)).toBeNull()
  expect(await versionOf(postgres)).toBe(schemaVersion)
  expect(await migrate(postgres)).toBe(schemaVersion)
})

test('Of processes that find an empty database at once, one lays the journal out', async () => {
  const url = await server.database()
  const all = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)))
  expect(await Promise.all(all.map(versionOf))).toEqual([null, null, null, null])
  const before = await Promise.all(all.map((postgres) => migrate(postgres)))
  expect(before.filter((version) => version === null)).toHaveLength(1)
  expect(before.filter((version) => version === schemaVersion)).toHaveLength(3)
  await Promise.all(all.map((postgres) => postgres[Symbol.asyncDispose]()))
})
