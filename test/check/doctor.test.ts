import { describe, expect, test } from 'vitest'
import { type AccountFacts, type CheckState, checks, type InstallationFacts } from '../../src/check/doctor.ts'
import { spentByOthersLately } from '../../src/check/examine.ts'
import { exitCodeOfFindings } from '../../src/cli/commands/workspace/doctor.ts'
import { clockDifference } from '../../src/collect/account.ts'
import { testTable } from '../support/test-table.ts'

const now = Date.UTC(2026, 10, 23, 6)
const day = 86_400_000

const account: AccountFacts = {
  account: {
    remaining: 1000,
    totalUsed: 0,
    limits: { perSecond: 10, perMinute: 300 },
    keyActive: true,
    keyExpires: null,
    unread: {},
    quotas: { total: null, daily: null, weekly: null, monthly: null },
  },
  stop: null,
  keyExpiresAt: null,
  aheadMs: 0,
}

const database: InstallationFacts['database'] = {
  state: 'there',
  path: 'data/rankline.db',
  bytes: 1000,
  isWritable: true,
  isOlder: false,
  damage: null,
  isChecked: true,
}

const good: InstallationFacts = {
  now,
  program: {
    version: '1',
    node: '22',
    platform: 'linux',
    zoneData: '2026a',
    knowsZones: true,
    zone: 'Europe/Berlin',
  },
  settings: { baseUrl: 'https://service.example', proxy: null, isQueued: false },
  service: account,
  queue: null,
  database,
  freeBytes: 1e10,
  locks: [{ of: 'database', file: 'data/rankline.db.lock', owner: null, isUsable: true }],
  cron: { onlyInShell: [], findsNode: true },
  folder: { hasWorkspaceFile: true, hasOldSchemas: false },
  jobs: {
    workspaceMistake: null,
    files: 2,
    sound: 2,
    firstMistake: null,
    queries: 50,
    credits: 500,
    scheduled: 1,
    alerting: ['acme'],
  },
  channels: [{ name: 'chat', obstacle: null }],
  sharing: { isKnown: true, lately: null, perMinute: 0 },
}

function find(name: string, facts: Partial<InstallationFacts>) {
  const check = checks.find((one) => one.name === name)
  if (check === undefined) throw new Error(`there is no check ${name}`)
  return check.judge({ ...good, ...facts })
}

test('where nothing is wrong every check is ok', () => {
  for (const { name } of checks) expect([name, find(name, {}).state]).toEqual([name, 'ok'])
})

const asked = (change: Partial<AccountFacts>) => ({ service: { ...account, ...change } })
const balance = (remaining: number | null) => asked({ account: { ...account.account, remaining } })
const stored = (change: object) => ({ database: { ...database, ...change } as InstallationFacts['database'] })
const lock = (change: object) => ({ locks: [{ ...good.locks[0], ...change }] as InstallationFacts['locks'] })
const sharing = (change: Partial<InstallationFacts['sharing']>) => ({
  sharing: { ...good.sharing, ...change },
})
const since = (ago: number) => lock({ owner: `process 7, since ${new Date(now - ago).toISOString()}` })

