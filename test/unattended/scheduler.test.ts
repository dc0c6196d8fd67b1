import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StopRequested } from '../../src/collect/stop.ts'
import { busyExitCode, RanklineError } from '../../src/model/errors.ts'
import type { JobSettings } from '../../src/model/job.ts'
import { clocks } from '../../src/run/app.ts'
import { type LastValidJob, scheduledFiles } from '../../src/unattended/scheduler/job-files.ts'
import {
  type CheckResult,
  type CollectDue,
  nextCheck,
  pauseBefore,
  runScheduler,
  type ScheduledJobState,
  type When,
} from '../../src/unattended/scheduler/scheduler.ts'
import { type SimulatedClock, simulatedClock, type TimedEvent } from '../support/simulated-clock.ts'
import { testTable } from '../support/test-table.ts'

const at = (text: string): number => Date.parse(text)
const hourMs = 3_600_000

testTable<readonly [string, When, string | null, string, string | null]>([
  [
    'at once where it was not looked at',
    { schedule: '0 6 * * *', timezone: 'UTC' },
    null,
    '2026-01-01T07:00Z',
    '2026-01-01T07:00Z',
  ],
  [
    'the next slot',
    { schedule: '0 6 * * *', timezone: 'UTC' },
    '2026-01-01T06:00Z',
    '2026-01-01T06:00Z',
    '2026-01-02T06:00Z',
  ],
  [
    'in its zone',
    { schedule: '0 6 * * *', timezone: 'Asia/Tokyo' },
    '2026-01-01T06:00Z',
    '2026-01-01T06:00Z',
    '2026-01-01T21:00Z',
  ],
  [
    'a slot that passed meanwhile',
    { schedule: '0 * * * *', timezone: 'UTC' },
    '2026-01-01T06:00Z',
    '2026-01-01T08:30Z',
    '2026-01-01T07:00Z',
  ],
  [
    'every five minutes without a pattern',
    { schedule: null, timezone: 'UTC' },
    '2026-01-01T06:01Z',
    '2026-01-01T06:01Z',
    '2026-01-01T06:05Z',
  ],
  [
    'never again',
    { schedule: '0 0 31 2 *', timezone: 'UTC' },
    '2026-01-01T06:01Z',
    '2026-01-01T06:01Z',
    null,
  ],
])('a job is looked at %s', (_, when, lookedAt, now, expected) => {
  const next = nextCheck(when, lookedAt === null ? null : at(lookedAt), at(now))
  expect(next).toBe(expected === null ? null : at(expected))
})

/** A job of that pattern, as its file says it. */
function form(name: string, schedule: string | null, timezone = 'UTC'): LastValidJob {
  const settings = { name, schedule, timezone } as JobSettings
  return { path: `${name}.yaml`, settings, text: Buffer.alloc(0), isBroken: false }
}

const done: CheckResult = { run: 1, finishReason: 'completed', finishedAt: 0, retry: null }

interface Story {
  readonly jobs: readonly LastValidJob[] | (() => readonly LastValidJob[])
  readonly from: string
  readonly until: string
  readonly events?: readonly TimedEvent[]
  readonly collect?: (names: readonly string[], clock: SimulatedClock) => void
  readonly end?: (name: string, now: number) => CheckResult
  readonly probe?: (now: number) => boolean
}

/** Lets a scheduler run for that time; answers `instant names` of each look, and what it logged. */
async function played({ jobs, from, until, events = [], collect = () => {}, end: endOf, probe }: Story) {
  const probes: string[] = []
  const looks: string[] = []
  const lines: string[] = []
  const states: (readonly ScheduledJobState[])[] = []
  const controller = new AbortController()
  const end: TimedEvent = { at: at(until), happens: () => controller.abort(new StopRequested()) }
  const clock = simulatedClock(at(from), [...events, end])
  const trials: boolean[] = []
  const collectDue: CollectDue = async (forms, _, isTrial) => {
    const names = forms.map(({ settings }) => settings.name)
    looks.push(`${new Date(clock.wall()).toISOString().slice(0, 16)} ${names.join(' ')}`)
    trials.push(isTrial)
    collect(names, clock)
    return new Map(names.map((name) => [name, endOf?.(name, clock.wall()) ?? done]))
  }
  await runScheduler({
    clock,
    jobFiles: { refresh: async () => (typeof jobs === 'function' ? jobs() : jobs) },
    collect: collectDue,
    askService: async () => {
      probes.push(new Date(clock.wall()).toISOString().slice(0, 16))
      return probe?.(clock.wall()) ?? true
    },
    log: (line) => lines.push(line),
    stop: controller.signal,
    onChecked: (shown) => states.push(shown),
  })
  return { looks, lines, states, probes, trials }
}

