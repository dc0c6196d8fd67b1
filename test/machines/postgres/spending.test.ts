import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { CoordinationLost } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import type { SharedStandings, WaitingChunk } from '../../../src/machines/postgres/spending.ts'
import { dayMs } from '../../../src/model/time.ts'
import type { NewSharedCall, SharedRun } from '../../../src/store/sync.ts'
import { noon } from '../../store/build.ts'
import { openPromise } from '../../support/open-promise.ts'
import { testTable } from '../../support/test-table.ts'
import {
  aCall,
  aChunk,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  expire,
  leased,
  planned,
  released,
  type TestJournal,
  theAnswer,
  waitingForLocks,
  withJournal,
} from './journal.ts'

let journal: TestJournal
withJournal((opened) => {
  journal = opened
})

/** What a release is given, without releasing anything. */
async function atRelease(
  journal: TestJournal,
  { keyHash, id }: SharedRun,
): Promise<{ readonly waiting: readonly WaitingChunk[]; readonly standings: SharedStandings }> {
  let given: { waiting: readonly WaitingChunk[]; standings: SharedStandings } | undefined
  await journal.spending.release(coordinator, keyHash, [id], 10, async (waiting, standings) => {
    given = { waiting, standings }
    return []
  })
  return given as NonNullable<typeof given>
}

async function readAccount(journal: TestJournal, keyHash: string, remaining: number, askedAt: number) {
  const reading = { run: null, keyHash, askedAt, readAt: askedAt + 5, remaining, totalUsed: null }
  await journal.calls.saveUsage({ ...reading, record: '{}' })
}

async function leaseOf(journal: TestJournal, { keyHash }: SharedRun): Promise<LeasedChunk> {
  const [lease] = await journal.chunks.take(randomUUID(), [keyHash], 1, 60_000)
  return lease as LeasedChunk
}