testTable<[string, Partial<InstallationFacts>, CheckState, string]>([
  ['time zones', { program: { ...good.program, knowsZones: false } }, 'error', 'full ICU data'],
  ['time zones', { program: { ...good.program, zoneData: '2023c' } }, 'warning', 'of 2023'],
  ['settings', { settings: { mistake: 'The API key is not set' } }, 'error', 'The API key is not set'],
  ['service', { service: null }, 'skipped', 'the settings first'],
  ['service', { service: { about: 'service', mistake: 'down' } }, 'error', 'down'],
  ['key', { service: { about: 'service', mistake: 'down' } }, 'skipped', 'the service first'],
  ['service', { service: { about: 'key', mistake: 'refused' } }, 'ok', 'answers'],
  ['key', { service: { about: 'key', mistake: 'refused' } }, 'error', 'refused'],
  ['balance', { service: { about: 'key', mistake: 'refused' } }, 'skipped', 'the key first'],
  ['key', asked({ stop: 'The API key is inactive' }), 'error', 'inactive'],
  ['key', asked({ keyExpiresAt: now + 14 * day }), 'ok', 'until 2026-12-07'],
  ['key', asked({ keyExpiresAt: now + 14 * day - 1 }), 'warning', 'expires on 2026-12-07: renew it'],
  ['balance', balance(null), 'warning', 'no balance'],
  ['balance', balance(0), 'error', 'top up'],
  ['balance', balance(499), 'warning', '499 credits do not cover one run of all jobs here (up to 500)'],
  ['balance', balance(500), 'ok', '500 credits; one run of all jobs here takes up to 500'],
  ['rate limit', {}, 'ok', '10 calls a second, 300 calls a minute'],
  [
    'rate limit',
    asked({ account: { ...account.account, quotas: { ...account.account.quotas, daily: 500, total: 1 } } }),
    'ok',
    '300 calls a minute, 500 calls a day, 1 call in all',
  ],
  ['clock', asked({ aheadMs: 9_999 }), 'ok', 'agrees'],
  ['clock', asked({ aheadMs: 90_000 }), 'warning', '90 s behind'],
  ['clock', asked({ aheadMs: -10_000 }), 'warning', '10 s ahead of'],
  ['clock', asked({ aheadMs: -300_000 }), 'error', '5 min ahead of'],
  ['shared key', sharing({ isKnown: false, perMinute: null }), 'ok', 'not known yet'],
  ['shared key', sharing({ isKnown: false }), 'ok', 'not known yet'],
  ['shared key', sharing({ perMinute: null }), 'ok', 'was spent by this database'],
  [
    'shared key',
    sharing({ lately: { credits: 12, from: now - day, until: now } }),
    'warning',
    '12 credits of the last week are in no call of this database (spent between 2026-11-22 06:00 and 2026-11-23 06:00 UTC). Hosts that share a key should share a queue: docs/many-machines.md',
  ],
  [
    'shared key',
    sharing({ lately: { credits: 1, from: now, until: now }, perMinute: 40 }),
    'warning',
    'Another program spends about 40 credits a minute with this key; 1 credit of the last week is in no call of this database (spent at 2026-11-23 06:00 UTC). Hosts',
  ],
  [
    'shared key',
    sharing({ isKnown: false, perMinute: 1 }),
    'warning',
    'Another program spends about 1 credit a minute with this key. Hosts that share a key should share a queue: docs/many-machines.md',
  ],
  [
    'shared key',
    {
      settings: { baseUrl: 'https://service.example', proxy: null, isQueued: true },
      ...sharing({ perMinute: 9 }),
    },
    'ok',
    'shared by the machines of the queue',
  ],
  [
    'queue',
    { queue: { version: 4, workers: 3, runs: 1, problems: [] } },
    'ok',
    '3 workers, 1 unfinished run',
  ],
  [
    'queue',
    { queue: { version: 4, workers: 0, runs: 1, problems: ['no worker; start one', 'It is locked.'] } },
    'warning',
    'no worker; start one. It is locked',
  ],
  ['queue', { queue: { mistake: 'no server', isMissing: false } }, 'error', 'no server'],
  ['queue', { queue: { mistake: 'no queue yet', isMissing: true } }, 'ok', 'no queue yet'],
  [
    'database',
    { database: { state: 'missing', path: 'x.db', makeable: null } },
    'ok',
    'the first run makes it',
  ],
  ['database', { database: { state: 'missing', path: 'x.db', makeable: 'No.' } }, 'error', 'No.'],
  ['database', { database: { state: 'unusable', path: 'x.db', mistake: 'Not ours.' } }, 'error', 'Not ours.'],
  ['database', stored({ damage: 'page 3' }), 'error', 'damaged (page 3)'],
  ['database', stored({ isWritable: false }), 'warning', 'may only be read'],
  ['database', stored({ isOlder: true }), 'ok', 'the next run changes it'],
  ['database', stored({ isChecked: false }), 'ok', 'rankline db check'],
  ['disk', { freeBytes: 499_999_999 }, 'warning', 'Only 500.0 MB free'],
  ['disk', { freeBytes: 49_999_999 }, 'error', 'exit code 6'],
  ['locks', lock({ isUsable: false }), 'error', 'data/rankline.db.lock cannot be written'],
  ['locks', since(day), 'ok', 'is collecting with this database'],
  ['locks', since(day + 1), 'warning', 'see whether it hangs'],
  [
    'workspace',
    { jobs: { ...good.jobs, workspaceMistake: 'rankline.yaml:1:1: no' } },
    'error',
    'rankline.yaml:1:1',
  ],
  ['workspace', { folder: { hasWorkspaceFile: false, hasOldSchemas: false } }, 'ok', 'no rankline.yaml here'],
  ['workspace', { folder: { hasWorkspaceFile: true, hasOldSchemas: true } }, 'ok', 'rankline init --schemas'],
  ['jobs', { jobs: { ...good.jobs, workspaceMistake: 'x' } }, 'skipped', 'rankline.yaml first'],
  ['jobs', { jobs: { ...good.jobs, files: 0, sound: 0 } }, 'ok', 'rankline init'],
  [
    'jobs',
    { jobs: { ...good.jobs, sound: 1, firstMistake: 'a.yaml:1: no' } },
    'error',
    'a.yaml:1: no (1 file with',
  ],
  ['channels', { channels: [], jobs: { ...good.jobs, alerting: [] } }, 'ok', 'none'],
  ['channels', { channels: [] }, 'warning', 'alerts and digests of acme reach no one'],
  [
    'channels',
    { channels: [{ name: 'ops', obstacle: 'set OPS_URL in .env' }] },
    'warning',
    'ops: set OPS_URL in .env',
  ],
  [
    'cron',
    { cron: { onlyInShell: ['RANKLINE_API_KEY'], findsNode: false } },
    'ok',
    'put RANKLINE_API_KEY into .env',
  ],
])('%s with %j is %s', (name, facts, state, text) => {
  const found = find(name, facts)
  expect([found.state, found.text]).toEqual([state, expect.stringContaining(text)])
})

