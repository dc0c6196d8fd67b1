import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LargeJob, largeStore } from './large-store.ts'
import { grouped, machine, median, print } from './print.ts'

/**
 * How long short commands take, from their start to the end of their process, beside a Node that does nothing.
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

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const [most, few] = [join(folder, 'large.db'), join(folder, 'small.db')]
  await largeStore(most, large)
  await largeStore(few, small)
  print(machine())
  print(`${rounds} rounds; large: ${await described(most, large)}; small: ${await described(few, small)}\n`)
  const nothing: Start = { name: 'node -e 0', args: ['-e', '0'], code: 0 }
  const starts: readonly Start[] = [
    command(['--version']),
    command(['--help']),
    command(['runss'], 2),
    command(['runs', '--db', few]),
    command(['runs', '--db', most]),
    command(['report', 'bench', '--db', few]),
  ]
  print(tableOf([nothing, ...starts], taken([nothing, ...starts])))
} finally {
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

/** Milliseconds of each start in each round. They take turns: what slows the machine down slows down all of them. */
function taken(starts: readonly Start[]): readonly (readonly number[])[] {
  // The first of each finds no file in the memory of the system.
  for (const start of starts) once(start)
  const ms: number[][] = starts.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, start] of starts.entries()) ms[index]?.push(once(start))
  return ms
}

function once({ name, args, code }: Start): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ms = performance.now() - began
  if (status !== code) throw new Error(`${name} ended with ${status}: ${stderr}`)
  return ms
}

function tableOf(starts: readonly Start[], ms: readonly (readonly number[])[]): string {
  const nothing = ms[0] as readonly number[]
  const rows = starts.map(({ name }, index) => {
    const own = ms[index] as readonly number[]
    const ratios = own.map((one, round) => one / (nothing[round] as number))
    const least = Math.min(...own) / Math.min(...nothing)
    return `| \`${name}\` | ${median(own).toFixed(0)} | ${median(ratios).toFixed(2)} | ${least.toFixed(2)} |`
  })
  return [
    '| command | ms (median) | times `node -e 0` (median of rounds) | of the fastest rounds |',
    '| --- | --: | --: | --: |',
    ...rows,
  ].join('\n')
}
