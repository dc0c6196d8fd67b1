import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a whole process took. */
export interface Measured {
  readonly seconds: number
  /** Of all its threads. */
  readonly cpuSeconds: number
  /** Most memory that it held at once, in MB (10^6 bytes). */
  readonly megabytes: number
}

interface Told {
  readonly maxRSS: number
  readonly userCPUTime: number
  readonly systemCPUTime: number
}

/** Tells at its end, on a channel of its own, what the process used. */
const tell = `data:text/javascript,${encodeURIComponent(
  'import{writeSync}from"node:fs";import{isMainThread}from"node:worker_threads";if(isMainThread)process.on("exit",()=>writeSync(3,JSON.stringify(process.resourceUsage())))',
)}`

/** Runs the built program in a process of its own, as a user does. */
export function measured(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Measured> {
  return measuredScript('dist/cli.js', args, env)
}

interface Measuring {
  /** Looks at the process as long as it lasts. */
  readonly watch?: (child: ChildProcess) => Promise<void>
  /** Exit codes that are no failure. */
  readonly fine?: readonly (number | null)[]
}

/** Runs a script in a process of its own. Rejected where it fails. */
export async function measuredScript(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { watch = async () => {}, fine = [0] }: Measuring = {},
): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', tell, script, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let [said, told] = ['', '']
  child.stderr?.on('data', (piece) => {
    said += piece
  })
  child.stdio[3]?.on('data', (piece) => {
    told += piece
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const [[code]] = await Promise.all([closed, watch(child)])
  if (!fine.includes(code)) throw new Error(`${script} ${args.join(' ')} ended with ${code}: ${said}`)
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(told) as Told
  return {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    megabytes: (maxRSS * 1024) / 1e6,
  }
}
