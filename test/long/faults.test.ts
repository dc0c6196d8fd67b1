import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { caseOfEveryFault, faultCase } from '../support/fault-cases.ts'
import type { Story } from '../support/fault-run.ts'
import { playOut } from '../support/fault-story.ts'
import { ledgerFaults } from '../support/ledger-check.ts'
import { often } from '../support/long.ts'
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

const namesOf = (what: string, kinds: string): readonly string[] =>
  kinds.split(' ').map((kind) => `${what} ${kind}`)

/** What the cases are about: faults of the service, outcomes of calls, ends of processes, and reasons for which runs ended. */
const troubles = [
  ...namesOf('fault', 'status refuse redirect hangUp stall garble cut oversize body job'),
  ...namesOf('call', 'unreachable ambiguous throttled refused rejected not-found server-error redirected'),
  ...namesOf('process', 'died full'),
  ...namesOf('run', 'interrupted balance quota budget unavailable auth'),
]

/** What of it happened in any case so far. */
const happened = new Set<string>()

const judge = async (story: Story, complete: boolean) => {
  for (const { fault } of story.requests) happened.add(`fault ${fault}`)
  for (const { outcome } of story.calls) happened.add(`call ${outcome}`)
  for (const { end, reasons } of story.goes)
    for (const what of [`process ${end}`, ...reasons.map((reason) => `run ${reason}`)]) happened.add(what)
  return [...ledgerFaults(story), ...wrongOutcomes(story, complete), ...(await wrongFile(story))]
}

const cases = often(300, 12)

test('whatever fails and whenever it dies, a run loses nothing, buys nothing twice and accounts for every credit', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(faultCase, async (one) => {
      const { problems, story } = await playOut(one, judge)
      if (problems.length === 0) return
      const goes = story.goes.map(({ end, sent, reasons }) => `${end}:${sent}:${reasons}`).join(' | ')
      throw new Error(`${problems.join('\n')}\nafter ${goes}`)
    }),
    { numRuns: cases + 1, endOnFailure: true, examples: [[caseOfEveryFault]] },
  )
})

test('all that was to go wrong went wrong', () => {
  const missing = troubles.filter((trouble) => !happened.has(trouble))
  expect(missing).toEqual([])
})
