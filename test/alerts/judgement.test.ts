import { describe, expect, test } from 'vitest'
import { judge } from '../../src/alerts/judgement.ts'
import { alertIdentity } from '../../src/alerts/rules/evaluate.ts'
import type { StoredAlert } from '../../src/store/alerts.ts'
import { testTable } from '../support/test-table.ts'
import { acme, aRule, aRun, aWatchedQuery, looksOf } from './build.ts'

const rule = aRule({ when: 'balance', below: 100, to: ['ops'] })
const identity = alertIdentity('acme', rule, null)

function judged(balance: number, { told = true, isOpen = true, isMuted = false, isGone = false }) {
  const alert: StoredAlert = {
    ...{
      id: 'aaaaaaaaaaaa',
      identity,
      job: 'acme',
      when: 'balance',
      query: null,
      target: null,
      state: 'open',
    },
    ...{
      openedAt: 1,
      openedRun: 1,
      overAt: null,
      before: null,
      now: 50,
      text: 'low',
      mutedUntil: null,
      told,
    },
  }
  const facts = {
    job: 'acme',
    rules: [rule],
    at: 7,
    skipped: null,
    suspicion: null,
    pairs: [],
    serps: [],
    linkText: String,
  }
  const { opened, over, dropped, toldNow, messages } = judge(
    { ...facts, health: aRun({ balance }) },
    {
      ...{ run: { id: 2, finishedAt: 7, closedAt: null }, now: 9, channels: ['mail'] },
      ...{ client: null, describe: null },
      open: isOpen ? [alert] : [],
      gone: new Set(isGone ? [alert.id] : []),
      muted: new Map(isMuted ? [[identity, 99]] : []),
    },
  )
  const sent = messages.flatMap(({ message }) => ('alerts' in message ? message.alerts : []))
  const states = sent.map(({ state }) => state).join()
  return [opened.map((one) => one.told).join(), over.length, dropped.length, toldNow.length, states]
}

testTable<[string, number, Parameters<typeof judged>[1], ReturnType<typeof judged>]>([
  ['begins', 50, { isOpen: false }, ['true', 0, 0, 0, 'open']],
  ['goes on', 50, {}, ['', 0, 0, 0, '']],
  ['is over', 500, {}, ['', 1, 0, 0, 'over']],
  ['begins muted', 50, { isOpen: false, isMuted: true }, ['false', 0, 0, 0, '']],
  ['goes on muted, untold', 50, { told: false, isMuted: true }, ['', 0, 0, 0, '']],
  ['goes on, no longer muted', 50, { told: false }, ['', 0, 0, 1, 'open']],
  ['is over, and was never told', 500, { told: false }, ['', 1, 0, 0, '']],
  ['is over muted', 500, { isMuted: true }, ['', 1, 0, 0, '']],
  // A new alert of the same identity may begin at once.
  ['is gone', 500, { isGone: true }, ['', 0, 1, 0, '']],
])('an alert that %s: balance %i, %j', (_, balance, known, expected) => {
  expect(judged(balance, known)).toEqual(expected)
})

test('a message goes to the channels that a rule names, also to one that the workspace does not have yet', () => {
  const facts = { job: 'acme', at: 7, skipped: null, suspicion: null, pairs: [], serps: [], linkText: String }
  const rules = [
    rule,
    aRule({ when: 'coverage', below: 90 }),
    aRule({ when: 'suspect', to: ['mail', 'chat'] }),
  ]
  const health = aRun({ balance: 1, mismatched: 1, tasks: { planned: 10, done: 1, failed: 9 } })
  const { messages } = judge(
    { ...facts, rules, health },
    {
      run: { id: 2, finishedAt: 7, closedAt: null },
      now: 9,
      channels: ['mail', 'log'],
      client: null,
      describe: null,
      open: [],
      gone: new Set(),
      muted: new Map(),
    },
  )
  expect(
    messages.map(({ channel, identity, message }) => [
      channel,
      identity,
      'alerts' in message ? message.alerts.map(({ when }) => when) : [],
    ]),
  ).toEqual([
    ['mail', 'alerts:run 2:7:mail', ['coverage', 'suspect']],
    ['log', 'alerts:run 2:7:log', ['coverage']],
    ['ops', 'alerts:run 2:7:ops', ['balance']],
    ['chat', 'alerts:run 2:7:chat', ['suspect']],
  ])
})

describe('a message about ranks', () => {
  const pair = (key: string, looks: string, volume: number | null = null) => {
    const query = aWatchedQuery({ key, text: key, volume })
    return { query, target: acme, looks: looksOf(looks) }
  }
  const details = { locale: 'en-us', tags: ['money'], url: 'https://acme.com/a', there_now: 'rival.com' }

  function alertsOf(rules: readonly ReturnType<typeof aRule>[], pairs: readonly ReturnType<typeof pair>[]) {
    const facts = { job: 'acme', at: 7, skipped: null, suspicion: null, serps: [], linkText: String }
    const { opened, messages } = judge(
      { ...facts, rules, pairs, health: aRun({ balance: 1 }) },
      {
        ...{
          run: { id: 2, finishedAt: 7, closedAt: null },
          now: 9,
          channels: ['mail', 'log'],
          client: 'Acme Inc.',
        },
        ...{ open: [], gone: new Set(), muted: new Map() },
        describe: ({ before }, { volume }) => {
          const share = 1 / Number(before)
          return { share, details: { ...details, volume, clicks: volume === null ? null : volume * share } }
        },
      },
    )
    const of = (channel: string) =>
      messages.flatMap((one) => (one.channel === channel && one.kind === 'alerts' ? one.message : []))[0]
    return { opened, of }
  }

  test('has a line for each event, and names the other alerts of it', () => {
    const rules = [
      aRule({ when: 'drop', by: 3 }),
      aRule({ when: 'left', top: 10 }),
      aRule({ when: 'lost', to: ['mail'] }),
    ]
    const { opened, of } = alertsOf(rules, [pair('desk', '5 -30')])
    expect(opened.map(({ when }) => when)).toEqual(['drop', 'left', 'lost'])
    const [drop, left, lost] = opened.map(({ id }) => id)
    expect(of('mail')).toMatchObject({
      client: 'Acme Inc.',
      alerts: [
        {
          ...{ id: lost, when: 'lost', query: 'desk', ...details, volume: null },
          also: [
            { id: left, when: 'left' },
            { id: drop, when: 'drop' },
          ],
        },
      ],
    })
    expect(of('log')).toMatchObject({ alerts: [{ id: left, also: [{ id: drop, when: 'drop' }] }] })
  })

  test('begins with the whole job, then goes by clicks at stake, unknown ones last', () => {
    const rules = [aRule({ when: 'drop', by: 3 }), aRule({ when: 'balance', below: 100 })]
    const pairs = [pair('a', '5 9'), pair('b', '2 9'), pair('c', '5 9', 10), pair('d', '2 9', 10)]
    const { of } = alertsOf(rules, pairs)
    expect(of('mail')?.alerts.map(({ query }) => query)).toEqual([null, 'd', 'c', 'b', 'a'])
  })
})
