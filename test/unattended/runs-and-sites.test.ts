import { describe, expect, test } from 'vitest'
import { alertId, type RunHealth } from '../../src/unattended/alerts/causes.ts'
import { alertIdentity, evaluate } from '../../src/unattended/alerts/judgement.ts'
import type { WatchedSerp } from '../../src/unattended/alerts/query-rules.ts'
import { testTable } from '../support/test-table.ts'
import { acme, aRule, aRun, aWatchedQuery, observationsOf, story, told } from './build.ts'

const tasks = (done: number, failed = 0) => ({ planned: 100, done, failed })

testTable<[Parameters<typeof aRule>[0], readonly Partial<RunHealth>[], string]>([
  [
    { when: 'coverage', below: 95 },
    [{ tasks: tasks(94, 6) }, { tasks: tasks(90, 10) }, { tasks: tasks(95, 5) }],
    '1: coverage open null→94; 3: coverage over 94→95',
  ],
  [{ when: 'coverage', below: 95 }, [{ tasks: { planned: 0, done: 0, failed: 0 } }], ''],
  [
    { when: 'run-failed' },
    [
      { finishReason: 'completed_with_failures', tasks: tasks(99, 1) },
      { finishReason: 'auth' },
      { finishReason: 'completed' },
      { finishReason: 'completed' },
    ],
    '1: run-failed open null→completed_with_failures; 3: run-failed over completed_with_failures→completed',
  ],
  [
    { when: 'suspect' },
    [{ mismatched: 3 }, { mismatched: 0 }],
    '1: suspect open null→3; 2: suspect over 3→0',
  ],
])('%j, runs %j', (rule, runs, expected) => {
  expect(
    told(
      story(
        [aRule(rule)],
        runs.map((health) => ({ health: aRun(health) })),
      ),
    ),
  ).toBe(expected)
})

test('a balance that one job told of in an earlier version is over for it', () => {
  const rule = aRule({ when: 'balance', below: 100 })
  const identity = alertIdentity('acme', rule, null)
  const facts = {
    job: 'acme',
    rules: [rule],
    skipped: null,
    suspicion: null,
    pairs: [],
    serps: [],
    linkText: String,
    at: 7,
  }
  const open = [{ id: 'a', identity, before: null, now: 40 }]
  const { changes } = evaluate({ ...facts, health: aRun({ balance: 500 }) }, open)
  expect(changes).toMatchObject([{ id: 'a', state: 'over', before: 40, now: 500 }])
  expect(evaluate({ ...facts, health: aRun({ balance: 50 }) }, open).changes).toEqual([])
})

test('a job that cannot run is told once, and once more when it runs again', () => {
  const skipped = { skipped: 'the key was refused' }
  const news = story(
    [aRule({ when: 'run-skipped' }), aRule({ when: 'run-failed' })],
    [skipped, skipped, { health: aRun() }, skipped],
  )
  expect(told(news)).toBe(
    '1: run-skipped open null→null; 3: run-skipped over null→completed; 4: run-skipped open null→null',
  )
})

test('what stops other jobs, too, or is said of the account, is told by no job for itself', () => {
  const refused = aRun({ finishReason: 'auth', hasCause: true, tasks: tasks(0), balance: 1 })
  const rules = [
    aRule({ when: 'run-failed' }),
    aRule({ when: 'run-skipped' }),
    aRule({ when: 'coverage', below: 95 }),
    aRule({ when: 'balance', below: 100 }),
  ]
  expect(told(story(rules, [{ health: refused }, { health: aRun() }]))).toBe('')
})

test('coverage is not told where a rule that is told as widely says why the run stopped', () => {
  const stopped = { health: aRun({ finishReason: 'budget', tasks: tasks(40) }) }
  const coverage = aRule({ when: 'coverage', below: 95, to: ['ops'] })
  const said = (to: readonly string[] | null): string =>
    told(story([coverage, aRule({ when: 'run-failed', to })], [stopped]))
  expect(said(null)).toBe('1: run-failed open null→budget')
  expect(said(['ops', 'mail'])).toBe('1: run-failed open null→budget')
  expect(said(['mail'])).toBe('1: coverage open null→40, run-failed open null→budget')
  expect(told(story([coverage], [stopped]))).toBe('1: coverage open null→40')
})

