import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ChunkEnd, LeaseLost } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import type { NewSharedCall } from '../../../src/store/sync.ts'
import { noon } from '../../store/build.ts'
import {
  aCall,
  aChunk,
  aSharedRun,
  ended,
  expire,
  planned,
  release,
  type TestJournal,
  theAnswer,
  withJournal,
} from './journal.ts'

let journal: TestJournal
withJournal((opened) => {
  journal = opened
})

/** What one worker does with its chunk, what becomes of a call, and what others do. */
type Step =
  | { readonly do: 'take' }
  | { readonly do: 'release' }
  | { readonly do: 'take back' }
  | { readonly do: 'begin'; readonly credits: number; readonly quarter: number }
  | { readonly do: 'end'; readonly how: ChunkEnd }
  | { readonly do: 'end call'; readonly how: Ending; readonly which: number }

type Ending = 'answer' | 'lose' | 'fail' | 'accept' | 'end job' | 'forget job'

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom({ do: 'take' }, { do: 'release' }, { do: 'take back' }),
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('begin'), credits: fc.constantFrom(1, 3), quarter: fc.nat(2) }),
  },
  fc.record({
    do: fc.constant('end'),
    how: fc.constantFrom<ChunkEnd>({ state: 'planned' }, { state: 'released' }, { state: 'done' }),
  }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('end call'),
      how: fc.constantFrom<Ending>(
        'answer',
        'answer',
        'lose',
        'fail',
        'accept',
        'accept',
        'end job',
        'forget job',
      ),
      which: fc.nat(5),
    }),
  },
)

/** What is known of a call: in flight, a job, possibly billed because its worker was lost or it was, and how it ended. */
type Known = 'open' | 'job' | 'lost' | 'doubtful' | 'doubtful job' | 'billed' | 'free'

interface Call {
  readonly call: NewSharedCall
  readonly lease: LeasedChunk
  readonly quarter: number
  known: Known
}

/** What becomes of a call, by what was known of it; everything else changes nothing. */
const follows: Readonly<Record<Ending, Partial<Record<Known, Known>>>> = {
  answer: { open: 'billed', lost: 'billed', doubtful: 'billed', job: 'billed', 'doubtful job': 'billed' },
  fail: { open: 'free', lost: 'free', doubtful: 'free' },
  lose: { open: 'doubtful' },
  accept: { open: 'job', lost: 'job', doubtful: 'job' },
  'end job': { job: 'free', 'doubtful job': 'free' },
  'forget job': { job: 'doubtful job' },
}

const quarterMs = 900_000
const firstQuarter = Math.floor(noon / quarterMs)

test('whatever happens in whatever order, chunks and quarters have the sums of the calls, and no call is in flight without a lease', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 45 }), async (steps) => {
      const run = await planned(journal, aSharedRun(), aChunk(['desk'], { mostCredits: 1_000 }))
      await release(journal, run)
      const calls: Call[] = []
      const worker = randomUUID()
      let last: LeasedChunk | undefined
      let isHeld = false
      const lost = (): void => {
        isHeld = false
        for (const call of calls) if (call.known === 'open') call.known = 'lost'
      }
      for (const one of [{ do: 'take' } as const, ...steps]) {
        if (one.do === 'take') {
          const [taken] = await journal.chunks.take(worker, [run.keyHash], 1, 60_000)
          if (taken !== undefined) isHeld = true
          last = taken ?? last
        } else if (one.do === 'release') await release(journal, run)
        else if (last === undefined) continue
        else if (one.do === 'take back') {
          if (isHeld) await expire(journal, last)
          expect(await journal.chunks.takeBack(1_000)).toEqual({ released: isHeld ? 1 : 0, dead: 0 })
          lost()
        } else if (one.do === 'end') {
          expect(await journal.chunks.end(worker, last, one.how)).toBe(isHeld)
          if (isHeld) lost()
        } else if (one.do === 'begin') {
          const sentAt = noon + one.quarter * quarterMs
          const call = aCall(last, { credits: one.credits, sentAt })
          const begun = journal.calls.begin(last, call)
          if (isHeld) await begun
          else await expect(begun).rejects.toBeInstanceOf(LeaseLost)
          if (isHeld) calls.push({ call, lease: last, quarter: one.quarter, known: 'open' })
        } else await end(calls[one.which % Math.max(1, calls.length)], one.how)
      }
      await expectSums(run.id, calls)
    }),
    { numRuns: 20 },
  )
}, 60_000)

/** Late calls of a worker that was lost are told as those of the one that has the chunk. */
async function end(one: Call | undefined, how: Ending) {
  if (one === undefined) return
  const next = follows[how][one.known]
  const { call } = one
  const { calls } = journal
  const isJob = one.known === 'job' || one.known === 'doubtful job'
  if (how === 'answer') await calls.answer(call, isJob ? null : ended('answered'), theAnswer(call))
  else if (how === 'lose') await calls.settle(call, ended('ambiguous'))
  else if (how === 'fail') await calls.settle(call, ended('server-error'))
  else if (how === 'accept') await calls.acceptJob(call, ended('accepted'), 'job')
  else if (isJob) await calls.endJob(call, how === 'end job' ? 0 : null, noon)
  if (next !== undefined) one.known = next
}

async function expectSums(run: string, calls: readonly Call[]): Promise<void> {
  const sumOf = (among: readonly Call[], ...known: readonly Known[]) =>
    among.filter((one) => known.includes(one.known)).reduce((sum, { call }) => sum + call.credits, 0)
  const sums = (among: readonly Call[]) => ({
    spent: sumOf(among, 'billed'),
    inDoubt: sumOf(among, 'lost', 'doubtful', 'doubtful job'),
  })
  const { spent, inDoubt } = await journal.plans.progress(run)
  expect({ spent, inDoubt }).toEqual(sums(calls))
  const quarters = await journal.sql<{ quarter: number; spent: number; inDoubt: number }>(
    'SELECT quarter, spent, in_doubt AS "inDoubt" FROM rankline.spending WHERE run_id = $1',
    run,
  )
  for (const quarter of [0, 1, 2]) {
    const found = quarters.find((row) => row.quarter === firstQuarter + quarter)
    const { spent = 0, inDoubt = 0 } = found ?? {}
    expect({ spent, inDoubt }).toEqual(sums(calls.filter((one) => one.quarter === quarter)))
  }
  const stored = await journal.sql<{ call_id: string }>(
    'SELECT call_id FROM rankline.answers WHERE run_id = $1',
    run,
  )
  for (const { call, known } of calls)
    if (known === 'billed') expect(stored).toContainEqual({ call_id: call.id })
  const inFlight = await journal.sql<{ id: string }>(
    `SELECT c.id FROM rankline.calls c JOIN rankline.chunks k ON k.id = c.chunk_id
    WHERE k.run_id = $1 AND c.outcome IS NULL AND NOT (k.state = 'leased' AND k.fence = c.fence)`,
    run,
  )
  expect(inFlight).toEqual([])
  const attempts = await journal.sql<{ attempt: number }>(
    'SELECT attempt FROM rankline.calls WHERE run_id = $1 ORDER BY attempt',
    run,
  )
  expect(attempts.map(({ attempt }) => attempt)).toEqual(calls.map((_, index) => index + 1))
}
