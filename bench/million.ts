import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Measured, measured, measuredScript } from './measured.ts'
import { machine, print } from './print.ts'

/**
 * A job of very many queries: what planning takes beside csv-parse alone over the same file, and how much memory a run
 * has when so many of its calls were sent. Memory is read from /proc, so it is for Linux.
 *
 * Argument: queries [1000000].
 */
const queries = Number(process.argv[2] ?? 1_000_000)
const shares = [0.01, 0.1, 0.25, 0.5, 0.75, 1]
const pauseMs = 100

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const server = fork('dist/bench/throughput/answer-server.js', ['0'])
try {
  const [port] = (await once(server, 'message')) as [number]
  const env = { RANKLINE_BASE_URL: `http://127.0.0.1:${port}`, RANKLINE_API_KEY: 'sk-for-a-benchmark' }
  const job = join(folder, 'job.csv')
  await writeJob(job)
  const operation = ['--operation', 'alpha.search']
  print(machine())
  print(`${queries} queries\n`)
  print('| | seconds | peak memory, MB |')
  print('| --- | --: | --: |')
  printRow('csv-parse alone', await measuredScript('dist/bench/million/csv-alone.js', [job]))
  const planned = ['plan', job, ...operation, '--db', join(folder, 'plan.db')]
  printRow('`rankline plan`', await measured(planned, env))
  await printRun(['run', job, ...operation, '--db', join(folder, 'run.db')], env)
} finally {
  server.disconnect()
  await rm(folder, { recursive: true, force: true })
}

async function writeJob(file: string): Promise<void> {
  const out = createWriteStream(file)
  out.write('query,gl\n')
  for (let id = 1; id <= queries; id++) if (!out.write(`query number ${id},us\n`)) await once(out, 'drain')
  await new Promise<void>((done) => out.end(done))
}

async function printRun(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const began = performance.now()
  const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1)
  const child = spawn(process.execPath, ['dist/cli.js', ...args], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  })
  let code: number | null = null
  const ended = once(child, 'close').then(([exit]) => {
    code = exit as number
  })
  print('\n| calls sent | seconds since the start | memory, MB | most until then, MB |')
  print('| --: | --: | --: | --: |')
  const left = [...shares]
  for (let calls = 0; code === null && left.length > 0; ) {
    await Promise.race([sleep(pauseMs), ended])
    const before = calls
    calls = await callsSent()
    const memory = await memoryOf(child)
    if (memory === null) continue
    if (before === 0 && calls > 0) print(`| first | ${seconds()} | ${memory.now} | ${memory.most} |`)
    if (calls < queries * (left[0] as number)) continue
    print(`| ${calls} | ${seconds()} | ${memory.now} | ${memory.most} |`)
    left.shift()
  }
  await ended
  print(`\nEnded with ${code} after ${seconds()} s.`)
  if (code !== 0) throw new Error(`the run ended with exit code ${code}`)
}

async function callsSent(): Promise<number> {
  server.send('how many?')
  const [calls] = (await once(server, 'message')) as [number]
  return calls
}

/** In MB (10^6 bytes); null when the process is gone. */
async function memoryOf({
  pid,
}: ChildProcess): Promise<{ readonly now: string; readonly most: string } | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const of = (field: string): string =>
      ((Number(status.match(new RegExp(`${field}:\\s+(\\d+) kB`))?.[1]) * 1024) / 1e6).toFixed(0)
    return { now: of('VmRSS'), most: of('VmHWM') }
  } catch {
    return null
  }
}

function printRow(name: string, { seconds, megabytes }: Measured): void {
  print(`| ${name} | ${seconds.toFixed(1)} | ${megabytes.toFixed(0)} |`)
}
