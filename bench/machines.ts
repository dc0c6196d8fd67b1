import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countingNetwork } from './machines/counting-network.ts'
import { endWorkers, runJob, startService, startWorkers, usualConcurrency } from './machines/fleet.ts'
import {
  type CountingPostgres,
  countingPostgres,
  type PostgresWork,
  urlFor,
  workBetween,
} from './machines/queue.ts'
import { type Seen, type Service, secondsOf, speedOf, steadySpeed, worstSecond } from './machines/seen.ts'
import { type Takeover, takeover } from './machines/takeover.ts'
import type { Measured } from './measured.ts'
import { grouped, machine, print } from './print.ts'
import { leastSeconds } from './rate/judging.ts'

/**
 * One key on many machines, beside `run` alone against the same service: how calls a second grow with workers, how much
 * of a rate limit they use together, what Postgres does for a call, and what a worker that is killed costs.
 *
 * Arguments: workers at most [4], calls of each of them [4000], latency of the service in milliseconds [200], seconds that a
 * row of the rate limit lasts [60], calls per second allowed [40], rounds in which a worker is killed [3], a lease of workers
 * in seconds instead of the usual one.
 */
const [most = 4, callsEach = 4_000, latencyMs = 200, seconds = 60, perSecond = 40, rounds = 3, lease] =
  process.argv.slice(2).map(Number)
const unlimited: Service = { limits: { perSecond: null, perMinute: null }, latencyMs }
const limited: Service = { limits: { perSecond, perMinute: null }, latencyMs }

interface Collected {
  readonly seen: Seen
  readonly planner: Measured
  readonly workers: readonly Measured[]
  /** Null where `run` was alone. */
  readonly postgres: PostgresWork | null
  /** Bytes to and from Postgres. */
  readonly bytes: { readonly sent: number; readonly received: number }
}

const folder = await mkdtemp(join(tmpdir(), 'rankline-machines-'))
try {
  await using postgres = await countingPostgres()
  print(machine())
  await printThroughput(postgres)
  await printUse(postgres)
  await printTakeovers(postgres)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function alone(service: Service, calls: number): Promise<Collected> {
  using server = await startService(service)
  const flags = ['--concurrency', String(usualConcurrency)]
  const planner = await runJob(folder, calls, server.environment, flags)
  return { seen: await server.seen(), planner, workers: [], postgres: null, bytes: { sent: 0, received: 0 } }
}

async function together(
  postgres: CountingPostgres,
  service: Service,
  { workers: count, calls }: { readonly workers: number; readonly calls: number },
): Promise<Collected> {
  using server = await startService(service)
  using network = await countingNetwork(postgres.port)
  const database = await postgres.database()
  const before = await postgres.work()
  const workers = await startWorkers(count, urlFor('worker', network.port, database), server.environment)
  const queue = urlFor('coordinator', postgres.port, database)
  const planner = await runJob(folder, calls, server.environment, ['--queue', queue])
  const seen = await server.seen()
  const took = await endWorkers(workers)
  const work = workBetween(before, await postgres.work())
  return { seen, planner, workers: took, postgres: work, bytes: network.bytes() }
}

async function printThroughput(postgres: CountingPostgres): Promise<void> {
  const rows: [string, Collected][] = [['`run` alone', await alone(unlimited, callsEach)]]
  for (const workers of [1, 2, 4].filter((count) => count <= most)) {
    const name = workers === 1 ? '1 worker' : `${workers} workers`
    rows.push([name, await together(postgres, unlimited, { workers, calls: workers * callsEach })])
  }
  const one = speedOf(rows[1]?.[1].seen as Seen)
  print(
    `\n${grouped(callsEach)} calls for each worker, ${latencyMs} ms latency, ${usualConcurrency} at once each:\n`,
  )
  print('| | calls | seconds | calls/s | times one worker |')
  print('| --- | --: | --: | --: | --: |')
  for (const [name, { seen }] of rows)
    print(
      `| ${name} | ${grouped(seen.arrivals.length)} | ${secondsOf(seen).toFixed(1)} | ${speedOf(seen).toFixed(1)} | ${(speedOf(seen) / one).toFixed(2)} |`,
    )
  print('\nWhat a call costs then:\n')
  print(
    '| | CPU ms: workers | coordinator | Postgres | statements: workers | coordinator | kB to Postgres | log kB | log syncs |',
  )
  print('| --- | --: | --: | --: | --: | --: | --: | --: | --: |')
  for (const [name, collected] of rows) printCosts(name, collected)
}

function printCosts(name: string, { seen, planner, workers, postgres, bytes }: Collected): void {
  const calls = seen.arrivals.length
  const each = (total: number | null | undefined, digits = 2): string =>
    total == null ? '–' : (total / calls).toFixed(digits)
  const ofWorkers =
    workers.length === 0 ? null : workers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) * 1000
  const ofPostgres = postgres?.cpuSeconds == null ? null : postgres.cpuSeconds * 1000
  const sent = postgres === null ? null : bytes.sent / 1000
  const log = postgres === null ? null : postgres.logBytes / 1000
  print(
    `| ${name} | ${each(ofWorkers)} | ${each(planner.cpuSeconds * 1000)} | ${each(ofPostgres)} | ${each(postgres?.statements.worker)} | ${each(postgres?.statements.coordinator)} | ${each(sent, 1)} | ${each(log, 1)} | ${each(postgres?.logSyncs)} |`,
  )
}

