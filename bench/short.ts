import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * Runs every benchmark with arguments so small that it ends within seconds: whether they work, not how fast anything is.
 * Exit code 1 where one fails or prints no table.
 */
const small: Readonly<Record<string, readonly number[]>> = {
  rate: [3, 10],
  machines: [2, 40, 100, 1, 40, 1, 1],
  growth: [200, 2],
  million: [500],
  throughput: [200, 1],
  'keep-alive': [20, 2],
  start: [2, 3],
  page: [1, 20],
  report: [20, 5, 10],
  export: [2_000],
  import: [20, 30],
  'rank-history': [100, 5, 10],
  'taking-chunks': [3_000, 3],
  size: [5, 10, 20],
  paging: [5, 20],
}

// Two at a time, the longest first: most of them wait for pauses and processes.
const left = Object.entries(small)
await Promise.all([tryAll(), tryAll()])

async function tryAll(): Promise<void> {
  for (let next = left.shift(); next !== undefined; next = left.shift()) await tryOut(...next)
}

async function tryOut(name: string, args: readonly number[]): Promise<void> {
  const began = performance.now()
  const lines = (await outputOf(name, args)).split('\n')
  // A head, the line below it, and at least one row.
  if (lines.filter((line) => line.startsWith('| ')).length < 3)
    throw new Error(`bench/${name}.ts ${args.join(' ')} printed no table:\n${lines.join('\n')}`)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`${name} ${args.join(' ')}: works (${seconds} s)\n`)
}

async function outputOf(name: string, args: readonly number[]): Promise<string> {
  const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`bench/${name}.ts ${args.join(' ')} ended with exit code ${code}`)
  return output
}
