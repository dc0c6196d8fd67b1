import fc from 'fast-check'
import { expect, test } from 'vitest'
import { missedSlots, statusDocument, worstLevel } from '../../../src/check/status.ts'
import {
  age,
  ahead,
  type JobFacts,
  limit,
  problemsOf,
  type StatusFacts,
  span,
} from '../../../src/unattended/status.ts'
import { testTable } from '../../support/test-table.ts'
import { aJob, aRun, day, facts, hour, minute, now } from './build.ts'

/** Problems as `level kind: text`. */
function said(parts: Partial<StatusFacts>): readonly string[] {
  return problemsOf(facts(parts)).map(({ level, kind, text }) => `${level} ${kind}: ${text}`)
}

function saidOf(parts: Partial<JobFacts>): readonly string[] {
  return said({ jobs: [aJob(parts)] })
}

const freshness = { warnAfterMs: 26 * hour, errorAfterMs: 50 * hour }
const good = (ago: number): Partial<JobFacts> => ({ freshness, last: aRun({ ago }), good: aRun({ ago }) })
const never = { last: null, good: null }

testTable<[what: string, job: Partial<JobFacts>, said: readonly string[]]>([
  ['a good run of the last hour', {}, []],
  ['as old as warn_after', good(26 * hour), []],
  [
    'older than warn_after',
    good(26 * hour + 1),
    [
      'warning stale: The last good run ended 26 h ago; freshness_of_runs allows 26 h. Run it with: rankline run acme.yaml',
    ],
  ],
  ['as old as error_after', good(50 * hour), [expect.stringMatching(/^warning stale/) as unknown as string]],
  [
    'older than error_after',
    good(50 * hour + 1),
    [
      'error stale: The last good run ended 50 h ago; freshness_of_runs allows 50 h. Run it with: rankline run acme.yaml',
    ],
  ],
  [
    'with error_after alone',
    { ...good(20 * day), freshness: { warnAfterMs: null, errorAfterMs: 30 * day } },
    [],
  ],
  [
    'stale, and stopped: the run is continued, not begun anew',
    {
      ...good(3 * day),
      last: aRun({ run: 8, ago: hour, reason: 'interrupted', done: 40 }),
    },
    [
      'error stale: The last good run ended 3 d ago; freshness_of_runs allows 50 h. Continue it with: rankline resume 8',
      'warning run: Run 8 was interrupted (40 of 100 tasks done). Continue it with: rankline resume 8',
    ],
  ],
  ['never run, with freshness_of_runs', { ...never, freshness }, []],
  [
    'one missed time',
    { missed: [now - 3 * hour] },
    [
      'warning stale: No good run since its scheduled time 3 h ago. Is its scheduler running? Run it with: rankline run acme.yaml',
    ],
  ],
  [
    'two missed times',
    { missed: [now - 27 * hour, now - 3 * hour] },
    [
      'error stale: No good run since its scheduled time 27 h ago. Is its scheduler running? Run it with: rankline run acme.yaml',
    ],
  ],
  ['missed times that freshness_of_runs allows', { ...good(hour), missed: [now - 3 * hour] }, []],
  ['due every day, for two days', { schedule: null, every: '1d', good: aRun({ ago: 2 * day }) }, []],
  [
    'due every day, for longer',
    { schedule: null, every: '1d', good: aRun({ ago: 2 * day + 1 }) },
    [
      'warning stale: The last good run ended 48 h ago; it is due every 1d. Run it with: rankline run acme.yaml',
    ],
  ],
  [
    'due twice a week, for three weeks',
    { schedule: null, every: 'mon,thu', good: aRun({ ago: 21 * day + 1 }) },
    [
      'error stale: The last good run ended 21 d ago; it is due every mon,thu. Run it with: rankline run acme.yaml',
    ],
  ],
  ['due often, and looked at by a schedule', { every: '1h', good: aRun({ ago: 9 * day }) }, []],
  ['a missed time, and it runs now', { missed: [now - 3 * hour], isRunning: true }, []],
])('how old the last good run is: %s', (_, job, expected) => {
  expect(saidOf(job)).toEqual(expected)
})

