import { performance } from 'node:perf_hooks'
import type { SandboxOptions } from '../../src/sandbox/state.ts'
import { type Memory, memoryOf } from './memory.ts'
import { type Stage, stage } from './stage.ts'

/** What is run and killed: the files of one `rankline run` command, and how many calls it may have in the air. */
export interface KillJob {
  readonly files: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly sandbox?: SandboxOptions
}

/** What a job comes to when nobody disturbs it. */
export interface Undisturbed {
  readonly memory: Memory
  /** Until the first request, and from start to end. */
  readonly startMs: number
  readonly wholeMs: number
  /** How many the service sees, and how long the run takes from the last of them. */
  readonly requests: number
  readonly endMs: number
}

/** A sandbox whose world is the same in every run, and a folder with the files of the job. */
export async function stageOf(job: KillJob): Promise<Stage> {
  const staged = await stage({
    seed: 'kills',
    now: () => Date.UTC(2026, 0, 15, 12),
    latencyMs: [5, 60],
    ...job.sandbox,
  })
  for (const [name, text] of Object.entries(job.files)) await staged.place.file(name, text)
  return staged
}

export function commandOf({ files, concurrency }: KillJob): readonly string[] {
  return ['run', ...Object.keys(files), '--concurrency', String(concurrency)]
}

/** Runs a job to its end on a database of its own. */
export async function undisturbed(job: KillJob): Promise<Undisturbed> {
  await using staged = await stageOf(job)
  const { sandbox, place } = staged
  const started = performance.now()
  const running = place.start(commandOf(job))
  while (sandbox.ledger.requests.length === 0 && running.child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 2))
  const startMs = performance.now() - started
  let [requests, lastAt] = [0, started]
  const watch = setInterval(() => {
    if (sandbox.ledger.requests.length === requests) return
    requests = sandbox.ledger.requests.length
    lastAt = performance.now()
  }, 2)
  const { code, stderr } = await running.ended
  clearInterval(watch)
  const over = performance.now()
  if (code !== 0) throw new Error(`the undisturbed run ended with ${code}: ${stderr}`)
  return { memory: memoryOf(place), startMs, wholeMs: over - started, requests, endMs: over - lastAt }
}

/**
 * A time zone in which it is about noon: a job with targets is continued on its own day only, which must not end
 * between a kill and the next start.
 */
export function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours()
  // POSIX counts these zones westwards.
  return `Etc/GMT${ahead > 0 ? `-${ahead}` : `+${-ahead}`}`
}
