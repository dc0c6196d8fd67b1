import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Parser } from 'csv-parse'
import { type Measured, measured, measuredScript } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'
import { type Watched, watched } from './watched.ts'

/**
 * A million queries on one machine: planning them, beside csv-parse alone on the same file; what a run of them takes in
 * time and memory, and whether its memory grows with the tasks that are done; going on, and what follows a run. Every
 * title and link of the answers is a new one. On Linux only, for it looks into /proc.
 *
 * Arguments: queries [1000000], calls that are made for them [as many as there are tasks], pages of each query [1]; with
 * more than one page, every query is also watched for a target of its own and two of the job.
 */

/** Parts of the calls at which the memory is told. */
const parts = [0.01, 0.1, 0.25, 0.5, 0.75, 1]

const [first = ''] = process.argv.slice(2)
if (first === 'parse') await parseAlone(process.argv[3] ?? '')
else await bench()

async function bench(): Promise<void> {
  const [queries = 1_000_000, wanted = Number.POSITIVE_INFINITY, pages = 1] = process.argv
    .slice(2)
    .map(Number)
  const tasks = queries * pages
  const calls = Math.min(wanted, tasks)
  const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
  const server = fork('dist/bench/throughput/answer-server.js', ['0', 'new'])
  try {
    const [port] = (await once(server, 'message')) as [number]
    const origin = `http://127.0.0.1:${port}`
    const env = { RANKLINE_BASE_URL: origin, RANKLINE_API_KEY: `bench-million-${process.pid}` }
    const csv = join(folder, 'million.csv')
    const db = join(folder, 'million.db')
    await writeQueries(csv, queries, pages)
    const job = [csv, '--operation', 'alpha.search']
    if (pages > 1) job.push('--pages', String(pages), '--target', 'acme.example', '--target', 'other.example')
    const run = (args: readonly string[], upTo: number) => watched(args, { env, origin, upTo })

    print(machine())
    print(
      `${grouped(queries)} queries, ${grouped(tasks)} tasks, ${grouped(calls)} calls, ${megabytes((await stat(csv)).size)} MB of CSV\n`,
    )
    print('| | seconds | CPU seconds | peak memory, MB | of csv-parse alone |')
    print('| --- | --: | --: | --: | --: |')
    const bare = await measuredScript('dist/bench/million.js', ['parse', csv])
    row('csv-parse alone', bare, bare)
    row('`plan`', await measured(['plan', ...job, '--db', join(folder, 'plan.db')], env), bare)
    job.push('--db', db)
    // Each is interrupted early, but for the last.
    const early = Math.max(1, Math.ceil(calls / 100))
    const begun = await run(['run', ...job], early)
    rowOf('`run`, to its first call', begun)
    const resumed = await run(['resume', '--db', db], early)
    rowOf('`resume`, to its first call', resumed)
    const before = begun.calls + resumed.calls
    const rest = await run(['run', ...job], calls < tasks ? calls - before : Number.POSITIVE_INFINITY)
    rowOf('`run` again, to its first call', rest)
    row(`all of it: ${grouped(rest.calls)} calls, ${rest.callsPerSecond.toFixed(0)} a second`, rest, bare)
    print(`| … after its last call | ${rest.afterLastCall.toFixed(1)} | | | |`)
    row('`resume`, where nothing is left', await measured(['resume', '--db', db], env), bare, calls < tasks)
    row('`runs`', await measured(['runs', '--db', db]), bare)
    row('`runs 1`', await measured(['runs', '1', '--db', db]), bare)
    const out = join(folder, 'organic.csv')
    row('`export organic`', await measured(['export', 'organic', '--db', db, '--out', out]), bare)
    row('`db check`', await measured(['db', 'check', '--db', db]), bare)
    print(
      `\nDatabase ${megabytes((await stat(db)).size)} MB, log at most ${megabytes(rest.logBytes)} MB. Memory of that run, while so much was done:\n`,
    )
    printCurve(rest, before, calls)
  } finally {
    server.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The baseline of planning: every row read by the same parser, and dropped. */
async function parseAlone(file: string): Promise<void> {
  const parser = new Parser({ bom: true, on_record: () => null })
  parser.resume()
  await pipeline(createReadStream(file), parser)
}

async function writeQueries(file: string, queries: number, pages: number): Promise<void> {
  function* lines(): Generator<string> {
    yield pages > 1 ? 'query,gl,hl,tags,volume,client,target\n' : 'query\n'
    for (let id = 1; id <= queries; id++) {
      const query = `buy standing desk number ${id} online`
      yield pages > 1
        ? `${query},us,en,head;t${id % 7},${id % 1000},client ${id % 40},site${id % 200}.example\n`
        : `${query}\n`
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(file))
}

function row(name: string, { seconds, cpuSeconds, megabytes: peak }: Measured, bare: Measured, skip = false) {
  if (skip) return
  const ratio = (seconds / bare.seconds).toFixed(1)
  print(`| ${name} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${peak.toFixed(0)} | ${ratio} |`)
}

function rowOf(name: string, { untilFirstCall }: Watched): void {
  print(`| ${name} | ${untilFirstCall.toFixed(1)} | | | |`)
}

function printCurve({ samples }: Watched, before: number, calls: number): void {
  print('| of the calls | done | memory, MB |')
  print('| --: | --: | --: |')
  for (const part of parts) {
    // The last sample may be older than the last calls.
    const sample = samples.find((one) => before + one.calls >= part * calls) ?? samples.at(-1)
    if (sample === undefined) continue
    const done = before + sample.calls
    print(`| ${(part * 100).toFixed(0)} % | ${grouped(done)} | ${sample.megabytes.toFixed(0)} |`)
  }
}
