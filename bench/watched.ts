import type { ChildProcess } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Measured, measuredScript } from './measured.ts'

/** What a collecting process took, and how it was while it collected. */
export interface Watched extends Measured {
  /** Calls that were answered. */
  readonly calls: number
  readonly callsPerSecond: number
  /** Seconds. */
  readonly untilFirstCall: number
  readonly afterLastCall: number
  /** One a second from the first call on. */
  readonly samples: readonly Sample[]
  /** Largest size of the database's log. */
  readonly logBytes: number
}

interface Sample {
  readonly calls: number
  /** All that the process holds in memory, 10^6 bytes. */
  readonly megabytes: number
}

export interface WatchOptions {
  readonly env: NodeJS.ProcessEnv
  /** Where the answers come from, and are counted. */
  readonly origin: string
  /** After so many calls it is interrupted, as by Ctrl-C, unless it ends by itself. */
  readonly upTo: number
}

const lookEveryMs = 100
const sampleEveryMs = 1_000
/** Done, or interrupted. */
const fine: readonly (number | null)[] = [0, 130]

/** Runs the built program on the database that its arguments name, and watches it. */
export async function watched(
  args: readonly string[],
  { env, origin, upTo }: WatchOptions,
): Promise<Watched> {
  const log = `${args[args.indexOf('--db') + 1]}-wal`
  const before = await answered(origin)
  const samples: Sample[] = []
  const began = performance.now()
  let [calls, logBytes, firstAt, lastAt] = [0, 0, began, began]
  const watch = async (child: ChildProcess): Promise<void> => {
    for (let sampledAt = 0; child.exitCode === null; await pause(lookEveryMs)) {
      const now = performance.now()
      const seen = (await answered(origin)) - before
      if (seen > calls) {
        if (calls === 0) firstAt = now
        if (calls < upTo && seen >= upTo) child.kill('SIGINT')
        calls = seen
        lastAt = now
      }
      if (now - sampledAt < sampleEveryMs) continue
      sampledAt = now
      logBytes = Math.max(logBytes, statSync(log, { throwIfNoEntry: false })?.size ?? 0)
      const megabytes = memoryOf(child.pid as number)
      if (calls > 0 && megabytes !== null) samples.push({ calls, megabytes })
    }
  }
  const took = await measuredScript('dist/cli.js', args, env, { watch, fine })
  return {
    ...took,
    calls,
    callsPerSecond: calls / ((lastAt - firstAt) / 1000),
    untilFirstCall: (firstAt - began) / 1000,
    afterLastCall: took.seconds - (lastAt - began) / 1000,
    samples,
    logBytes,
  }
}

async function answered(origin: string): Promise<number> {
  const response = await fetch(`${origin}/v1/usage`)
  return ((await response.json()) as { total_used: number }).total_used
}

/** Null where the process has just ended. */
function memoryOf(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : (Number(kilobytes) * 1024) / 1e6
  } catch {
    return null
  }
}
