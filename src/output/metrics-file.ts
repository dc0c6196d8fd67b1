/** The metrics of one job, of its newest run where nothing else is said. Null is not known: the line is left out. */
export interface JobMetrics {
  readonly job: string
  /** Epoch ms: when the newest good run ended. */
  readonly lastGoodAt: number | null
  /** Epoch ms: when the newest run ended, or began where it has no end. */
  readonly lastRunAt: number
  readonly credits: number
  readonly tasks: { readonly done: number; readonly failed: number; readonly pending: number }
  readonly coverage: number | null
  readonly openAlerts: number
}

/** One sample of a metric: its labels and its value. */
type MetricLine = readonly [labels: Readonly<Record<string, string>>, value: number | null]

/**
 * The text format of Prometheus, for the textfile collector of node_exporter: gauges without timestamps, jobs in the order given.
 *
 * @param balance credits that the last reading of the usage record showed
 */
export function metricsText(jobs: readonly JobMetrics[], balance: number | null): string {
  const perJob = (value: (one: JobMetrics) => number | null): readonly MetricLine[] =>
    jobs.map((one) => [{ job: one.job }, value(one)])
  const tasks = jobs.flatMap(({ job, tasks }): readonly MetricLine[] =>
    Object.entries(tasks).map(([state, number]) => [{ job, state }, number]),
  )
  return [
    family(
      { name: 'rankline_last_success_timestamp_seconds', help: 'When the newest good run of the job ended.' },
      perJob(({ lastGoodAt }) => seconds(lastGoodAt)),
    ),
    family(
      {
        name: 'rankline_last_run_timestamp_seconds',
        help: 'When the newest run of the job ended, or began where it has no end.',
      },
      perJob(({ lastRunAt }) => seconds(lastRunAt)),
    ),
    family(
      { name: 'rankline_run_credits', help: 'Credits billed for the newest run of the job.' },
      perJob(({ credits }) => credits),
    ),
    family({ name: 'rankline_run_tasks', help: 'Tasks of the newest run of the job, by state.' }, tasks),
    family(
      { name: 'rankline_coverage_ratio', help: 'Part of the tasks of the newest run that is done, 0 to 1.' },
      perJob(({ coverage }) => coverage),
    ),
    family({ name: 'rankline_balance_credits', help: 'Balance that the service showed last.' }, [
      [{}, balance],
    ]),
    family(
      { name: 'rankline_alerts_open', help: 'Alerts of the job that are not over.' },
      perJob(({ openAlerts }) => openAlerts),
    ),
  ].join('')
}

/** A worker of a queue, in the same format. */
export function workerMetricsText({
  at,
  isConnected,
  chunks,
  done,
}: {
  /** Epoch ms: when this was so. */
  readonly at: number
  readonly isConnected: boolean
  readonly chunks: number
  readonly done: number
}): string {
  const one = (name: string, help: string, value: number | null): string =>
    family({ name: `rankline_worker_${name}`, help }, [[{}, value]])
  return [
    one('seen_timestamp_seconds', 'When the worker wrote this last.', seconds(at)),
    one('connected', '1 while the worker reaches its queue, else 0.', isConnected ? 1 : 0),
    one('chunks', 'Chunks that the worker has.', chunks),
    one('chunks_done', 'Chunks that the worker has brought to their end since it was started.', done),
  ].join('')
}

function seconds(instant: number | null): number | null {
  return instant === null ? null : instant / 1000
}

/** The lines of one metric; empty where no sample has a value. */
function family(
  {
    name,
    help,
  }: {
    readonly name: string
    readonly help: string
  },
  samples: readonly MetricLine[],
): string {
  const lines = samples.flatMap(([labels, value]) =>
    value === null ? [] : [`${name}${labelText(labels)} ${value}\n`],
  )
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
