import fc from 'fast-check'
import { test, vi } from 'vitest'
import { faultCase } from '../support/fault-cases.ts'
import type { Story } from '../support/fault-run.ts'
import { playOut } from '../support/fault-story.ts'
import { ledgerFaults } from '../support/ledger-check.ts'
import { long } from '../support/long.ts'
import { wrongOutcomes } from '../support/outcomes.ts'
import { wrongFile } from '../support/stored-file.ts'

vi.mock('../../src/store/sqlite/connection/group-commit.ts', async (original) => {
  const { mortalWriter } = await import('../support/mortal.ts')
  const actual = await original<typeof import('../../src/store/sqlite/connection/group-commit.ts')>()
  return { ...actual, groupCommit: mortalWriter(actual.groupCommit) }
})
vi.mock('../../src/api/http.ts', async (original) => {
  const { mortalWire } = await import('../support/mortal.ts')
  const actual = await original<typeof import('../../src/api/http.ts')>()
  return { ...actual, openHttpClient: mortalWire(actual.openHttpClient) }
})

const judge = async (story: Story, complete: boolean) => [
  ...ledgerFaults(story),
  ...wrongOutcomes(story, complete),
  ...(await wrongFile(story)),
]

const cases = long ? 400 : 25

test('whatever fails and whenever it dies, a run loses nothing, buys nothing twice and accounts for every credit', {
  timeout: 900_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(faultCase, async (one) => {
      const { problems, story } = await playOut(one, judge)
      if (problems.length === 0) return
      const goes = story.goes.map(({ end, sent, reasons }) => `${end}:${sent}:${reasons}`).join(' | ')
      throw new Error(`${problems.join('\n')}\nafter ${goes}`)
    }),
    { numRuns: cases, endOnFailure: true },
  )
})
