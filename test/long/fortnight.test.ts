import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { letters } from '../../src/unattended/channels/letter.ts'
import { type Incident, type ScheduledHistory, scheduled } from '../support/scheduled-year.ts'

// Two weeks of forty jobs that run every morning, with one trouble after the other.

const from = '2026-03-02T00:00:00Z'
const days = 14
const jobs = Array.from({ length: 40 }, (_, n) => `job-${String(n).padStart(2, '0')}`)
/** Five jobs at a time, every twenty minutes from five o'clock on. */
const timeOf = (n: number): string => `${((n % 8) * 20) % 60} ${5 + Math.floor(((n % 8) * 20) / 60)} * * *`
/** They have a file in common, and run at different times. */
const ofList = jobs.slice(0, 3)
const list = 'query\nlisted desk\n'

const workspace = `channels:
  mail: { type: file, path: told.jsonl }
  hook: { type: webhook, url_env: RECEIVER_URL }
defaults:
  targets: [northdesk.example]
  alerts:
    - { when: run-failed }
    - { when: run-skipped }
    - { when: coverage, below: 95 }
    - { when: balance, below: 500 }
`

const fileOf = (n: number): string =>
  `schedule: "${timeOf(n)}"\nqueries: [desk ${n}${ofList.includes(jobs[n] ?? '') ? ', { file: list.csv }' : ''}]\n`

const incidents: readonly Incident[] = [
  // A CSV file is broken over the times of the three jobs that use it.
  { at: '2026-03-04T04:00:00Z', file: 'list.csv', text: 'query,locaton\nlisted desk,Austin\n' },
  { at: '2026-03-04T10:00:00Z', file: 'list.csv', text: list },
  // The key is refused from the third time of the morning on, until all have passed.
  { at: '2026-03-06T05:30:00Z', sandbox: { account: { keyExpires: '2026-03-06T05:30:00Z' } } },
  { at: '2026-03-06T09:40:00Z', sandbox: { account: { keyExpires: null } } },
  // What all jobs share is broken for a morning.
  { at: '2026-03-09T04:30:00Z', file: 'rankline.yaml', text: workspace.replace('defaults', 'defaluts') },
  { at: '2026-03-09T11:00:00Z', file: 'rankline.yaml', text: workspace },
  // The service is down, while the receiver of messages is down for two days.
  { at: '2026-03-11T00:00:00Z', receiver: 503 },
  { at: '2026-03-11T05:10:00Z', sandbox: { rules: [{ do: { status: 503 } }] } },
  { at: '2026-03-11T06:05:00Z', sandbox: { rules: [] } },
  { at: '2026-03-13T00:00:00Z', receiver: 200 },
]

const until = new Date(Date.parse(from) + days * 86_400_000).toISOString()