test('each job is looked at once at the start, then at its times; those of one instant together', async () => {
  const jobs = [form('a', '0 6,18 * * *'), form('b', '0 6 * * *'), form('c', '0 6 * * *', 'America/New_York')]
  const { looks } = await played({ jobs, from: '2026-03-08T00:30Z', until: '2026-03-09T11:00Z' })
  expect(looks).toEqual([
    '2026-03-08T00:30 a b c',
    '2026-03-08T06:00 a b',
    '2026-03-08T10:00 c',
    '2026-03-08T18:00 a',
    '2026-03-09T06:00 a b',
    '2026-03-09T10:00 c',
  ])
})

test('a machine that was suspended looks at each job once when it wakes, within half a minute', async () => {
  const jobs = [form('often', '0 * * * *'), form('daily', '0 6 * * *'), form('weekly', '0 6 * * 1')]
  const suspended: TimedEvent[] = []
  const story = { jobs, from: '2026-01-06T05:30Z', until: '2026-01-09T10:30Z', events: suspended }
  let hasSlept = false
  const { looks } = await played({
    ...story,
    collect: (_, clock) => {
      if (hasSlept || clock.wall() < at('2026-01-06T06:00Z')) return
      hasSlept = true
      clock.jump(75.5 * hourMs)
    },
  })
  expect(looks).toEqual([
    '2026-01-06T05:30 often daily weekly',
    '2026-01-06T06:00 often daily',
    '2026-01-09T09:30 often daily',
    '2026-01-09T10:00 often',
  ])
})

test('a clock that is set while a scheduler sleeps is noticed, forward and back', async () => {
  let clock: SimulatedClock | null = null
  const jump = (text: string, ms: number): TimedEvent => ({ at: at(text), happens: () => clock?.jump(ms) })
  const { looks } = await played({
    jobs: [form('a', '0 6 * * *')],
    from: '2026-01-01T05:00Z',
    until: '2026-01-03T07:00Z',
    collect: (_, own) => {
      clock = own
    },
    events: [jump('2026-01-01T07:00Z', 24 * hourMs), jump('2026-01-02T08:00Z', -24 * hourMs)],
  })
  expect(looks).toEqual([
    '2026-01-01T05:00 a',
    '2026-01-01T06:00 a',
    '2026-01-02T07:00 a',
    '2026-01-02T06:00 a',
    '2026-01-03T06:00 a',
  ])
})

test('while another process collects, what is due waits, and one line says so', async () => {
  const { looks, lines } = await played({
    jobs: [form('a', '0 6 * * *'), form('b', '1 6 * * *')],
    from: '2026-01-01T05:00Z',
    until: '2026-01-01T07:00Z',
    collect: (_, clock) => {
      const now = clock.wall()
      if (now >= at('2026-01-01T06:00Z') && now < at('2026-01-01T06:02Z'))
        throw new RanklineError('Another process is collecting', busyExitCode)
    },
  })
  expect(looks.at(-1)).toBe('2026-01-01T06:02 a b')
  expect(new Set(looks.slice(1).map((look) => look.slice(0, 16)))).toEqual(
    new Set(['2026-01-01T06:00', '2026-01-01T06:01', '2026-01-01T06:02']),
  )
  expect(lines).toEqual(['Another process on this machine is collecting; what is due waits for it.'])
})

