import { describe, expect, test } from 'vitest'
import type { Mute, StoredAlert } from '../../src/store/sqlite/unattended/alerts.ts'
import { alertIdentity, judge } from '../../src/unattended/alerts/judgement.ts'
import { testTable } from '../support/test-table.ts'
import { acme, aRule, aRun, aWatchedQuery, observationsOf } from './build.ts'

const rule = aRule({ when: 'suspect', to: ['ops'] })
const identity = alertIdentity('acme', rule, null)

function judged(mismatched: number, { told = true, isOpen = true, isMuted = false, isGone = false }) {
  const alert: StoredAlert = {
    ...{
      id: 'aaaaaaaaaaaa',
      identity,
      job: 'acme',
      when: 'suspect',
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
      stopped: null,
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
    { ...facts, health: aRun({ mismatched }) },
    {
      ...{ run: { id: 2, finishedAt: 7, closedAt: null }, now: 9, channels: ['mail'] },
      ...{ client: null, describe: null },
      open: isOpen ? [alert] : [],
      gone: new Set(isGone ? [alert.id] : []),
      muted: new Map(isMuted ? [[identity, 99]] : []),
      mutes: [],
    },
  )
  const sent = messages.flatMap(({ message }) => ('alerts' in message ? message.alerts : []))
  const states = sent.map(({ state }) => state).join()
  return [opened.map((one) => one.told).join(), over.length, dropped.length, toldNow.length, states]
}

testTable<[string, number, Parameters<typeof judged>[1], ReturnType<typeof judged>]>([
  ['begins', 1, { isOpen: false }, ['true', 0, 0, 0, 'open']],
  ['goes on', 1, {}, ['', 0, 0, 0, '']],
  ['is over', 0, {}, ['', 1, 0, 0, 'over']],
  ['begins muted', 1, { isOpen: false, isMuted: true }, ['false', 0, 0, 0, '']],
  ['goes on muted, untold', 1, { told: false, isMuted: true }, ['', 0, 0, 0, '']],
  ['goes on, no longer muted', 1, { told: false }, ['', 0, 0, 1, 'open']],
  ['is over, and was never told', 0, { told: false }, ['', 1, 0, 0, '']],
  ['is over muted', 0, { isMuted: true }, ['', 1, 0, 0, '']],
  // A new alert of the same identity may begin at once.
  ['is gone', 0, { isGone: true }, ['', 0, 1, 0, '']],
])('an alert that %s: %i answers to another query, %j', (_, mismatched, known, expected) => {
  expect(judged(mismatched, known)).toEqual(expected)
})

test('a message goes to the channels that a rule names, also to one that the workspace does not have yet', () => {
  const facts = { job: 'acme', at: 7, skipped: null, suspicion: null, pairs: [], serps: [], linkText: String }
  const rules = [
    rule,
    aRule({ when: 'coverage', below: 90 }),
    aRule({ when: 'run-failed', to: ['mail', 'chat'] }),
  ]
  const health = aRun({
    finishReason: 'completed_with_failures',
    mismatched: 1,
    tasks: { planned: 10, done: 1, failed: 9 },
  })
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
      ...{ muted: new Map(), mutes: [] },
    },
  )
  expect(
    messages.map(({ channel, identity, message }) => [
      channel,
      identity,
      'alerts' in message ? message.alerts.map(({ when }) => when) : [],
    ]),
  ).toEqual([
    ['mail', 'alerts:run 2:7:mail', ['coverage', 'run-failed']],
    ['log', 'alerts:run 2:7:log', ['coverage']],
    ['ops', 'alerts:run 2:7:ops', ['suspect']],
    ['chat', 'alerts:run 2:7:chat', ['run-failed']],
  ])
})

describe('a message about ranks', () => {
  const pair = (
    key: string,
    observations: string,
    volume: number | null = null,
    tags: readonly string[] = [],
  ) => {
    const query = aWatchedQuery({ key, text: key, volume, tags })
    return { query, target: acme, observations: observationsOf(observations) }
  }
  const details = { locale: 'en-us', tags: ['money'], url: 'https://acme.com/a', there_now: 'rival.com' }

  function alertsOf(
    rules: readonly ReturnType<typeof aRule>[],
    pairs: readonly ReturnType<typeof pair>[],
    mutes: readonly Mute[] = [],
  ) {
    const facts = { job: 'acme', at: 7, skipped: null, suspicion: null, serps: [], linkText: String }
    const { opened, messages } = judge(
      { ...facts, rules, pairs, health: aRun({ mismatched: 1 }) },
      {
        ...{
          run: { id: 2, finishedAt: 7, closedAt: null },
          now: 9,
          channels: ['mail', 'log'],
          client: 'Acme Inc.',
        },
        ...{ open: [], gone: new Set(), muted: new Map(), mutes },
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
    const rules = [aRule({ when: 'drop', by: 3 }), aRule({ when: 'suspect' })]
    const pairs = [pair('a', '5 9'), pair('b', '2 9'), pair('c', '5 9', 10), pair('d', '2 9', 10)]
    const { of } = alertsOf(rules, pairs)
    expect(of('mail')?.alerts.map(({ query }) => query)).toEqual([null, 'd', 'c', 'b', 'a'])
  })

  testTable<[Partial<Mute>, readonly (string | null)[]]>([
    [{ job: 'acme' }, []],
    [{ job: 'other' }, [null, 'b', 'a']],
    [{ tag: 'money' }, [null, 'b']],
    [{ when: 'drop' }, [null]],
    [{ when: 'suspect' }, ['b', 'a']],
    [{ job: 'acme', tag: 'money', when: 'drop' }, [null, 'b']],
    [{ tag: 'money', when: 'gain' }, [null, 'b', 'a']],
  ])('muted with %j, it has the alerts %j; the others are stored as not told', (scope, told) => {
    const rules = [aRule({ when: 'drop', by: 3 }), aRule({ when: 'suspect' })]
    const pairs = [pair('a', '5 9', null, ['money']), pair('b', '2 9')]
    const mute = { ...{ job: null, tag: null, when: null }, ...scope, until: 99 }
    const { opened, of } = alertsOf(rules, pairs, [mute])
    expect(of('mail')?.alerts.map(({ query }) => query) ?? []).toEqual(told)
    expect(opened).toHaveLength(3)
    expect(opened.filter(({ mutedUntil, told: isTold }) => mutedUntil === 99 && !isTold)).toHaveLength(
      3 - told.length,
    )
  })
})