describe('the difference of clocks', () => {
  testTable<[number, number]>([
    [10_000, 0],
    [10_400, 0],
    [9_000, -1],
    [9_001, 0],
    [11_000, 500],
    [0, -9_001],
  ])('with a Date of %d ms between 10,000 and 10,500 ms is %d', (theirs, ahead) => {
    expect(clockDifference(theirs, { before: 10_000, after: 10_500 })).toBe(ahead)
  })
})

test('what others spent more than a week ago is not told any more', () => {
  const span = (daysAgo: number, spentByOthers: number) => ({
    from: now - (daysAgo + 1) * day,
    until: now - daysAgo * day,
    spentByOthers,
    ...{
      used: spentByOthers,
      billed: 0,
      ambiguous: 0,
      ambiguousBilled: 0,
      notCounted: 0,
      refunded: 0,
      lostByFailover: 0,
    },
  })
  expect(spentByOthersLately([span(8, 5), span(7, 5), span(6, 3), span(2, 4), span(1, 0)], now)).toEqual({
    credits: 7,
    from: now - 7 * day,
    until: now - 2 * day,
  })
  expect(spentByOthersLately([span(7, 5)], now)).toBeNull()
})

testTable<[readonly CheckState[], number]>([
  [['ok', 'skipped'], 0],
  [['ok', 'warning'], 3],
  [['warning', 'error'], 2],
])('findings %j end with exit code %d', (states, code) => {
  expect(exitCodeOfFindings(states.map((state) => ({ state, text: '' })))).toBe(code)
})
