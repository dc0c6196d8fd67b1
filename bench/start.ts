import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LargeJob, largeStore } from './large-store.ts'
import { grouped, machine, median, print } from './print.ts'

/**
 * How long short commands take, from their start to the end of their process, and how much processor, beside a Node that does nothing.
 *
 * Arguments: rounds [40], runs in the large database [300].
 */

const [rounds = 40, runs = 300] = process.argv.slice(2).map(Number)
const program = fileURLToPath(new URL('../cli.js', import.meta.url))
const large: LargeJob = { keywords: 200, days: runs, results: 50 }
const small: LargeJob = { keywords: 40, days: 14, results: 20 }

interface Start {
  readonly name: string
  readonly args: readonly string[]
  readonly code: number
}

/** What a process took. */
interface Taken {
  readonly ms: number
  /** Of all its threads. */
  readonly cpuMs: number
}

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const meter = join(folder, 'meter.cjs')
const workspace = join(folder, 'workspace')
const sandbox = spawn(process.execPath, [program, 'sandbox', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
try {
  await writeFile(
    meter,
    `process.on('exit', () => { const { user, system } = process.cpuUsage(); require('fs').writeSync(3, String(user + system)) })`,
  )
  const [said] = await once(sandbox.stdout, 'data')
  await mkdir(workspace)
  const service = {
    RANKLINE_BASE_URL: String(said).match(/http:\S+\d/)?.[0],
    RANKLINE_API_KEY: 'sandbox-key',
  }
  Object.assign(process.env, service)
  for (const args of [
    ['init', '.', '--yes'],
    ['run', 'ranks.yaml'],
  ])
    takenBy(command(args))
  const [most, few] = [join(folder, 'large.db'), join(folder, 'small.db')]
  await largeStore(most, large)
  await largeStore(few, small)
  print(machine())
  print(`${rounds} rounds; large: ${await described(most, large)}; small: ${await described(few, small)}\n`)
  const nothing: Start = { name: 'node -e 0', args: ['-e', '0'], code: 0 }
  const starts: readonly Start[] = [
    command(['--version']),
    command(['--help']),
    command(['run', '--help']),
    command(['runss'], 2),
    command(['runs', '--db', few]),
    command(['runs', '--db', most]),
    command(['report', 'bench', '--db', few]),
    command(['status']),
    command(['doctor']),
  ]
  print(tableOf([nothing, ...starts], taken([nothing, ...starts])))
} finally {
  sandbox.kill()
  await rm(folder, { recursive: true, force: true })
}

function command(args: readonly string[], code = 0): Start {
  const words = args.map((word) => (word.startsWith(folder) ? word.slice(folder.length + 1) : word))
  return { name: `rankline ${words.join(' ')}`, args: [program, ...args], code }
}

async function described(database: string, { keywords, days, results }: LargeJob): Promise<string> {
  const megabytes = (await stat(database)).size / 1e6
  return `${days} runs of ${keywords} queries, ${grouped(keywords * days * results)} results, ${megabytes.toFixed(0)} MB`
}

/** What each start took in each round. They take turns: what slows the machine down slows down all of them. */
function taken(starts: readonly Start[]): readonly (readonly Taken[])[] {
  // The first of each finds no file in the memory of the system.
  for (const start of starts) takenBy(start)
  const all: Taken[][] = starts.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, start] of starts.entries()) all[index]?.push(takenBy(start))
  return all
}

function takenBy({ name, args, code }: Start): Taken {
  const began = performance.now()
  const { status, stderr, output } = spawnSync(process.execPath, ['--require', meter, ...args], {
    cwd: workspace,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const ms = performance.now() - began
  if (status !== code) throw new Error(`${name} ended with ${status}: ${stderr}`)
  return { ms, cpuMs: Number(output[3]) / 1000 }
}

function tableOf(starts: readonly Start[], all: readonly (readonly Taken[])[]): string {
  const nothing = all[0] as readonly Taken[]
  const rows = starts.map(({ name }, index) => {
    const own = all[index] as readonly Taken[]
    const times = (part: keyof Taken): string =>
      median(own.map((one, round) => one[part] / (nothing[round] as Taken)[part])).toFixed(2)
    const middle = (part: keyof Taken): string => median(own.map((one) => one[part])).toFixed(0)
    return `| \`${name}\` | ${middle('ms')} | ${times('ms')} | ${middle('cpuMs')} | ${times('cpuMs')} |`
  })
  return [
    '| command | ms (median) | times `node -e 0` | processor, ms | times `node -e 0` |',
    '| --- | --: | --: | --: | --: |',
    ...rows,
  ].join('\n')
}
