import { expect, onTestFinished } from 'vitest'
import { dayMs, daysBetween, systemClock } from '../../src/model/time.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { fastClock } from '../support/fast-clock.ts'
import { queriesCsv, type Workspace, workspace } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

/** A sandbox and a workspace that calls it, as long as the test; with a `job.csv` of so many queries. */
export async function staged(
  options?: Parameters<typeof stage>[0],
  queries = 0,
  database?: Parameters<typeof stage>[1],
) {
  const { sandbox, place, ...rest } = await stage(options, database)
  onTestFinished(() => rest[Symbol.asyncDispose]())
  if (queries > 0) await place.file('job.csv', queriesCsv(queries))
  return { sandbox, place, job: 'job.csv' }
}

/** A workspace with `acme.yaml`, whose job ran on three days. */
export function threeDays(job: string): Promise<Workspace> {
  return ranOn(['2026-03-01', '2026-03-02', '2026-03-03'], job)
}

/** A workspace with `acme.yaml`, whose job ran on days as far apart as these, the last one today. */
export async function ranOn(days: readonly string[], job: string): Promise<Workspace> {
  await using sandbox = await startSandbox({ sites: ['acme.com', 'rival.com'] })
  const place = await workspace(sandbox)
  const file = await place.file('acme.yaml', job)
  for (const [index, day] of days.entries()) {
    const apart = daysBetween(days[index - 1] ?? day, day)
    if (apart > 0)
      place.change(`UPDATE runs_ SET date = date(date, '-${apart} days');
        UPDATE observations SET observed_at = observed_at - ${apart * dayMs}`)
    sandbox.control({ date: day })
    expect((await place.call(['run', file])).code).toBe(0)
  }
  return place
}

/** Waits until something is no longer so. */
export async function waitWhile(isSo: () => boolean): Promise<void> {
  while (isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Calls the program with a clock that is off by as much. */
export async function callAt(place: Workspace, ms: number, ...args: readonly string[]) {
  const { now } = Date
  Date.now = () => now() + ms
  try {
    return await place.call(args)
  } finally {
    Date.now = now
  }
}

/** Calls the program with pauses that take a twentieth of their time. The time of day goes on as ever, and so does the service. */
export async function callQuickly(place: Workspace, ...call: Parameters<Workspace['call']>) {
  const { monotonic, after } = systemClock
  using quick = fastClock(20)
  Object.assign(systemClock, { monotonic: quick.monotonic, after: quick.after })
  try {
    return await place.call(...call)
  } finally {
    Object.assign(systemClock, { monotonic, after })
  }
}
