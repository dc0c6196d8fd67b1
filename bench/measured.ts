import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a whole process took. */
export interface Measured {
  readonly seconds: number
  /** Most memory that it held at once, in MB (10^6 bytes). */
  readonly megabytes: number
}

/** Tells at its end, on a channel of its own, how much memory the process took. */
const tellMemory = `data:text/javascript,${encodeURIComponent(
  'import{writeSync}from"node:fs";process.on("exit",()=>writeSync(3,String(process.resourceUsage().maxRSS)))',
)}`

/** Runs the built program in a process of its own, as a user does. */
export async function measured(...args: readonly string[]): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', tellMemory, 'dist/cli.js', ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  let [said, kilobytes] = ['', '']
  child.stderr?.on('data', (piece) => {
    said += piece
  })
  child.stdio[3]?.on('data', (piece) => {
    kilobytes += piece
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`rankline ${args.join(' ')} ended with ${code}: ${said}`)
  return { seconds: (performance.now() - started) / 1000, megabytes: (Number(kilobytes) * 1024) / 1e6 }
}