describe('What the budget of a key stands at', () => {
  type Act = (calls: TestJournal['calls'], call: NewSharedCall, lease: LeasedChunk) => Promise<unknown>
  const begun: Act = (calls, call, lease) => calls.begin(lease, call)
  const settled =
    (outcome: 'ambiguous' | 'server-error'): Act =>
    async (calls, call, lease) => {
      await begun(calls, call, lease)
      await calls.settle(call, ended(outcome))
    }
  const accepted: Act = async (calls, call, lease) => {
    await begun(calls, call, lease)
    await calls.acceptJob(call, ended('accepted'), 'job')
  }
  const answered: Act = async (calls, call, lease) => {
    await begun(calls, call, lease)
    await calls.answer(call, ended('answered'), theAnswer(call))
  }
  const job =
    (end: (calls: TestJournal['calls'], call: NewSharedCall) => Promise<void>): Act =>
    async (calls, call, lease) => {
      await accepted(calls, call, lease)
      await end(calls, call)
    }

  // Of a chunk of 10 credits with a call of 3: billed, possibly billed, reserved, and calls that it may come to.
  testTable<[string, Act, [number, number, number, number]]>([
    ['nothing was sent', async () => {}, [0, 0, 10, 4]],
    ['a call is in flight', begun, [0, 0, 10, 4]],
    ['a call was answered', answered, [3, 0, 7, 4]],
    ['a call was free', settled('server-error'), [0, 0, 10, 4]],
    ['nobody knows of a call', settled('ambiguous'), [0, 3, 7, 4]],
    ['a job is under way', accepted, [0, 0, 10, 4]],
    ['a job was answered', job((calls, call) => calls.answer(call, null, theAnswer(call))), [3, 0, 7, 4]],
    ['a job failed for free', job((calls, call) => calls.endJob(call, 0, noon)), [0, 0, 10, 4]],
    ['nobody knows of a job', job((calls, call) => calls.endJob(call, null, noon)), [0, 3, 7, 4]],
  ])('where %s', async (_, act, [billed, ambiguous, reserved, charged]) => {
    const run = aSharedRun()
    await readAccount(journal, run.keyHash, 100, Date.now() - 1_000)
    await released(journal, run, aChunk(['desk'], { mostCredits: 10, leastCredits: 3 }))
    const lease = await leaseOf(journal, run)
    await act(journal.calls, aCall(lease, { credits: 3 }), lease)
    const { standings } = await atRelease(journal, run)
    expect(standings.account?.remaining).toBe(100)
    expect([standings.billedSince, standings.ambiguous, standings.reserved]).toEqual([
      billed,
      ambiguous,
      reserved,
    ])
    const ofRun = { spent: billed, ambiguous: ambiguous + reserved }
    expect(standings.byRun.get(run.id)).toEqual(ofRun)
    expect((await journal.spending.sumsOf([run.id])).get(run.id)).toEqual(ofRun)
    expect(await standings.chargedCalls({ from: 0, until: Number.MAX_SAFE_INTEGER })).toBe(charged)
  })

  testTable<[string, number, number, number]>([
    ['a second before them', -1_000, 3, 1],
    ['a second after them', 1_000, 0, 1],
    ['two minutes after them', 130_000, 0, 0],
  ])('a reading that was asked for %s holds calls or not', async (_, afterMs, billed, ambiguous) => {
    const { lease, run } = await leased(journal)
    const [known, lost] = [aCall(lease, { credits: 3 }), aCall(lease, { page: 2 })]
    await journal.calls.begin(lease, known)
    await journal.calls.begin(lease, lost)
    await journal.calls.answer(known, ended('answered'), theAnswer(known))
    await journal.calls.settle(lost, ended('ambiguous'))
    await readAccount(journal, run.keyHash, 50, Date.now() - 60_000)
    await readAccount(journal, run.keyHash, 60, Date.now() + afterMs)
    await readAccount(journal, aKey(), 70, Date.now() + 600_000)
    const { standings } = await atRelease(journal, run)
    expect([standings.account?.remaining, standings.billedSince, standings.ambiguous]).toEqual([
      60,
      billed,
      ambiguous,
    ])
  })

  test('in days and months: by the quarter in which calls were sent, by job and by tag, and what is reserved now', async () => {
    const run = aSharedRun({ job: 'acme' })
    const today = Math.floor(Date.now() / dayMs) * dayMs
    await released(journal, run, aChunk(['desk'], { tags: ['brand', 'shop'], mostCredits: 20 }))
    const other = aSharedRun({ keyHash: run.keyHash, job: 'other' })
    await released(journal, other, aChunk(['desk'], { tags: ['brand'], mostCredits: 6 }))
    await released(journal, aSharedRun({ job: 'acme' }), aChunk(['desk'], { tags: ['brand'] }))
    const lease = await leaseOf(journal, run)
    let page = 0
    for (const [sentAt, outcome] of [
      [today - 1, 'answered'],
      [today, 'answered'],
      [today + 1, 'ambiguous'],
    ] as const) {
      const call = aCall(lease, { sentAt, credits: 2, page: ++page })
      await journal.calls.begin(lease, call)
      await journal.calls.settle(call, ended(outcome))
    }
    const { standings } = await atRelease(journal, run)
    const [day, before] = [
      { from: today, until: today + dayMs },
      { from: today - dayMs, until: today },
    ]
    const sent = async (span: typeof day) => await standings.creditsSent(span)
    expect(await sent(day)).toEqual([
      { job: 'acme', spent: 2, ambiguous: 2 + 14 },
      { job: 'other', spent: 0, ambiguous: 6 },
    ])
    expect(await sent(before)).toEqual([{ job: 'acme', spent: 2, ambiguous: 0 }])
    const tags = (jobs: readonly string[]) => standings.creditsSentByTag(day, jobs, ['brand', 'shop', 'none'])
    expect(Object.fromEntries(await tags(['acme', 'other']))).toEqual({ brand: 18 + 6, shop: 18 })
    expect(Object.fromEntries(await tags(['other']))).toEqual({ brand: 6 })
  })
})

