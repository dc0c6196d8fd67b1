import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StopCause } from '../../src/model/run.ts'
import type { AlertMessage, AlertRule } from '../../src/model/settings.ts'
import { dayMs } from '../../src/model/time.ts'
import type { CauseAlert } from '../../src/store/sqlite/unattended/alerts.ts'
import type { NewMessage } from '../../src/store/sqlite/unattended/outbox.ts'
import { type Cause, causes, type RunHealth } from '../../src/unattended/alerts/causes.ts'
import { letters } from '../../src/unattended/channels/letter.ts'
import { aRule, aRun } from './build.ts'

const rules = [
  aRule({ when: 'run-failed' }),
  aRule({ when: 'run-skipped' }),
  aRule({ when: 'coverage', below: 95 }),
  aRule({ when: 'balance', below: 45 }),
]
const refusal: StopCause = {
  reason: 'auth',
  message: 'Stopped: the service refused the key (Invalid API key). Check RANKLINE_API_KEY.',
}
const stoppedBy = (finishReason: 'auth' | 'balance' | 'unavailable'): RunHealth =>
  aRun({ finishReason, hasCause: true, tasks: { planned: 10, done: 0, failed: 0 } })
const broken = (place: string, kind: 'file' | 'workspace' = 'file'): Cause => ({
  ...{ kind, place, text: `${place}:3:1: unknown key 'depht'; write 'depth'`, now: null },
  when: 'run-skipped',
})

interface StoryOptions {
  readonly channels?: readonly string[]
  readonly own?: readonly AlertRule[]
}

/** What channels are told as jobs say one thing after the other; a message of one identity is sent once. */
function aStory({ channels = ['mail'], own = rules }: StoryOptions = {}) {
  let open: readonly CauseAlert[] = []
  let now = 0
  const outbox = new Map<string, NewMessage>()
  const said: string[] = []
  const say = (
    ofJob: Parameters<typeof causes.change>[0],
    muted: ReadonlyMap<string, number> = new Map(),
  ) => {
    now += 60_000
    const { alerts, messages } = causes.change(ofJob, { open, muted, now })
    const known = new Map([...open, ...alerts].map((alert) => [alert.id, alert]))
    open = [...known.values()].filter(({ state }) => state === 'open')
    for (const message of messages) {
      if (outbox.has(message.identity)) continue
      outbox.set(message.identity, message)
      const [news] = (message.message as AlertMessage).alerts
      said.push(`${message.channel} ${news?.state} ${news?.jobs?.join()}: ${news?.text}`)
    }
  }
  const about = (job: string) => ({ job, rules: own, folder: '/ranks', channels })
  return {
    ...{ said, outbox },
    open: () => open,
    pass: (ms: number) => {
      now += ms
    },
    run: (
      job: string,
      health: RunHealth,
      stop: StopCause | null = null,
      muted?: ReadonlyMap<string, number>,
    ) => say(causes.ofRun(about(job), health, stop), muted),
    start: (job: string, cause: Cause | null) => say(causes.ofStart(about(job), cause)),
  }
}

test('a refused key is one message when it begins and one when all that it stopped went on', () => {
  const { said, run, open } = aStory()
  for (const job of ['a', 'b', 'c']) run(job, stoppedBy('auth'), refusal)
  // Stopped again the next day.
  run('a', stoppedBy('auth'), refusal)
  expect(open().map(({ text }) => text)).toEqual([
    'The service refused the key (Invalid API key). Check RANKLINE_API_KEY. Stopped: a, b, c',
  ])
  run('b', aRun())
  run('a', aRun())
  expect(said).toHaveLength(1)
  run('c', aRun())
  run('c', aRun())
  expect(said).toEqual([
    'mail open a: The service refused the key (Invalid API key). Check RANKLINE_API_KEY. Stopped: a',
    'mail over a,b,c: The service takes the key. At work again: a, b, c',
  ])
})

test('each channel is told once; a rule with a channel of its own tells it there', () => {
  const { said, run } = aStory({ channels: ['mail', 'chat'] })
  run('a', stoppedBy('unavailable'), {
    reason: 'unavailable',
    source: 'disk',
    message: 'The disk is full.',
  })
  expect(said).toEqual([
    'mail open a: The disk is full. Stopped: a',
    'chat open a: The disk is full. Stopped: a',
  ])
  const narrow = aStory({ own: [aRule({ when: 'coverage', below: 95, to: ['ops'] })] })
  narrow.run('a', stoppedBy('balance'))
  expect(narrow.said).toEqual(['ops open a: The balance covers no more. Top up. Stopped: a'])
})