test('an error of one time is logged, and the job is looked at again at its next time', async () => {
  const { looks, lines, states } = await played({
    jobs: [form('a', '0 6 * * *')],
    from: '2026-01-01T05:00Z',
    until: '2026-01-04T05:00Z',
    collect: (_, clock) => {
      const day = new Date(clock.wall()).toISOString().slice(0, 10)
      if (clock.wall() === at('2026-01-01T06:00Z')) throw new RanklineError('The key is wrong', 5)
      if (day === '2026-01-02') throw new TypeError('x is undefined')
    },
  })
  // What a setting can mend is tried again after five minutes, a bug at the next time.
  expect(looks.slice(1).map((look) => look.slice(0, 16))).toEqual([
    '2026-01-01T06:00',
    '2026-01-01T06:05',
    '2026-01-02T06:00',
    '2026-01-03T06:00',
  ])
  expect(lines).toEqual(['The key is wrong. Not run: a.', 'internal error: x is undefined. Not run: a.'])
  const problems = states.map(([state]) => state?.problem)
  expect([...new Set(problems)]).toEqual([null, 'The key is wrong', 'internal error: x is undefined'])
  expect(problems.at(-1)).toBe(null)
})

test('while the service or the disk is unavailable, the job is looked at again sooner, at growing pauses', async () => {
  const { looks } = await played({
    jobs: [form('a', '0 6 * * *')],
    from: '2026-01-01T05:30Z',
    until: '2026-01-02T06:30Z',
    collect: (_, clock) => {
      const now = clock.wall()
      if (now >= at('2026-01-01T06:00Z') && now < at('2026-01-01T08:30Z'))
        throw new RanklineError('The disk is full', 6)
    },
  })
  expect(looks.map((look) => look.slice(8, 16))).toEqual([
    ...['01T05:30', '01T06:00', '01T06:05', '01T06:15', '01T06:35', '01T07:15', '01T08:15', '01T09:15'],
    '02T06:00',
  ])
  expect([1, 2, 3, 4, 5, 6, 99].map((tries) => pauseBefore(tries, 'free') / 60_000)).toEqual([
    5, 10, 20, 40, 60, 60, 60,
  ])
  // What may be billed is tried rarely.
  expect([1, 2, 3, 4, 5, 6].map((tries) => pauseBefore(tries, 'paid') / hourMs)).toEqual([1, 2, 4, 8, 16, 24])
})

/** Ends of runs that a refused key has stopped, or answers that cannot be used. */
const refused: CheckResult = { run: 1, finishReason: 'auth', finishedAt: 0, retry: 'free' }
const useless: CheckResult = { run: 1, finishReason: 'unavailable', finishedAt: 0, retry: 'paid' }

test('what a refused key stopped is asked for free, and continued as soon as the key is taken', async () => {
  const isMended = (now: number): boolean => now >= at('2026-01-01T07:00Z')
  const { looks, probes } = await played({
    jobs: [form('a', '0 6 * * *'), form('b', '0 6 * * *'), form('c', '30 6 * * *')],
    from: '2026-01-01T05:30Z',
    until: '2026-01-02T05:00Z',
    end: (_, now) => (now < at('2026-01-01T06:00Z') || isMended(now) ? done : refused),
    probe: isMended,
  })
  expect(looks.map((look) => look.slice(8))).toEqual([
    '01T05:30 a b c',
    '01T06:00 a b',
    // Its own time is not probed: the run says it.
    '01T06:30 c',
    '01T07:05 a b c',
  ])
  expect(probes.map((probe) => probe.slice(11))).toEqual(['06:05', '06:15', '06:35', '06:45', '07:05'])
})

test('what a refused key stopped is asked for at the time of another job, too, and only that job is looked at', async () => {
  const { looks, probes } = await played({
    jobs: [form('a', '0 6 * * *'), form('b', '5 6 * * *'), form('c', '35 6 * * *')],
    from: '2026-01-01T05:30Z',
    until: '2026-01-02T05:00Z',
    end: (_, now) => (now >= at('2026-01-01T06:00Z') && now < at('2026-01-01T06:30Z') ? refused : done),
    probe: (now) => now >= at('2026-01-01T06:30Z'),
  })
  // Once the service takes calls again, all go on together with the job whose time it is.
  expect(looks.slice(1).map((look) => look.slice(11))).toEqual(['06:00 a', '06:05 b', '06:35 c a b'])
  expect(probes.map((probe) => probe.slice(11))).toEqual(['06:05', '06:10', '06:15', '06:20', '06:35'])
})

