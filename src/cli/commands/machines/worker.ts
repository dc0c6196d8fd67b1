import { exitCodeOf } from '../../../collect/stop.ts'
import { sharedQueue } from '../../../machines/queue.ts'
import { runWorker, type WorkerState } from '../../../machines/worker.ts'
import { systemClock } from '../../../model/time.ts'
import { numberOption, type OptionSpecs, switchOption, textOption } from '../../../model/values.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { queueSettings, version } from '../../../run/config.ts'
import { metrics } from '../../../unattended/after-run.ts'
import { supervision } from '../../../unattended/scheduler/supervision.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'
import { collecting } from '../collect/collect-runs.ts'

const { 'max-outage': maxOutage } = sharedFlags.collect

const flags = {
  ...sharedFlags.queue,
  ...sharedFlags.service,
  concurrency: textOption('Calls in flight at once [16]'),
  'max-outage': maxOutage,
  once: switchOption('End when nothing is left to buy'),
  ...sharedFlags.lease,
  health: textOption('Port on 127.0.0.1 that answers GET /health; 0 takes a free one'),
  'metrics-file': textOption('Prometheus text file to write while it works'),
  ...sharedFlags.log,
} satisfies OptionSpecs

type WorkerFlags = TypedOptions<typeof flags>

export const workerCommand = {
  flags,
  exits: [0, 1, 2, 4, 5, 6, 130],
  docs: 'docs/many-machines.md',
  examples: [
    ['worker --queue postgres://queue.example/rankline?sslmode=verify-full', 'stays up, as a service'],
    ['worker --once', 'with RANKLINE_QUEUE set, for containers that are started on demand'],
  ],
  run: worker,
} satisfies Command

const usualConcurrency = 16

/** `rankline worker`: buys what the runs of other machines have released for this key. SIGTERM is its usual end. */
export async function worker(flags: WorkerFlags, terminal: Terminal): Promise<number> {
  const { concurrency, maxOutageMs } = collecting.readFlags(flags)
  const leaseMs = queueSettings.lease(flags)
  const url = sharedQueue.needed(flags)
  const port = numberOption('--health', flags.health, { max: 65_535 })
  using interrupts = listenForInterrupts(terminal)
  const upSince = new Date(systemClock.wall()).toISOString()
  let state: WorkerState = { chunks: 0, done: 0, isConnected: true }
  const health = () => ({
    status: state.isConnected ? ('ok' as const) : ('failing' as const),
    version,
    up_since: upSince,
    chunks: state.chunks,
    chunks_done: state.done,
  })
  await using served = port === undefined ? null : await supervision.serveHealth(port, health)
  const where = served === null ? '' : ` Health: ${served.url}`
  const writer = metricsWriter(flags.metricsFile, terminal)
  const cause = await runWorker(flags, {
    url,
    leaseMs,
    maxOutageMs,
    maxThrottlingMs: maxOutageMs,
    once: flags.once === true,
    concurrency: concurrency ?? usualConcurrency,
    stop: interrupts.stop,
    notice: (line) => terminal.log(line),
    onUp: () => note(terminal, `Worker up.${where}`),
    onState: (now) => {
      state = now
      writer.write(now)
    },
  })
  await writer.idle()
  if (cause === null) {
    note(terminal, 'Worker ended.')
    return 0
  }
  terminal.log(cause.message, { level: 'error', code: exitCodeOf(cause) })
  return exitCodeOf(cause)
}

/** Writes one state after the other; a file that cannot be written is said once, and the work goes on. */
function metricsWriter(flag: string | undefined, terminal: Terminal) {
  // The variable for all commands names the file of a database.
  const file = flag === undefined ? null : metrics.file(flag)
  let writing = Promise.resolve()
  let isSaid = false
  const failed = (error: Error): void => {
    if (!isSaid) note(terminal, error.message)
    isSaid = true
  }
  return {
    write: (state: WorkerState): void => {
      if (file === null) return
      const now = { ...state, at: systemClock.wall() }
      writing = writing.then(() => metrics.writeWorker(file, now)).catch(failed)
    },
    idle: () => writing,
  }
}
