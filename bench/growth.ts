import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { measured } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'

/**
 * What a call costs in a database that grows: runs of new queries one after the other, every title, link and snippet a new one; then how
 * many SQL statements a call is, planning and start included. Arguments: calls of a run [20000], runs [10].
 */
const [calls = 20_000, runs = 10] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const server = fork('dist/bench/throughput/answer-server.js', ['0', 'new'])
try {
  const [port] = (await once(server, 'message')) as [number]
  const env = { RANKLINE_BASE_URL: `http://127.0.0.1:${port}`, RANKLINE_API_KEY: 'sk-for-a-benchmark' }
  const db = join(folder, 'growing.db')
  const job = join(folder, 'growing.csv')
  const run = async (number: number, more: NodeJS.ProcessEnv = {}) => {
    const queries = Array.from({ length: calls }, (_, index) => `query ${number * calls + index}`)
    await writeFile(job, `query\n${queries.join('\n')}\n`)
    return await measured(['run', job, '--operation', 'alpha.search', '--db', db], { ...env, ...more })
  }

  print(machine())
  print(`${runs} runs of ${grouped(calls)} calls, ten new results each\n`)
  print('| calls before | CPU µs a call | of the first | peak memory, MB | MB of the file |')
  print('| --: | --: | --: | --: | --: |')
  let first: number | null = null
  let second: number | null = null
  let last = 0
  for (let number = 0; number < runs; number++) {
    const { cpuSeconds, megabytes: memory } = await run(number)
    const cost = (cpuSeconds * 1e6) / calls
    // The first run finds an empty database: from the second on the cost is to stay as it is.
    if (number === 1) second = cost
    first ??= cost
    last = cost
    const size = megabytes((await stat(db)).size)
    print(
      `| ${grouped(number * calls)} | ${cost.toFixed(0)} | ${(cost / first).toFixed(2)} | ${memory.toFixed(0)} | ${size} |`,
    )
  }

  if (second !== null)
    print(
      `\nFrom ${grouped(calls)} to ${grouped(runs * calls)} calls the cost grows to ${(last / second).toFixed(2)} times.`,
    )

  const counted = join(folder, 'statements')
  const preload = pathToFileURL('dist/bench/growth/counting.js').href
  await run(runs, { NODE_OPTIONS: `--import ${preload}`, RANKLINE_BENCH_STATEMENTS: counted })
  print(`\n${(Number(await readFile(counted, 'utf8')) / calls).toFixed(1)} SQL statements a call.`)
} finally {
  server.disconnect()
  await rm(folder, { recursive: true, force: true })
}