test('what answers of no use stopped is tried after an hour, then twice as late each time, and not probed', async () => {
  const { looks, probes, trials } = await played({
    jobs: [form('a', '0 6 1 * *')],
    from: '2026-01-01T06:00Z',
    until: '2026-01-02T06:00Z',
    end: (_, now) => (now < at('2026-01-01T20:00Z') ? useless : done),
  })
  expect(looks.map((look) => look.slice(8, 16))).toEqual([
    '01T06:00',
    '01T07:00',
    '01T09:00',
    '01T13:00',
    '01T21:00',
  ])
  expect(probes).toEqual([])
  expect(trials).toEqual([false, true, true, true, true])
})

test('a job whose time is changed runs at the new one; a new job at once; one that is gone no more', async () => {
  let jobs = [form('a', '0 6 * * *'), form('b', '0 6 * * *')]
  const change = (text: string, to: LastValidJob[]): TimedEvent => ({
    at: at(text),
    happens: () => {
      jobs = to
    },
  })
  const { looks } = await played({
    jobs: () => jobs,
    from: '2026-01-01T05:00Z',
    until: '2026-01-03T07:00Z',
    events: [
      change('2026-01-01T12:00Z', [form('a', '0 9 * * *'), form('b', '0 6 * * *')]),
      change('2026-01-02T12:00Z', [form('a', '0 9 * * *'), form('c', '0 6 * * *')]),
    ],
  })
  expect(looks).toEqual([
    '2026-01-01T05:00 a b',
    '2026-01-01T06:00 a b',
    // The slot of the new pattern that had passed: the database says whether it was run.
    '2026-01-01T12:00 a',
    '2026-01-02T06:00 b',
    '2026-01-02T09:00 a',
    '2026-01-02T12:00 c',
    '2026-01-03T06:00 c',
  ])
})

test('a job whose file has mistakes at its time is looked at again at once when they are mended, and then at its times', async () => {
  let isBroken = false
  const set = (text: string, to: boolean): TimedEvent => ({
    at: at(text),
    happens: () => {
      isBroken = to
    },
  })
  const { looks } = await played({
    jobs: () => [{ ...form('a', '0 6 * * *'), isBroken }, form('b', '0 6 * * *')],
    from: '2026-01-01T05:00Z',
    until: '2026-01-03T07:00Z',
    events: [set('2026-01-02T05:00Z', true), set('2026-01-02T08:10Z', false)],
  })
  expect(looks).toEqual([
    '2026-01-01T05:00 a b',
    '2026-01-01T06:00 a b',
    '2026-01-02T06:00 a b',
    '2026-01-02T08:10 a',
    '2026-01-03T06:00 a b',
  ])
})