testTable<[Parameters<typeof aRun>[0], readonly string[]]>([
  [{ reason: 'completed' }, []],
  [
    { reason: 'completed_with_failures', failed: 10 },
    ['warning run: 10 of 100 tasks of run 7 failed. Why: rankline runs 7; buy them again: rankline retry 7'],
  ],
  [
    { reason: 'completed_with_failures', failed: 11 },
    ['error run: 11 of 100 tasks of run 7 failed. Why: rankline runs 7; buy them again: rankline retry 7'],
  ],
  [
    { reason: 'budget', done: 60 },
    [
      'warning run: Run 7 stopped at its budget (60 of 100 tasks done). Raise its limit (per_day and per_month also begin anew), then: rankline run acme.yaml',
    ],
  ],
  [
    { reason: 'balance', done: 60 },
    [
      'error run: Run 7 stopped: the balance covers no more (60 of 100 tasks done). Top up, then: rankline resume 7',
    ],
  ],
  [
    { reason: 'auth', done: 0 },
    [
      'error run: Run 7 stopped: the key was refused (0 of 100 tasks done). Check RANKLINE_API_KEY, then: rankline resume 7',
    ],
  ],
  [
    { reason: null, done: 60 },
    ['error run: Run 7 was killed (60 of 100 tasks done). Continue it with: rankline resume 7'],
  ],
])('how the last run ended: %j', (run, expected) => {
  expect(saidOf({ last: aRun(run) })).toEqual(expected)
  expect(saidOf({ last: aRun(run), isRunning: true })).toEqual([])
})

test('a run that stopped for any reason is told, and is an error unless a person or a budget stopped it', () => {
  const reasons = ['budget', 'balance', 'quota', 'auth', 'unavailable', 'interrupted', 'crashed'] as const
  const levels = reasons.map((reason) =>
    problemsOf(facts({ jobs: [aJob({ last: aRun({ reason }) })] })).map(({ level }) => level),
  )
  const [w, e] = [['warning'], ['error']]
  expect(levels).toEqual([w, e, e, e, e, w, e])
})

const slot = { job: 'acme', slotAt: now - 3 * hour, takenAt: now - 3 * hour, runId: null, reason: null }
const skipped = { ...slot, outcome: 'skipped', reason: 'another process was collecting' } as const

testTable<[what: string, job: Partial<JobFacts>, said: readonly string[]]>([
  ['ran', { slot: { ...slot, outcome: 'ran' }, ...never }, []],
  ['nothing was due', { slot: { ...slot, outcome: 'nothing-due' }, ...never }, []],
  [
    'skipped',
    { slot: skipped, last: aRun({ ago: day }) },
    ['warning slot: Its time 3 h ago was skipped: another process was collecting'],
  ],
  ['skipped, and a run came later', { slot: skipped, last: aRun({ ago: hour }) }, []],
  ['taken just now', { slot: { ...slot, outcome: null, takenAt: now - minute }, ...never }, []],
  [
    'lost with its process',
    { slot: { ...slot, outcome: null }, ...never },
    ['warning slot: Its time 3 h ago was taken by a process that was killed before it ran'],
  ],
])('what became of the last scheduled time: %s', (_, job, expected) => {
  expect(saidOf(job)).toEqual(expected)
})

const alert = {
  id: 'a',
  job: 'acme',
  when: 'suspect',
  text: 'acme got 2 answers to a different query.',
  openedAt: now,
} as const

