import { expect, test } from 'vitest'
import type { Examined } from '../../src/check/examine.ts'
import { summaryLines } from '../../src/cli/commands/collect/collect-runs.ts'
import type { RunDocument } from '../../src/collect/stop.ts'
import { keyHash } from '../../src/run/config.ts'
import { turns } from '../../src/run/lock.ts'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { keyLock } from '../../src/store/sqlite/connection/lock.ts'
import { queriesCsv, type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { callQuickly, staged, waitWhile } from './staged.ts'

/** The same service by another name: for the locks of this machine it is another key, as it would be for another machine. */
const asAnotherHost = ({ url, key }: Sandbox) => ({ url: url.replace('127.0.0.1', 'localhost'), key })

test('of two hosts that collect with one key at once, the later one says so, and what to do', async () => {
  const { sandbox, place: here } = await staged({ rules: [{ query: 'late 1', do: { refuse: 'rate' } }] })
  await using there = await workspace(asAnotherHost(sandbox))
  const later = here.start(['run', await here.file('late.csv', queriesCsv(1, 'late'))])
  await waitWhile(() => sandbox.ledger.requestsFor(({ status }) => status === 401).length === 0)
  const sooner = await there.call(['run', await there.file('soon.csv', queriesCsv(3, 'soon'))])
  sandbox.control({ rules: [] })
  const { code, stdout, stderr } = await later.ended

  expect([sooner.code, code, sandbox.ledger.charged]).toEqual([0, 0, 4])
  expect(sooner.stdout).not.toContain('Another program')
  expect(sooner.stderr).not.toContain('Waiting')
  expect(stdout).toMatch(
    /^ {2}Another program uses this key: 3 credits (at|between) .+ UTC are in no call of this database\. It uses up the rate limit, too: \d+ calls? (was|were) refused for it\. Hosts that share a key should share a queue: docs\/many-machines\.md$/m,
  )
  expect(stderr).not.toContain('Waiting at most 1 h')
  const again = JSON.parse((await here.call(['runs', '1', '--json'])).stdout)
  expect(again.throttled_calls).toBeGreaterThan(0)
})

const others = { credits: 3, from: '2026-11-20T09:00:10.000Z', until: '2026-11-20T09:05:50.000Z' }
const says = (parts: Partial<RunDocument>) =>
  ({
    ...{ run: 1, job: 'acme', status: 'finished', finish_reason: 'completed' },
    tasks: { planned: 1, done: 1, failed: 0, pending: 0, reused: 0 },
    credits: { spent: 1, ambiguous: 0, balance_before: 9, balance_after: 8, unexplained: 0 },
    ...{ results: {}, duration_ms: null },
    ...parts,
  }) as unknown as RunDocument

testTable<[string, readonly RunDocument[], readonly string[]]>([
  ['nobody else spends', [says({})], []],
  ['calls were refused, and nobody else spends', [says({ throttled_calls: 3 })], []],
  [
    'others spend',
    [says({ spent_by_others: others })],
    [
      'Another program uses this key: 3 credits between 2026-11-20 09:00 and 09:05 UTC are in no call of this database. Hosts',
    ],
  ],
  [
    'others spend one credit in a minute, and one call was refused',
    [says({ spent_by_others: { ...others, credits: 1, until: others.from }, throttled_calls: 1 })],
    [
      'Another program uses this key: 1 credit at 2026-11-20 09:00 UTC is in no call of this database. It uses up the rate limit, too: 1 call was refused for it. Hosts',
    ],
  ],
  [
    'two runs of one command were collected beside others',
    [
      says({ spent_by_others: others, throttled_calls: 2 }),
      says({ spent_by_others: { ...others, until: '2026-11-21T09:05:50.000Z' }, throttled_calls: 3 }),
    ],
    [
      'Another program uses this key: 3 credits between 2026-11-20 09:00 and 09:05 UTC are in no call of this database. It uses up the rate limit, too: 5 calls were refused for it. Hosts',
    ],
  ],
])('where %s, the summary says it once', async (_, documents, sentences) => {
  const lines = await summaryLines({ failureCauses: async () => [] }, documents)
  const wayOut = ' that share a key should share a queue: docs/many-machines.md'
  expect(lines.filter((line) => line.includes('Another'))).toEqual(
    sentences.map((sentence) => `  ${sentence}${wayOut}`),
  )
})

test('the summary says once what the queue lost when its server failed over', async () => {
  const lines = await summaryLines({ failureCauses: async () => [] }, [
    says({ lost_by_failover: 3 }),
    says({ lost_by_failover: 3 }),
  ])
  expect(lines.filter((line) => line.includes('failed over'))).toEqual([
    '  3 credits were spent in calls that the queue lost when its server failed over.',
  ])
})

/** What `doctor` says of the sharing of the key, and how often it read the account. */
async function sharing(place: Workspace, sandbox: Sandbox, call = callQuickly) {
  const readings = (): number => sandbox.ledger.requestsFor(({ operation }) => operation === 'usage').length
  const before = readings()
  const { checks } = JSON.parse((await call(place, ['doctor', '--json'])).stdout) as { checks: Examined[] }
  return { text: checks.find(({ check }) => check === 'shared key')?.text, readings: readings() - before }
}

/** Spends a credit with the key, as another program does. */
async function spend({ url, key }: Sandbox): Promise<void> {
  const response = await fetch(`${url}/v1/alpha/search?query=other`, { headers: { 'x-api-key': key } })
  await response.arrayBuffer()
}

test('doctor says how fast another program spends, and takes a second reading only where it needs one', async () => {
  const { sandbox, place, job } = await staged({}, 2, 'missing')
  const unknown = 'not known yet: it takes two readings of the usage record'
  // Nobody has ever used the key.
  expect(await sharing(place, sandbox)).toEqual({ text: unknown, readings: 1 })
  await spend(sandbox)
  expect(await sharing(place, sandbox)).toEqual({ text: unknown, readings: 2 })

  const ended = new AbortController()
  const other = (async () => {
    while (!ended.signal.aborted) {
      await spend(sandbox)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  {
    const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
    using _ = turns.tryCollector(lock)
    // Another database of this machine collects: it may be what spends.
    expect(await sharing(place, sandbox)).toEqual({ text: unknown, readings: 1 })
  }
  // The other program spends no faster.
  const busy = await sharing(place, sandbox, (place, words) => place.call(words))
  ended.abort()
  await other
  expect(busy).toEqual({
    text: expect.stringMatching(
      /^Another program spends about [\d,]+ credits a minute with this key\. Hosts that share a key should share a queue: docs\/many-machines\.md$/,
    ),
    readings: 2,
  })

  // A run has just read the account, and nobody has spent since.
  await place.call(['run', job])
  place.change('UPDATE usage_readings SET asked_at = asked_at - 10000, read_at = read_at - 10000')
  place.change('UPDATE calls_ SET sent_at = sent_at - 10000, finished_at = finished_at - 10000')
  expect(await sharing(place, sandbox)).toEqual({
    text: 'every credit of the last week was spent by this database',
    readings: 1,
  })
})
