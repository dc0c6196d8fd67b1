import { queriesCsv } from './rankline.ts'
import { type Stage, stage } from './stage.ts'

/** What collects the job. */
export const collecting: readonly string[] = ['run', 'job.csv', '--target', 'northdesk.example']

/** A workspace with `job.csv`, three queries that were collected once for a target, and the service that was called. */
export async function collectedJob(): Promise<Stage> {
  const staged = await stage()
  const { place } = staged
  await place.file('job.csv', queriesCsv(3))
  const { code, stderr } = await place.run(collecting)
  if (code !== 0) throw new Error(`rankline ${collecting.join(' ')}: ${code}\n${stderr}`)
  return staged
}