testTable<[what: string, parts: Partial<StatusFacts>, said: readonly string[]]>([
  ['nothing', {}, []],
  [
    'alerts about the work that are open and not muted; those about ranks are no problem',
    {
      jobs: [
        aJob({
          alerts: [
            { ...alert, when: 'gain', mutedUntil: null, text: 'desk: acme.com rose' },
            { ...alert, when: 'lost', mutedUntil: null, text: 'desk: acme.com is lost' },
            { ...alert, mutedUntil: now + hour },
            { ...alert, mutedUntil: null },
            { ...alert, mutedUntil: now - hour, text: 'other' },
          ],
        }),
      ],
    },
    ['warning alerts: acme got 2 answers to a different query (and 1 alert more). See: rankline alerts list'],
  ],
  [
    'a file with mistakes over a scheduled time: one line that says why nothing ran',
    {
      jobs: [
        aJob({
          file: {
            path: 'acme.yaml',
            state: 'broken',
            mistake: "list.csv:3:1: unknown column 'gll'; write gl",
          },
          missed: [now - 3 * hour],
        }),
      ],
    },
    [
      "error job-file: list.csv:3:1: unknown column 'gll'; write gl. No good run since its scheduled time 3 h ago",
    ],
  ],
  [
    'mistakes in the file that jobs share: one line, whatever the number of jobs',
    {
      jobs: [1, 2, 3].map((n) =>
        aJob({
          job: `job ${n}`,
          file: { path: 'a.yaml', state: 'waiting', mistake: 'x' },
          missed: [now - day],
        }),
      ),
      brokenShared: [{ mistake: "rankline.yaml:1:1: unknown key 'defaluts'; write 'defaults'", jobs: 3 }],
    },
    [
      "error workspace: rankline.yaml:1:1: unknown key 'defaluts'; write 'defaults'. The 3 jobs that use it are not run until it is mended",
    ],
  ],
  [
    'a scheduled job whose file is gone',
    { jobs: [aJob({ file: { path: 'acme.yaml', state: 'missing', mistake: null }, missed: [now - day] })] },
    [expect.stringMatching(/^warning job-file: Its file acme.yaml is gone/) as unknown as string],
  ],
  [
    'one that has not run for two weeks, whose file is gone',
    {
      jobs: [
        aJob({ file: { path: 'acme.yaml', state: 'missing', mistake: null }, last: aRun({ ago: 15 * day }) }),
      ],
    },
    [],
  ],
  [
    'a balance for a few days',
    { money: { ...facts().money, balance: { credits: 699, readAt: now } } },
    ['warning balance: The balance of 699 credits lasts about 6 days at 100 a day. Top up'],
  ],
  [
    'a balance for hours',
    { money: { ...facts().money, balance: { credits: 99, readAt: now } } },
    ['error balance: The balance of 99 credits lasts less than a day at 100 a day. Top up'],
  ],
  [
    'a small balance that is not spent',
    { money: { ...facts().money, balance: { credits: 9, readAt: now }, spent: { credits: 0, since: now } } },
    [],
  ],
  [
    'credits that nothing explains',
    { money: { ...facts().money, unexplained: 12 } },
    [
      'warning unexplained: In the last week the service counted 12 credits that no call of this database explains. Another program may use the key; see: rankline ledger verify',
    ],
  ],
  [
    'messages',
    {
      messages: {
        waiting: { messages: 2, channels: ['chat', 'mail'], error: 'connection refused' },
        dead: { messages: 1, channels: ['mail'], error: null },
      },
    },
    [
      'warning messages: 1 message to mail was given up. Try the channel with: rankline alerts test mail',
      'warning messages: 2 messages to chat, mail are not delivered yet (connection refused). Try the channel with: rankline alerts test chat',
    ],
  ],
  [
    'damage and a disk that is nearly full, before all other errors',
    {
      jobs: [aJob({ last: aRun({ reason: 'auth' }) })],
      database: { path: 'a.db', isMissing: false, damage: 'It is damaged', freeBytes: 49_000_000 },
    },
    [
      'error database: It is damaged',
      'error disk: The disk of a.db has 49.0 MB left. Free some space: on a full disk nothing is bought',
      expect.stringMatching(/^error run/) as unknown as string,
    ],
  ],
  [
    'a disk that fills up',
    { database: { ...facts().database, freeBytes: 499_000_000 } },
    [expect.stringMatching(/^warning disk/) as unknown as string],
  ],
  [
    'anything before the first run',
    {
      jobs: [aJob({ file: { path: 'acme.yaml', state: 'broken', mistake: null } })],
      database: { ...facts().database, isMissing: true },
    },
    [],
  ],
])('what is wrong with more than one run: %s', (_, parts, expected) => {
  expect(said(parts)).toEqual(expected)
})