test('a file that several jobs use is one message, and so is that it has no mistakes any more', () => {
  const { said, start, run } = aStory()
  for (const job of ['a', 'b', 'a']) start(job, broken('/ranks/list.csv'))
  start('c', broken('/ranks/rankline.yaml', 'workspace'))
  start('a', null)
  start('b', null)
  // A run that begins shows it, too.
  run('c', aRun())
  expect(said).toEqual([
    "mail open a: /ranks/list.csv:3:1: unknown key 'depht'; write 'depth'. Not run: a",
    "mail open c: /ranks/rankline.yaml:3:1: unknown key 'depht'; write 'depth'. Not run: c",
    'mail over a,b: /ranks/list.csv has no mistakes any more. At work again: a, b',
    'mail over c: /ranks/rankline.yaml has no mistakes any more. At work again: c',
  ])
})

test('a low balance is said once of the account, and is over with the first reading that is not low', () => {
  const { said, run } = aStory()
  for (const job of ['a', 'b', 'c']) run(job, aRun({ balance: 30 }))
  run('a', aRun({ balance: null }))
  run('b', aRun({ balance: 900 }))
  run('c', aRun({ balance: 890 }))
  expect(said).toEqual([
    'mail open a: The balance is 30 credits; the limit is 45',
    'mail over a,b,c: The balance is 900 credits; the limit is 45',
  ])
})

test('a run that was interrupted says nothing of what stopped others', () => {
  const { said, run } = aStory()
  run('a', stoppedBy('auth'))
  run('a', aRun({ finishReason: 'interrupted' }))
  expect(said).toHaveLength(1)
  run('a', aRun({ finishReason: 'budget' }))
  expect(said).toHaveLength(2)
})

test('a job that does not come back for two days is not waited for', () => {
  const { said, run, pass } = aStory()
  run('gone', stoppedBy('auth'))
  pass(3 * dayMs)
  run('a', stoppedBy('auth'))
  run('a', aRun())
  expect(said.at(-1)).toBe('mail over a,gone: The service takes the key. At work again: a, gone')
})

test('what is muted is not sent, nor that it is over; a job without a rule for it says nothing', () => {
  const { said, run, open } = aStory()
  run('a', stoppedBy('auth'), null, new Map([[JSON.stringify(['cause', 'key', '']), 9e15]]))
  expect(open()).toHaveLength(1)
  run('a', aRun())
  expect(said).toEqual([])
  const silent = aStory({ own: [aRule({ when: 'drop' })] })
  silent.run('a', stoppedBy('auth'))
  expect(silent.open()).toEqual([])
})

const steps = ['refused', 'no balance', 'good', 'interrupted', 'broken', 'sound'] as const

test('whatever jobs say in whatever order, each beginning and each end is told once', () => {
  const step = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom(...steps))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (story) => {
      const { said, run, start, open, outbox } = aStory()
      const stopped = { file: new Set<string>(), key: new Set<string>(), credit: new Set<string>() }
      const note = (kind: keyof typeof stopped, job: string, is: boolean) =>
        is ? stopped[kind].add(job) : stopped[kind].delete(job)
      for (const [job, does] of story) {
        if (does === 'refused') run(job, stoppedBy('auth'))
        if (does === 'no balance') run(job, stoppedBy('balance'))
        if (does === 'good') run(job, aRun())
        if (does === 'interrupted') run(job, aRun({ finishReason: 'interrupted' }))
        if (does === 'broken') start(job, broken('/f'))
        if (does === 'sound') start(job, null)
        note('file', job, does === 'broken')
        if (does === 'broken' || does === 'sound' || does === 'interrupted') continue
        note('key', job, does === 'refused')
        note('credit', job, does === 'no balance')
      }
      const now = new Map(
        open().map(({ identity, stopped }) => [
          JSON.parse(identity)[1],
          new Set(stopped.flatMap(({ job, isStopped }) => (isStopped ? [job] : []))),
        ]),
      )
      expect(now).toEqual(new Map(Object.entries(stopped).filter(([, jobs]) => jobs.size > 0)))
      const count = (state: string): number => said.filter((line) => line.includes(` ${state} `)).length
      expect(count('open')).toBe(count('over') + open().length)
      expect(outbox.size).toBe(said.length)
    }),
  )
})

test('the message names the jobs: their number in the subject, each in a line', () => {
  const { outbox, run } = aStory()
  const what = 'The service refused the key (Invalid API key). Check RANKLINE_API_KEY'
  run('acme', stoppedBy('auth'), refusal)
  expect(letters.of([...outbox.values()][0] as NewMessage)).toEqual({
    subject: `acme: ${what}`,
    title: `acme: ${what}`,
    sections: [{ heading: null, lines: [what] }],
  })
  run('umbrella', stoppedBy('auth'), refusal)
  run('acme', aRun())
  run('umbrella', aRun())
  const over = 'The service takes the key'
  expect(letters.of([...outbox.values()].at(-1) as NewMessage)).toEqual({
    subject: `2 jobs, over: ${over}`,
    title: `2 jobs, over: ${over}`,
    sections: [
      { heading: null, lines: [over] },
      { heading: 'Jobs', lines: ['acme', 'umbrella'] },
    ],
  })
})