describe('a fortnight of forty jobs with troubles', { timeout: 600_000 }, () => {
  let history: ScheduledHistory
  beforeAll(async () => {
    history = await scheduled({
      ...{ from, until, incidents, looks: incidents.map(({ at }) => Date.parse(at) + 30_000) },
      files: {
        'rankline.yaml': workspace,
        'list.csv': list,
        ...Object.fromEntries(jobs.map((name, n) => [`${name}.yaml`, fileOf(n)])),
      },
      sandbox: { sites: ['northdesk.example'] },
    })
  }, 600_000)
  afterAll(() => history?.[Symbol.asyncDispose]())

  test('no time is lost: each job ran once a day, and at the start for the time before', () => {
    const slots = history.sql<{ job: string; n: number; days: number }>(`
      SELECT job, count(*) AS n, count(DISTINCT date(slot_at / 1000, 'unixepoch')) AS days FROM slots
      WHERE outcome = 'ran' GROUP BY job ORDER BY job`)
    expect(slots).toEqual(jobs.map((job) => ({ job, n: days + 1, days: days + 1 })))
    expect(history.sql("SELECT count(*) AS n FROM slots WHERE outcome IS NOT 'ran'")).toEqual([{ n: 0 }])
    expect(
      history.sql('SELECT finish_reason AS reason, count(*) AS n FROM runs GROUP BY finish_reason'),
    ).toEqual([{ reason: 'completed', n: jobs.length * (days + 1) }])
    // The keyword of the three is bought by each of them, and once for those that are caught up together: at the start, and after each trouble.
    const usual = jobs.length + ofList.length
    expect(history.charged).toBe((days - 3) * usual + 3 * (jobs.length + 1) + (jobs.length + 2))
  })

  test('what was late was caught up as soon as its cause had passed', () => {
    const late = (day: string, last: string) =>
      history.sql<{ n: number; first: string; last: string }>(`
        SELECT count(*) AS n, min(strftime('%H:%M', started_at)) AS first, max(strftime('%H:%M', finished_at)) AS last
        FROM runs WHERE date(started_at) = '${day}' AND strftime('%H:%M', finished_at) > '${last}'`)
    expect(late('2026-03-04', '08:00')).toEqual([{ n: 3, first: '10:00', last: '10:00' }])
    // Five minutes after the first refusal, then later each time: at most an hour after the key was mended.
    expect(late('2026-03-06', '08:00')).toEqual([
      { n: 30, first: '05:40', last: expect.stringMatching(/^(09|10):/) },
    ])
    expect(late('2026-03-09', '08:00')).toEqual([{ n: 40, first: '11:00', last: '11:00' }])
  })

  test('each cause is one message when it begins and one when it is over, to each channel', () => {
    const mails = history.told.map((told) => {
      if (told.type !== 'rankline.alerts') return told.type
      const { subject } = letters.of({ kind: 'alerts', message: told.data })
      const { jobs: named, state } = told.data.alerts[0] ?? {}
      return `${told.timestamp.slice(0, 10)} ${state} ${named?.length}: ${subject}`
    })
    expect(mails).toEqual([
      expect.stringMatching(/^2026-03-04 open 1: job-00: .*\/list\.csv:1: column 'locaton' looks like/),
      expect.stringMatching(/^2026-03-04 over 3: 3 jobs, over: .*\/list\.csv has no mistakes any more$/),
      '2026-03-06 open 5: 5 jobs: The service refused the key (Invalid API Key). Check RANKLINE_API_KEY',
      '2026-03-06 over 30: 30 jobs, over: The service takes the key',
      expect.stringMatching(/^2026-03-09 open 5: 5 jobs: .*\/rankline\.yaml:4:1: unknown key 'defaluts'/),
      expect.stringMatching(
        /^2026-03-09 over 40: 40 jobs, over: .*\/rankline\.yaml has no mistakes any more$/,
      ),
      '2026-03-11 open 5: 5 jobs: The service fails on alpha. Run the same command again later to continue',
      '2026-03-11 over 15: 15 jobs, over: The service answers again',
    ])
    const taken = history.received.filter(({ status }) => status === 200)
    expect(taken.map(({ told }) => JSON.stringify(told.data)).sort()).toEqual(
      history.told.map(({ data }) => JSON.stringify(data)).sort(),
    )
    expect(history.sql("SELECT count(*) AS n FROM outbox WHERE state <> 'sent'")).toEqual([{ n: 0 }])
    expect(history.sql("SELECT count(*) AS n FROM alerts WHERE state = 'open'")).toEqual([{ n: 0 }])
  })

  test('a mistake is said once', () => {
    const said = (pattern: RegExp): number => history.lines.filter((line) => pattern.test(line)).length
    expect(said(/list\.csv:1.*locaton/)).toBe(1)
    expect(said(/rankline\.yaml:4:1: unknown key 'defaluts'/)).toBe(1)
    expect(said(/internal error|crash/)).toBe(0)
  })

  test('status is clean afterwards', () => {
    expect([history.status.level, history.status.problems]).toEqual(['ok', []])
    expect(history.status.jobs).toHaveLength(jobs.length)
  })
})
