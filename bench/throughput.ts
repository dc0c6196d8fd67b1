import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, measured, measuredScript } from './measured.ts'
import { machine, median, print } from './print.ts'

/**
 * Calls without a rate limit: rankline beside a bare durable loop and a naive script, one after the other against the
 * same server, in rounds, so that whatever else the machine does falls on all of them. Arguments: calls, rounds, latency
 * of the server in milliseconds.
 */
const [calls = 20_000, rounds = 3, latencyMs = 0] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const server = fork('dist/bench/throughput/answer-server.js', [String(latencyMs)])
try {
  const [port] = (await once(server, 'message')) as [number]
  const origin = `http://127.0.0.1:${port}`
  const job = join(folder, 'bench.csv')
  await writeFile(job, `query\n${Array.from({ length: calls }, (_, id) => `query ${id + 1}`).join('\n')}\n`)
  const contenders: Readonly<Record<string, (file: string) => Promise<Measured>>> = {
    'bare durable loop': (file) =>
      measuredScript('dist/bench/throughput/bare-durable.js', [origin, String(calls), file]),
    'naive script': (file) => measuredScript('dist/bench/throughput/naive.js', [origin, String(calls), file]),
    rankline: (file) =>
      measured(['run', job, '--operation', 'alpha.search', '--db', file], {
        RANKLINE_BASE_URL: origin,
        RANKLINE_API_KEY: 'sk-for-a-benchmark',
      }),
  }
  const took: Record<string, Measured[]> = {}
  for (let round = 0; round < rounds; round++)
    for (const [name, run] of Object.entries(contenders))
      took[name] = [...(took[name] ?? []), await run(join(folder, `${round}-${name.replaceAll(' ', '-')}`))]
  print(machine())
  print(
    `${calls} calls with 10 results each, 64 at once, ${latencyMs} ms latency, ${rounds} rounds, medians:\n`,
  )
  print('| | seconds | calls/s | of the bare loop | CPU ms a call | peak memory, MB |')
  print('| --- | --: | --: | --: | --: | --: |')
  const bare = middle(took['bare durable loop'], 'seconds')
  for (const [name, all] of Object.entries(took)) {
    const seconds = middle(all, 'seconds')
    const cpu = (middle(all, 'cpuSeconds') * 1000) / calls
    print(
      `| ${name} | ${seconds.toFixed(1)} | ${(calls / seconds).toFixed(0)} | ${(bare / seconds).toFixed(2)} | ${cpu.toFixed(2)} | ${middle(all, 'megabytes').toFixed(0)} |`,
    )
  }
} finally {
  server.disconnect()
  await rm(folder, { recursive: true, force: true })
}

function middle(all: readonly Measured[] = [], of: keyof Measured): number {
  return median(all.map((one) => one[of]))
}
