import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { measured } from './measured.ts'
import { grouped, machine, median, megabytes, print } from './print.ts'

/**
 * What a call costs in a database that grows: runs of new queries one after the other, every title, link and snippet a new one, and beside
 * each of them a run of as many queries into an empty database, so that whatever else the machine does falls on both; then how many SQL
 * statements a call is, planning and start included. Arguments: calls of a run [20000], runs [10].
 */
const [calls = 20_000, runs = 10] = process.argv.slice(2).map(Number)

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const server = fork('dist/bench/throughput/answer-server.js', ['0', 'new'])
try {
  const [port] = (await once(server, 'message')) as [number]
  const env = { RANKLINE_BASE_URL: `http://127.0.0.1:${port}`, RANKLINE_API_KEY: 'sk-for-a-benchmark' }
  const db = join(folder, 'growing.db')
  const job = join(folder, 'growing.csv')
  const run = async (number: number, file: string, more: NodeJS.ProcessEnv = {}) => {
    const queries = Array.from({ length: calls }, (_, index) => `query ${number * calls + index}`)
    await writeFile(job, `query\n${queries.join('\n')}\n`)
    const took = await measured(['run', job, '--operation', 'alpha.search', '--db', file], {
      ...env,
      ...more,
    })
    return { ...took, cost: (took.cpuSeconds * 1e6) / calls }
  }
  const runIntoEmpty = async (number: number) => {
    const place = await mkdtemp(join(folder, 'empty-'))
    const { cost } = await run(number, join(place, 'empty.db'))
    await rm(place, { recursive: true })
    return cost
  }

  print(machine())
  print(
    `${runs} runs of ${grouped(calls)} calls, ten new results each, and each beside one into an empty database\n`,
  )
  print('| calls before | CPU µs a call | into an empty one | times | peak memory, MB | MB of the file |')
  print('| --: | --: | --: | --: | --: | --: |')
  const times: number[] = []
  for (let number = 0; number < runs; number++) {
    const { cost, megabytes: memory } = await run(number, db)
    const empty = await runIntoEmpty(number)
    times.push(cost / empty)
    const size = megabytes((await stat(db)).size)
    print(
      `| ${grouped(number * calls)} | ${cost.toFixed(0)} | ${empty.toFixed(0)} | ${(cost / empty).toFixed(2)} | ${memory.toFixed(0)} | ${size} |`,
    )
  }
  // The first run finds an empty database, too: from the second on the cost is to stay as it is.
  const [early, late] = [times.slice(1, 4), times.slice(-3)]
  if (times.length > 6)
    print(
      `\nFrom ${grouped(calls)} to ${grouped(runs * calls)} calls the cost grows to ${(median(late) / median(early)).toFixed(2)} times: the last three against the second to fourth, medians.`,
    )

  const counted = join(folder, 'statements')
  const preload = pathToFileURL('dist/bench/growth/counting.js').href
  await run(runs, db, { NODE_OPTIONS: `--import ${preload}`, RANKLINE_BENCH_STATEMENTS: counted })
  print(`\n${(Number(await readFile(counted, 'utf8')) / calls).toFixed(1)} SQL statements a call.`)
} finally {
  server.disconnect()
  await rm(folder, { recursive: true, force: true })
}
