import { join } from 'node:path'
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
  readonly job: KillJob
  readonly expected: Undisturbed
  /** From 0 to 1. */
  readonly random: () => number
  readonly mostKills: number
}

/** Runs a job, kills it at random instants, starts it again until that many kills are done, and lets it end. */
export async function runAndKill({ place, job, expected, random, mostKills }: Killing): Promise<KilledRun> {
  const kills: Kill[] = []
  let before = await readScene(join(place.folder, 'data'))
  while (kills.length < mostKills) {
    const afterMs = instant(random(), random()) * timeLeft(expected, before)
    const end = await killAfter(place.start(commandOf(job)), afterMs)
    if (end !== null) return { kills, end }
    const scene = await readScene(join(place.folder, 'data'))
    kills.push({ afterMs, phase: phaseOf(before, scene), before, scene })
    if (scene.finished) return { kills, end: null }
    before = scene
  }
  return { kills, end: await place.run(commandOf(job)) }
}

/** Kills after that time; answers how the process ended where it was faster. */
async function killAfter({ child, ended }: Started, ms: number): Promise<Ended | null> {
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  const end = await ended
  clearTimeout(timer)
  return child.signalCode === 'SIGKILL' ? null : end
}

/** A share of the time that is left; every fourth lies at the end, which is short and has much to get wrong. */
function instant(which: number, share: number): number {
  return which < 0.25 ? 0.85 + share * 0.2 : share
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