test('a changed file is read again; a broken one is reported once and keeps its last good form', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-files-'))
  const file = join(folder, 'job.yaml')
  const lines: string[] = []
  const files = scheduledFiles.watch({ named: [], folder }, (line) => lines.push(line.replaceAll(folder, '')))
  const patterns = async () =>
    (await files.refresh()).map(({ settings, isBroken }) => [settings.schedule, isBroken])
  const write = (schedule: string, queries = 'a'): Promise<void> =>
    writeFile(file, `schedule: "${schedule}"\nqueries: [${queries}]\n`)
  await write('0 6 * * *')
  await writeFile(join(folder, 'rankline.yaml'), 'defaults: { params: { gl: us } }\n')
  await writeFile(join(folder, 'unscheduled.yaml'), 'queries: [a]\n')
  expect(await patterns()).toEqual([['0 6 * * *', false]])
  await write('0 99 * * *')
  expect(await patterns()).toEqual([['0 6 * * *', true]])
  expect(await patterns()).toEqual([['0 6 * * *', true]])
  await write('0 7 * * *')
  expect(await patterns()).toEqual([['0 7 * * *', false]])
  await write('0 8 * * *', '{ file: none.csv }')
  expect(await patterns()).toEqual([['0 7 * * *', true]])
  await writeFile(join(folder, 'none.csv'), 'query\nx\n')
  expect(await patterns()).toEqual([['0 8 * * *', false]])
  await rm(join(folder, 'unscheduled.yaml'))
  await writeFile(join(folder, 'rankline.yaml'), 'defaluts: {}\n')
  expect(await patterns()).toEqual([['0 8 * * *', true]])
  await rm(join(folder, 'rankline.yaml'))
  expect(await patterns()).toEqual([['0 8 * * *', false]])
  await writeFile(join(folder, 'single.yaml'), 'queries: [{ query: a, every: 1d }]\n')
  expect(await patterns()).toEqual([
    ['0 8 * * *', false],
    [null, false],
  ])
  await rm(join(folder, 'single.yaml'))
  await rm(file)
  expect(await patterns()).toEqual([])
  await rm(folder, { recursive: true })
  expect(lines).toEqual([
    expect.stringMatching(/^\/job\.yaml:1:11: .*99/),
    expect.stringMatching(/^\/job\.yaml has mistakes: its job runs as it was before/),
    '/job.yaml has no mistakes any more.',
    expect.stringMatching(/^\/job\.yaml:2:/),
    expect.stringMatching(/^\/job\.yaml has mistakes/),
    '/job.yaml has no mistakes any more.',
    expect.stringMatching(/^\/rankline\.yaml:1:1: unknown key/),
    '/job.yaml is not run until the mistakes in that file are mended.',
    '/job.yaml has no mistakes any more.',
    '/single.yaml is scheduled now.',
    '/job.yaml, /single.yaml are gone: their jobs run no more.',
  ])
})

test('where it is stopped while it reads job files, nothing is looked at', async () => {
  const controller = new AbortController()
  const looks: string[] = []
  await runScheduler({
    clock: simulatedClock(at('2026-01-01T06:00Z'), []),
    jobFiles: {
      refresh: async () => {
        controller.abort(new StopRequested())
        return [form('a', '0 6 * * *')]
      },
    },
    collect: async () => {
      looks.push('a')
      return new Map()
    },
    log: () => {},
    stop: controller.signal,
  })
  expect(looks).toEqual([])
})

test('while the clock is more than a day off nothing is looked at; then what has passed is looked at once, and each is said once', async () => {
  const lines: string[] = []
  const looks: string[] = []
  const controller = new AbortController()
  let days = 0
  let asked = 0
  const setTo = (ahead: number): void => {
    clock.jump((ahead - days) * 24 * hourMs)
    days = ahead
  }
  // The clock of the machine is set two years ahead, and back after an hour.
  const clock: SimulatedClock = simulatedClock(at('2026-03-01T05:30Z'), [
    { at: at('2026-03-01T05:40Z'), happens: () => setTo(730) },
    { at: at('2028-02-29T06:40Z'), happens: () => setTo(0) },
  ])
  const gate = clocks.gate({
    ask: async () => {
      asked += 1
      return -days * 24 * hourMs
    },
    ...{ clock, options: {}, log: (line) => void lines.push(line) },
  })
  let besides = 0
  await runScheduler({
    clock,
    jobFiles: { refresh: async () => [form('a', '0 6,8 * * *')] },
    collect: async () => {
      looks.push(new Date(clock.wall()).toISOString().slice(0, 16))
      if (looks.length === 3) controller.abort(new StopRequested())
      return new Map([['a', done]])
    },
    mayWork: gate.mayWork,
    onWake: async () => {
      if (clock.wall() > at('2027-01-01T00:00Z')) besides += 1
    },
    log: () => {},
    stop: controller.signal,
  })
  expect(looks).toEqual(['2026-03-01T05:30', '2026-03-01T06:40', '2026-03-01T08:00'])
  expect(besides).toBe(0)
  expect(lines).toEqual([
    expect.stringMatching(
      /^The clock of this machine is 730 days ahead of that of the service: .+--trust-clock$/,
    ),
    'The clock of this machine can be worked with again.',
  ])
  // At the start, when it was set, every five minutes while it is wrong, and when it was set back.
  expect(asked).toBeGreaterThan(10)
  expect(asked).toBeLessThan(20)
  expect(gate.isConfirmed()).toBe(true)
})
