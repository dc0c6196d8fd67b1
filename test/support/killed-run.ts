import { join } from 'node:path'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { commandOf, type KillJob, type Undisturbed } from './kill-job.ts'
import type { Ended, Started, Workspace } from './rankline.ts'
import { readScene, type Scene } from './scene.ts'

/** What a process was at when it was killed, as far as its database tells. */
export const phases = ['planning', 'sending', 'storing', 'ending'] as const
export type Phase = (typeof phases)[number]

/** A kill, with what the database said before that process began and after it died. */
export interface Kill {
  /** After its start. */
  readonly afterMs: number
  readonly phase: Phase
  readonly before: Scene
  readonly scene: Scene
}

export interface KilledRun {
  readonly kills: readonly Kill[]
  /** How the last process ended; null where the last kill came when the run had been finished. */
  readonly end: Ended | null
}

export interface Killing {
  readonly place: Workspace
  readonly sandbox: Sandbox
  readonly job: KillJob
  readonly expected: Undisturbed
  /** From 0 to 1. */
  readonly random: () => number
  readonly mostKills: number
  /** Whether the first kill comes when the service has seen some of the requests, however fast the machine is. */
  readonly isFirstInMidRun: boolean
}

/** Fewer than any of the jobs asks. */
const requestsBeforeKill = 20

/** Runs a job, kills it at random instants, starts it again until that many kills are done, and lets it end. */
export async function runAndKill(killing: Killing): Promise<KilledRun> {
  const { place, sandbox, job, expected, random, mostKills, isFirstInMidRun } = killing
  const kills: Kill[] = []
  let before = await readScene(join(place.folder, 'data'))
  while (kills.length < mostKills) {
    const began = performance.now()
    const isMoment =
      isFirstInMidRun && kills.length === 0
        ? () => sandbox.ledger.requests.length >= requestsBeforeKill
        : random() < 0.25
          ? atTheEnd(killing, random())
          : passed(random() * timeLeft(expected, before))
    const end = await killAt(place.start(commandOf(job)), isMoment)
    const afterMs = performance.now() - began
    if (end !== null) return { kills, end }
    const scene = await readScene(join(place.folder, 'data'))
    kills.push({ afterMs, phase: phaseOf(before, scene), before, scene })
    if (scene.finished) return { kills, end: null }
    before = scene
  }
  return { kills, end: await place.run(commandOf(job)) }
}

/** Whether so much time has passed since now. */
function passed(ms: number): () => boolean {
  const at = performance.now() + ms
  return () => performance.now() >= at
}

/** Kills at that moment; answers how the process ended where it was faster. */
async function killAt({ child, ended }: Started, isMoment: () => boolean): Promise<Ended | null> {
  const timer = setInterval(() => {
    if (isMoment()) child.kill('SIGKILL')
  }, 1)
  const end = await ended
  clearInterval(timer)
  return child.signalCode === 'SIGKILL' ? null : end
}

/** After that share of what is left to do once the service has seen all requests: that is short and has much to get wrong. */
function atTheEnd({ sandbox, expected }: Killing, share: number): () => boolean {
  let at = Number.POSITIVE_INFINITY
  return () => {
    const now = performance.now()
    if (sandbox.ledger.requests.length >= expected.requests) at = Math.min(at, now + share * expected.endMs)
    return now >= at
  }
}

/** Instants are drawn from what is left to do, so that most of them find a living process. */
function timeLeft({ startMs, wholeMs }: Undisturbed, { tasks }: Scene): number {
  const all = tasks.open + tasks.answered + tasks.settled
  const share = all === 0 ? 1 : (tasks.open + tasks.answered) / all
  return startMs + share * (wholeMs - startMs)
}

function phaseOf(before: Scene, { calls, tasks, finished }: Scene): Phase {
  if (finished || (tasks.settled > 0 && tasks.open + tasks.answered === 0)) return 'ending'
  if (calls === before.calls) return 'planning'
  return tasks.answered > 0 ? 'storing' : 'sending'
}
