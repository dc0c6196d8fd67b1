import { forgetEnvFile } from '../../../app/config.ts'
import { collectorLock } from '../../../app/lock.ts'
import { openApp } from '../../../app/open-app.ts'
import { planDue } from '../../../app/planning/due-work.ts'
import type { CollectDue, JobEnd } from '../../../app/scheduler/scheduler.ts'
import { exitCodes } from '../../../model/run.ts'
import type { Clock } from '../../../model/time.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import type { Store } from '../../../store/store.ts'
import { planEvents } from '../../progress.ts'
import { collectRuns } from './collect-runs.ts'
import type { ScheduleFlags } from './schedule-flags.ts'

/** Collects what is due, as `rankline run --due` does, and never waits for another process. */
export function collectDue(flags: ScheduleFlags, terminal: Terminal, clock: Clock): CollectDue {
  const reported = new Set<string>()
  return async (forms, stop) => {
    forgetEnvFile()
    const broken = forms.filter(({ isBroken }) => isBroken)
    const request = {
      ...flags,
      job: forms.map(({ path }) => path),
      texts: new Map(broken.map(({ path, text }) => [path, text])),
      'skip-bad': true,
    }
    using lock = collectorLock({ ...flags, wait: '0' }, (line) => note(terminal, line))
    await using app = await openApp(flags, lock, clock)
    const planned = await planDue(app, request, { ...planEvents(terminal), ask: null }, async () => {
      await lock.acquire()
      await app.store.rejectDamaged()
    })
    if (planned !== null && planned.listed.length > 0)
      await collectRuns(app, planned.listed, { ...flags, json: false }, terminal, {
        stop,
        reported,
        exitCode: () => exitCodes.interrupted,
      })
    await planned?.end()
    return new Map(
      await Promise.all(
        forms.map(async ({ settings: { name } }) => [name, await endOf(app.store, name)] as const),
      ),
    )
  }
}

async function endOf(store: Store, job: string): Promise<JobEnd> {
  const run = await store.latestRun(job)
  const { id = null, finishReason = null, finishedAt = null } = run ?? {}
  return { run: id, finishReason, finishedAt }
}