/** A list as tables write it: sites in the order of their ranks; `…` after them where there is a gap. */
function list(written: string): WatchedSerp['lists'][number] {
  const sites = written.replace('…', '').split('')
  return {
    ranks: new Map(sites.map((site, index) => [`${site}.com`, index + 1])),
    depth: written.endsWith('…') ? sites.length : Number.POSITIVE_INFINITY,
  }
}

testTable<[confirm: number, lists: string, expected: string]>([
  [1, 'abc', ''],
  [1, 'abc abd', '2: new-competitor open null→3'],
  [1, 'abc abd abc', '2: new-competitor open null→3; 3: new-competitor over null→null'],
  [1, 'abc abcd abdc', '3: new-competitor open null→3'],
  [1, 'abc abd abc abd', '2: new-competitor open null→3; 3: new-competitor over null→null'],
  [1, 'ab… abd', ''],
  [1, 'abc abd ab…', '2: new-competitor open null→3'],
  [2, 'abc abd abc abc', ''],
  [2, 'abc abd abd abc', '3: new-competitor open null→3; 4: new-competitor over null→null'],
])('confirm: %i, sites %s', (confirm, written, expected) => {
  const lists = written.split(' ').map(list)
  const runs = lists.map((_, index) => ({
    serps: [{ query: aWatchedQuery(), lists: lists.slice(Math.max(0, index - 3), index + 1) }],
  }))
  expect(told(story([aRule({ when: 'new-competitor', top: 3, confirm })], runs))).toBe(expected)
})

test('alerts of a rule that the job no longer has end without a word', () => {
  const rule = aRule({ when: 'suspect' })
  const facts = { job: 'acme', skipped: null, suspicion: null, pairs: [], serps: [], linkText: String, at: 7 }
  const first = evaluate({ ...facts, rules: [rule], health: aRun({ mismatched: 1 }) }, [])
  const [begun] = first.changes
  expect(begun?.id).toMatch(/^[0-9a-f]{12}$/)
  expect(begun?.id).toBe(alertId(begun?.identity ?? '', 7))
  const stored = first.changes.map(({ id, identity, before, now }) => ({ id, identity, before, now }))
  const { changes, dropped } = evaluate({ ...facts, rules: [], health: aRun({ mismatched: 1 }) }, stored)
  expect([changes, dropped]).toEqual([[], [begun?.id]])
})

describe('of a run that is suspect as a whole', () => {
  const suspicion = { ranked: 60, gone: 45, alike: 0 }
  const rules = [aRule({ when: 'lost', to: ['mail'] }), aRule({ when: 'drop', by: 3, to: ['chat'] })]
  const pair = (observations: string) => ({
    query: aWatchedQuery(),
    target: acme,
    observations: observationsOf(observations),
  })

  test('one alert is told in place of all, and the next run is judged as usual', () => {
    const runs = [
      { health: aRun(), suspicion, pairs: [pair('5 -30')] },
      { health: aRun(), suspicion, pairs: [pair('5 -30')] },
      { health: aRun(), pairs: [pair('5 -30')] },
    ]
    expect(told(story(rules, runs))).toBe(
      '1: suspect open 60→15; 3: suspect over 15→null, lost open 5→null, drop open 5→null',
    )
  })

  test('it goes where alerts on queries go, and says to check first', () => {
    const facts = { job: 'acme', skipped: null, suspicion, pairs: [], serps: [], linkText: String, at: 7 }
    const { changes } = evaluate({ ...facts, rules, health: null }, [])
    expect(changes).toMatchObject([
      {
        rule: { when: 'suspect', to: ['mail', 'chat'] },
        text: 'Check before you tell anyone: acme is suspect, 45 of 60 ranks of the last run are gone at once',
      },
    ])
    const everywhere = evaluate({ ...facts, rules: [...rules, aRule({ when: 'gain' })], health: null }, [])
    expect(everywhere.changes[0]?.rule.to).toBeNull()
    expect(evaluate({ ...facts, rules: [aRule({ when: 'run-failed' })], health: null }, []).changes).toEqual(
      [],
    )
  })

  test('answers to other queries are an alert of their own', () => {
    const runs = [
      { health: aRun({ mismatched: 3 }) },
      { health: aRun({ mismatched: 3 }), suspicion },
      { health: aRun() },
    ]
    expect(told(story([aRule({ when: 'suspect' })], runs))).toBe(
      '1: suspect open null→3; 2: suspect open 60→15; 3: suspect over 15→null, suspect over 3→0',
    )
  })
})
