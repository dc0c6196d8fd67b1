import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { measured, measuredScript } from './measured.ts'
import { print } from './print.ts'
import { type Judged, type Judging, leastSeconds } from './rate/judging.ts'

/**
 * How much of a rate limit is used, and how often it is overstepped, as a server sees it that judges by its own clock.
 * Arguments: seconds that each row lasts, calls per second allowed, shortest and longest time until an answer in
 * milliseconds.
 */
const [seconds = 30, perSecond = 40, shortest = 20, longest = 200] = process.argv.slice(2).map(Number)
/** Reached in the second part of a run of more than a minute. */
const perMinute = perSecond * 50

interface Row {
  readonly name: string
  readonly judging: Judging
  readonly busy: boolean
}

const plain: Judging = {
  limits: { perSecond, perMinute: null },
  latencyMs: [shortest, longest],
  wayMs: 0,
}
const ways = [10, 20]
const rows: readonly Row[] = [
  { name: `${perSecond} per second`, judging: plain, busy: false },
  ...ways.map((wayMs) => ({
    name: `… on ways that differ by up to ${wayMs} ms`,
    judging: { ...plain, wayMs },
    busy: false,
  })),
  { name: '… on a busy machine', judging: plain, busy: true },
  {
    name: `… and ${perMinute} per minute`,
    judging: { ...plain, limits: { perSecond, perMinute } },
    busy: false,
  },
]

type Client = (origin: string, calls: number) => Promise<unknown>

const folder = await mkdtemp(join(tmpdir(), 'rankline-rate-'))
let files = 0
const rankline: Client = async (origin, calls) => {
  const file = join(folder, String(++files))
  await writeFile(
    `${file}.csv`,
    `query\n${Array.from({ length: calls }, (_, id) => `query ${id + 1}`).join('\n')}\n`,
  )
  const environment = { RANKLINE_BASE_URL: origin, RANKLINE_API_KEY: 'sk-for-a-benchmark' }
  await measured(['run', `${file}.csv`, '--operation', 'alpha.search', '--db', `${file}.db`], environment)
}
const queued =
  (mode: 'fixed' | 'strict'): Client =>
  (origin, calls) =>
    measuredScript('dist/bench/rate/queued.js', [origin, String(calls), String(perSecond), mode])

try {
  const { version } = process
  print(
    `Node ${version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${new Date().toISOString().slice(0, 10)}\n`,
  )
  print(`About ${seconds} s a row, answers after ${shortest} to ${longest} ms:\n`)
  print('| limit | client | calls passed | refused | seconds | use |')
  print('| --- | --- | --: | --: | --: | --: |')
  for (const row of rows) await printRow(row)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function printRow({ name, judging, busy }: Row): Promise<void> {
  const { limits } = judging
  const isLong = limits.perMinute !== null
  const calls = Math.round(perSecond * seconds * (isLong ? 2 : 1))
  const clients: Readonly<Record<string, Client>> = isLong
    ? { rankline }
    : { rankline, 'p-queue': queued('fixed'), 'p-queue, strict': queued('strict') }
  for (const [client, run] of Object.entries(clients))
    printCells(name, client, limits, await judged(judging, busy, (origin) => run(origin, calls)))
  for (const [what, guardMs] of [
    ['50 ms added to each window', 50],
    ['ideal', 0],
  ] as const)
    printCells(name, `${what} (computed)`, limits, {
      passed: calls,
      refused: 0,
      seconds: leastSeconds(calls, limits, guardMs),
    })
}

/** @returns what a new server saw of these calls */
async function judged(
  judging: Judging,
  busy: boolean,
  run: (origin: string) => Promise<unknown>,
): Promise<Judged> {
  const server = fork('dist/bench/rate/judging-server.js', [JSON.stringify(judging)])
  const spinning = busy ? spinners() : []
  try {
    const [port] = (await once(server, 'message')) as [number]
    await run(`http://127.0.0.1:${port}`)
    server.send('what did you see?')
    const [saw] = (await once(server, 'message')) as [Judged]
    return saw
  } finally {
    server.disconnect()
    for (const spinner of spinning) spinner.kill('SIGKILL')
  }
}

/** Processes that take all the time of the machine that they get, one for each core. */
function spinners(): readonly ChildProcess[] {
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
}

function printCells(
  name: string,
  client: string,
  limits: Judging['limits'],
  { passed, refused, seconds }: Judged,
): void {
  const use = (100 * leastSeconds(passed, limits)) / seconds
  print(`| ${name} | ${client} | ${passed} | ${refused} | ${seconds.toFixed(1)} | ${use.toFixed(1)} % |`)
}
