import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, measured, measuredScript } from './measured.ts'
import { machine, median, print } from './print.ts'

/**
 * Calls without a rate limit: rankline beside a bare durable loop and a naive script, one after the other against the
 * same server, in rounds, so that whatever else the machine does falls on all of them; then with answers of which every
 * title, link and snippet is new. Arguments: calls, rounds, latency of the server in milliseconds.
 */
const [calls = 20_000, rounds = 3, latencyMs = 0] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const job = join(folder, 'bench.csv')

type Contender = (origin: string, file: string) => Promise<Measured>

const bare: Contender = (origin, file) =>
  measuredScript('dist/bench/throughput/bare-durable.js', [origin, String(calls), file])
const naive: Contender = (origin, file) =>
  measuredScript('dist/bench/throughput/naive.js', [origin, String(calls), file])
const rankline: Contender = (origin, file) =>
  measured(['run', job, '--operation', 'alpha.search', '--db', file], {
    RANKLINE_BASE_URL: origin,
    RANKLINE_API_KEY: 'sk-for-a-benchmark',
  })

try {
  await writeFile(job, `query\n${Array.from({ length: calls }, (_, id) => `query ${id + 1}`).join('\n')}\n`)
  print(machine())
  print(
    `${calls} calls with 10 results each, 64 at once (of rankline 80 in the air: some of them wait for a commit), ${latencyMs} ms latency, ${rounds} rounds, medians:\n`,
  )
  print('| | seconds | calls/s | of the bare loop | CPU ms a call | peak memory, MB |')
  print('| --- | --: | --: | --: | --: | --: |')
  await compare({ 'bare durable loop': bare, 'naive script': naive, rankline })
  await compare({ '… all text new: bare durable loop': bare, '… all text new: rankline': rankline }, 'new')
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Prints a row for each of them; the others are set against the first one. */
async function compare(contenders: Readonly<Record<string, Contender>>, texts = ''): Promise<void> {
  const server = fork('dist/bench/throughput/answer-server.js', [String(latencyMs), texts])
  const took = new Map<string, Measured[]>(Object.keys(contenders).map((name) => [name, []]))
  try {
    const [port] = (await once(server, 'message')) as [number]
    for (let round = 0; round < rounds; round++)
      for (const [name, run] of Object.entries(contenders)) {
        const place = await mkdtemp(join(folder, 'round-'))
        took.get(name)?.push(await run(`http://127.0.0.1:${port}`, join(place, 'file')))
        await rm(place, { recursive: true })
      }
  } finally {
    server.disconnect()
  }
  const first = middle([...took.values()][0], 'seconds')
  for (const [name, all] of took) {
    const seconds = middle(all, 'seconds')
    const cpu = (middle(all, 'cpuSeconds') * 1000) / calls
    print(
      `| ${name} | ${seconds.toFixed(1)} | ${(calls / seconds).toFixed(0)} | ${(first / seconds).toFixed(2)} | ${cpu.toFixed(2)} | ${middle(all, 'megabytes').toFixed(0)} |`,
    )
  }
}

function middle(all: readonly Measured[] = [], of: keyof Measured): number {
  return median(all.map((one) => one[of]))
}