describe('Releasing', () => {
  test('shows what waits, the most urgent first, and releases what is granted of it', async () => {
    const run = await planned(
      journal,
      aSharedRun(),
      aChunk(['desk'], { mostCredits: 8, leastCredits: 2, tags: ['brand'] }),
      aChunk(['chair'], { priority: 3 }),
      aChunk(['lamp']),
    )
    const { waiting } = await atRelease(journal, run)
    expect(waiting.map(({ priority }) => priority)).toEqual([3, 0, 0])
    const [, desk, lamp] = waiting as [WaitingChunk, WaitingChunk, WaitingChunk]
    expect(desk).toEqual({
      ...{ id: expect.any(String), run: run.id, priority: 0, tags: ['brand'], stop: null },
      ...{ mostCredits: 8, leastCredits: 2 },
    })
    const grant = (chunk: string) =>
      journal.spending.release(coordinator, run.keyHash, [run.id], 1, async () => [{ chunk, credits: 5 }])
    await grant(lamp.id)
    await leaseOf(journal, run)
    // What a worker has by now is not released a second time.
    await grant(lamp.id)
    expect(await journal.plans.progress(run.id)).toMatchObject({
      chunks: { planned: 2, leased: 1 },
      reserved: 5,
    })
  })

  test('runs of one process take turns, of equal priority', async () => {
    const large = await planned(
      journal,
      aSharedRun({ job: 'large' }),
      ...['a', 'b', 'c'].map((text) => aChunk([text])),
    )
    const small = await planned(
      journal,
      aSharedRun({ job: 'small', keyHash: large.keyHash }),
      aChunk(['d']),
      aChunk(['e'], { priority: 1 }),
    )
    const orders: string[][] = []
    const runs = [large.id, small.id]
    const grantFirst = async (waiting: readonly WaitingChunk[]) => {
      orders.push(waiting.map(({ run }) => (run === large.id ? 'large' : 'small')))
      return waiting.slice(0, 2).map(({ id }) => ({ chunk: id, credits: 1 }))
    }
    for (let time = 0; time < 2; time++)
      await journal.spending.release(coordinator, large.keyHash, runs, 9, grantFirst)
    // The urgent one, then one of each; two are released, one of each run: in turns again.
    expect(orders).toEqual([
      ['small', 'large', 'small', 'large', 'large'],
      ['large', 'small', 'large'],
    ])
  })

  test('a chunk that waits again needs what it has not spent, and one page at least', async () => {
    const run = aSharedRun()
    const worker = randomUUID()
    await released(journal, run, aChunk(['desk'], { mostCredits: 3, leastCredits: 1 }))
    const left: number[] = []
    for (let time = 0; time < 4; time++) {
      const [lease] = (await journal.chunks.take(worker, [run.keyHash], 1, 60_000)) as [LeasedChunk]
      const call = aCall(lease)
      await journal.calls.begin(lease, call)
      await journal.calls.answer(call, ended('answered'), theAnswer(call))
      await journal.chunks.end(worker, lease, { state: 'planned' })
      await journal.spending.release(coordinator, run.keyHash, [run.id], 1, async ([chunk]) => {
        left.push((chunk as WaitingChunk).mostCredits)
        return [{ chunk: (chunk as WaitingChunk).id, credits: 1 }]
      })
    }
    expect(left).toEqual([2, 1, 1, 1])
  })

  test('is refused where another process coordinates the job, and nothing is released where the decision fails', async () => {
    const run = await planned(journal, aSharedRun(), aChunk(['desk']))
    const all = async (waiting: readonly WaitingChunk[]) =>
      waiting.map(({ id, mostCredits }) => ({ chunk: id, credits: mostCredits }))
    await expect(
      journal.spending.release(randomUUID(), run.keyHash, [run.id], 9, all),
    ).rejects.toBeInstanceOf(CoordinationLost)
    const failing = journal.spending.release(coordinator, run.keyHash, [run.id], 9, async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await journal.plans.progress(run.id)).chunks.planned).toBe(1)
  })

  /** As a coordinator does it, with the balance as its only limit. */
  const covered = async (
    waiting: readonly WaitingChunk[],
    { account, billedSince, ambiguous, reserved }: SharedStandings,
  ) => {
    let left = (account?.remaining ?? 0) - billedSince - ambiguous - reserved
    return waiting.flatMap(({ id, mostCredits }) => {
      if (mostCredits > left) return []
      left -= mostCredits
      return [{ chunk: id, credits: mostCredits }]
    })
  }

  test('releases of one key take turns, those of another key do not wait', async () => {
    const key = aKey()
    const [first, second, other] = await Promise.all(
      [{ job: 'first' }, { job: 'second' }, { keyHash: aKey(), job: 'other' }].map((run) =>
        planned(journal, aSharedRun({ keyHash: key, ...run }), aChunk(['desk'], { mostCredits: 6 })),
      ),
    )
    for (const keyHash of [key, other?.keyHash as string])
      await readAccount(journal, keyHash, 10, Date.now() - 1_000)
    const releaseOf = (run: SharedRun | undefined, decide = covered) =>
      journal.spending.release(coordinator, run?.keyHash as string, [run?.id as string], 9, decide)
    const decided = openPromise()
    const entered = openPromise()
    const slow = releaseOf(first, async (...given) => {
      entered.fulfil()
      await decided.promise
      return await covered(...given)
    })
    await entered.promise
    expect(await releaseOf(other)).toHaveLength(1)
    const next = releaseOf(second)
    await waitingForLocks(journal)
    decided.fulfil()
    expect([(await slow).length, (await next).length]).toEqual([1, 0])
  })

  test('many releasers at once, while workers buy, never grant more than the balance', async () => {
    const keyHash = aKey()
    const balance = 60
    const runs: SharedRun[] = []
    for (const job of ['a', 'b', 'c']) {
      const chunks = Array.from({ length: 12 }, (_, index) => aChunk([`${job} ${index}`], { mostCredits: 3 }))
      runs.push(await planned(journal, aSharedRun({ keyHash, job }), ...chunks))
    }
    await readAccount(journal, keyHash, balance, Date.now() - 1_000)
    const mostOf = async (): Promise<number> => {
      const all = await Promise.all(runs.map(({ id }) => journal.plans.progress(id)))
      return all.reduce((sum, one) => sum + one.spent + one.inDoubt + one.reserved, 0)
    }
    const buy = async (): Promise<void> => {
      const worker = randomUUID()
      for (const lease of await journal.chunks.take(worker, [keyHash], 2, 60_000)) {
        const call = aCall(lease, { credits: 2 })
        await journal.calls.begin(lease, call)
        await journal.calls.settle(call, ended(Number(lease.chunk) % 3 === 0 ? 'ambiguous' : 'answered'))
        await journal.chunks.end(worker, lease, { state: 'done' })
      }
    }
    for (let round = 0; round < 6; round++) {
      const releases = runs.map(({ id }) => journal.spending.release(coordinator, keyHash, [id], 3, covered))
      await Promise.all([...releases, buy(), buy(), buy()])
      expect(await mostOf()).toBeLessThanOrEqual(balance)
    }
    for (const { id } of runs) await journal.spending.release(coordinator, keyHash, [id], 12, covered)
    expect(await mostOf()).toBeLessThanOrEqual(balance)
    // All but what a chunk of 3 does not fit into is given out.
    expect(await mostOf()).toBeGreaterThan(balance - 3)
  })
})

test('A takeover gives nothing out twice: what is in doubt stays reserved', async () => {
  const { lease, run } = await leased(journal)
  const before = (await atRelease(journal, run)).standings
  await journal.calls.begin(lease, aCall(lease, { credits: 40 }))
  await expire(journal, lease)
  await journal.chunks.takeBack(10)
  const { standings } = await atRelease(journal, run)
  expect(before.reserved).toBe(100)
  expect([standings.reserved, standings.ambiguous]).toEqual([60, 40])
})
