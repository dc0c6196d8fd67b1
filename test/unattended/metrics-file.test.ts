import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type JobMetrics,
  metricsText,
  queueMetricsText,
  workerMetricsText,
} from '../../src/unattended/after-run.ts'
import { hasPromtool, parseMetrics, promtoolSays } from '../support/prometheus.ts'

const acme: JobMetrics = {
  job: 'acme',
  lastGoodAt: Date.UTC(2026, 10, 1, 6, 0, 30, 250),
  lastRunAt: Date.UTC(2026, 10, 2, 6),
  credits: 120,
  tasks: { done: 90, failed: 6, pending: 4 },
  coverage: 0.9,
  openAlerts: 2,
}
/** Never good, and planned without a task. */
const empty: JobMetrics = {
  ...acme,
  job: 'a "b"\\\n',
  lastGoodAt: null,
  tasks: { done: 0, failed: 0, pending: 0 },
  coverage: null,
}

test('the file says what every job and the account come to', () => {
  expect(metricsText([acme], 5000)).toMatchInlineSnapshot(`
    "# HELP rankline_last_success_timestamp_seconds When the newest good run of the job ended.
    # TYPE rankline_last_success_timestamp_seconds gauge
    rankline_last_success_timestamp_seconds{job="acme"} 1793512830.25
    # HELP rankline_last_run_timestamp_seconds When the newest run of the job ended, or began where it has no end.
    # TYPE rankline_last_run_timestamp_seconds gauge
    rankline_last_run_timestamp_seconds{job="acme"} 1793599200
    # HELP rankline_run_credits Credits billed for the newest run of the job.
    # TYPE rankline_run_credits gauge
    rankline_run_credits{job="acme"} 120
    # HELP rankline_run_tasks Tasks of the newest run of the job, by state.
    # TYPE rankline_run_tasks gauge
    rankline_run_tasks{job="acme",state="done"} 90
    rankline_run_tasks{job="acme",state="failed"} 6
    rankline_run_tasks{job="acme",state="pending"} 4
    # HELP rankline_coverage_ratio Part of the tasks of the newest run that is done, 0 to 1.
    # TYPE rankline_coverage_ratio gauge
    rankline_coverage_ratio{job="acme"} 0.9
    # HELP rankline_balance_credits Balance that the service showed last.
    # TYPE rankline_balance_credits gauge
    rankline_balance_credits 5000
    # HELP rankline_alerts_open Alerts of the job that are not over.
    # TYPE rankline_alerts_open gauge
    rankline_alerts_open{job="acme"} 2
    "
  `)
})

test('what is not known has no line', () => {
  const names = new Set(parseMetrics(metricsText([empty], null)).map(({ name }) => name))
  expect([...names]).toEqual([
    'rankline_last_run_timestamp_seconds',
    'rankline_run_credits',
    'rankline_run_tasks',
    'rankline_alerts_open',
  ])
})

test('any name of a job is read back as it is', () => {
  const names = fc.uniqueArray(
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '{', '}', '=', ',', 'é', '😀') }),
  )
  fc.assert(
    fc.property(names, (jobs) => {
      const samples = parseMetrics(
        metricsText(
          jobs.map((job) => ({ ...acme, job })),
          1,
        ),
      )
      const runs = samples.filter(({ name }) => name === 'rankline_run_credits')
      expect(runs.map(({ labels }) => labels.job)).toEqual(jobs)
    }),
  )
})

test.runIf(hasPromtool)('promtool has nothing to say against it', () => {
  expect(promtoolSays(metricsText([acme, empty], 5000))).toBe('')
})

test('a queue says what waits in it, who works, and what it costs', () => {
  const text = queueMetricsText({
    at: 1_793_512_830_000,
    problems: 2,
    keys: [{ key: 'k', depth: 7, workers: 3, callsPerSecond: 38.5, errors: 4, isHeld: true }],
    runs: [{ key: 'k', job: 'a "b"', chunks: { planned: 5, dead: 1 }, credits: { spent: 9, reserved: 3 } }],
    readers: { all: 2, behind: 1 },
  })
  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'rankline_queue_seen_timestamp_seconds 1793512830',
    'rankline_queue_problems 2',
    'rankline_queue_depth{key="k"} 7',
    'rankline_queue_workers{key="k"} 3',
    'rankline_queue_calls_per_second{key="k"} 38.5',
    'rankline_queue_errors{key="k"} 4',
    'rankline_queue_held{key="k"} 1',
    'rankline_queue_chunks{key="k",job="a \\"b\\"",state="planned"} 5',
    'rankline_queue_chunks{key="k",job="a \\"b\\"",state="dead"} 1',
    'rankline_queue_credits{key="k",job="a \\"b\\"",kind="spent"} 9',
    'rankline_queue_credits{key="k",job="a \\"b\\"",kind="reserved"} 3',
    'rankline_queue_readers 2',
    'rankline_queue_readers_behind 1',
    '',
  ])
  if (hasPromtool) expect(promtoolSays(text)).toBe('')
})

test('a worker says when it was seen, whether it reaches its queue, and what it has', () => {
  const text = workerMetricsText({ at: 1_793_512_830_250, isConnected: false, chunks: 3, done: 12 })
  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'rankline_worker_seen_timestamp_seconds 1793512830.25',
    'rankline_worker_connected 0',
    'rankline_worker_chunks 3',
    'rankline_worker_chunks_done 12',
    '',
  ])
  if (hasPromtool) expect(promtoolSays(text)).toBe('')
})