async function printUse(postgres: CountingPostgres): Promise<void> {
  const calls = perSecond * seconds
  print(`\n${perSecond} calls a second allowed, ${latencyMs} ms latency, about ${seconds} s a row:\n`)
  print(
    '| | calls passed | refused | worst second | seconds | use | … while all have work | CPU ms of Postgres a call |',
  )
  print('| --- | --: | --: | --: | --: | --: | --: | --: |')
  printUseOf('`run` alone', await alone(limited, calls))
  printUseOf(`${most} workers`, await together(postgres, limited, { workers: most, calls }))
}

function printUseOf(name: string, { seen, postgres }: Collected): void {
  const calls = seen.arrivals.length
  const use = (100 * leastSeconds(calls, limited.limits)) / secondsOf(seen)
  const steady = (100 * steadySpeed(seen, most * usualConcurrency)) / perSecond
  const cpuSeconds = postgres?.cpuSeconds ?? null
  const ofPostgres = cpuSeconds === null ? '–' : ((cpuSeconds * 1000) / calls).toFixed(2)
  print(
    `| ${name} | ${grouped(calls)} | ${seen.refused} | ${worstSecond(seen)} | ${secondsOf(seen).toFixed(1)} | ${use.toFixed(1)} % | ${Number.isFinite(steady) ? `${steady.toFixed(1)} %` : '–'} | ${ofPostgres} |`,
  )
}

async function printTakeovers(postgres: CountingPostgres): Promise<void> {
  print(`\nOne of two workers is killed; from then on, the longest of ${rounds} rounds:\n`)
  print(
    '| lease | chunks that it had | until they were taken over, s | until they were done, s | calls in doubt |',
  )
  print('| --- | --: | --: | --: | --: |')
  const leases = lease === undefined ? [null, 2] : [lease]
  for (const one of leases) {
    const seen: Takeover[] = []
    for (let round = 0; round < rounds; round++)
      seen.push(
        await takeover({
          postgres,
          service: unlimited,
          folder,
          calls: Math.min(500, callsEach),
          leaseSeconds: one,
        }),
      )
    const most = (of: keyof Takeover) => Math.max(...seen.map((each) => each[of]))
    print(
      `| ${one === null ? 'the usual one' : `${one} s`} | ${most('chunks')} | ${most('takenAfter').toFixed(1)} | ${most('doneAfter').toFixed(1)} | ${most('inDoubt')} |`,
    )
  }
}