test('errors stand before warnings, and the worst level is that of the first', () => {
  const failing = aJob({ job: 'b', last: aRun({ reason: 'auth' }) })
  const problems = problemsOf(facts({ jobs: [aJob({ missed: [now - 3 * hour] }), failing, aJob()] }))
  expect(problems.map(({ level, job }) => [level, job])).toEqual([
    ['error', 'b'],
    ['warning', 'acme'],
  ])
  expect(worstLevel(problems)).toBe('error')
  expect(worstLevel(problems.slice(1))).toBe('warning')
  expect(worstLevel([])).toBe('ok')
})

testTable<[since: string, now: string, missed: readonly string[]]>([
  ['2026-11-19T06:02Z', '2026-11-20T05:59Z', []],
  // Runs take their time.
  ['2026-11-19T06:02Z', '2026-11-20T06:59Z', []],
  ['2026-11-19T06:02Z', '2026-11-20T07:01Z', ['2026-11-20T06:00:00.000Z']],
  ['2026-11-20T06:02Z', '2026-11-20T23:00Z', []],
  ['2026-11-17T06:02Z', '2026-11-20T07:01Z', ['2026-11-18T06:00:00.000Z', '2026-11-19T06:00:00.000Z']],
])('of every day at six, since %s, at %s missed are %j', (since, at, expected) => {
  const job = { schedule: '0 6 * * *', timezone: 'UTC' }
  const missed = missedSlots(job, Date.parse(since), Date.parse(at))
  expect(missed.map((slot) => new Date(slot).toISOString())).toEqual(expected)
  expect(missedSlots({ ...job, schedule: null }, Date.parse(since), Date.parse(at))).toEqual([])
})

test('times never sound longer than they are', () => {
  expect([0, 59_999, minute, 90 * minute, 71 * hour, 72 * hour].map(span)).toEqual([
    '0 min',
    '0 min',
    '1 min',
    '1 h',
    '71 h',
    '3 d',
  ])
  expect([-hour, 0, minute].map(age)).toEqual(['just now', 'just now', '1 min ago'])
  expect([90 * minute, 50 * hour, 2 * day].map(limit)).toEqual(['90 min', '50 h', '2 d'])
  expect([0, 3 * hour].map(ahead)).toEqual(['now', 'in 3 h'])
  const unitMs: Readonly<Record<string, number>> = { min: minute, h: hour, d: day }
  fc.assert(
    fc.property(fc.nat(400 * day), (ms) => {
      const [number, unit = ''] = span(ms).split(' ')
      const shown = Number(number) * (unitMs[unit] ?? 0)
      expect(shown).toBeLessThanOrEqual(ms)
      expect(shown + (unitMs[unit] ?? 0)).toBeGreaterThan(ms)
    }),
  )
})

test('a cause that stops several jobs is one problem that names them; each keeps its own level', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const stopped = names.map((job) => aJob({ job, last: aRun({ reason: 'auth' }), missed: [now - 30 * hour] }))
  const alone = aJob({ job: 'alone', last: aRun({ reason: 'balance' }) })
  const document = statusDocument(facts({ jobs: [...stopped, alone, aJob({ job: 'well' })] }))
  expect(document.level).toBe('error')
  expect(document.problems).toEqual([
    {
      ...{ level: 'error', job: null, kind: 'run', jobs: names },
      text: 'The key was refused; that stops 7 jobs: a, b, c, d, e and 2 more. Check RANKLINE_API_KEY, then run them again',
    },
    expect.objectContaining({ level: 'error', job: 'alone', kind: 'run' }),
  ])
  expect(document.jobs.filter(({ level }) => level === 'error').map(({ job }) => job)).toEqual([
    ...names,
    'alone',
  ])
})
