import type { RunDocument } from '../collect/finish.ts'
import { RanklineError } from '../model/errors.ts'
import type { Run, StopCause } from '../model/run.ts'
import type { MetricsFile } from '../run/config.ts'
import type { App } from '../run/connect/app.ts'
import { judgeRuns } from './alerts/judge.ts'
import { deliverMessages } from './messages/deliver.ts'
import { queueDigestsOfRuns } from './messages/digest.ts'
import { writeMetrics } from './metrics.ts'

/** A run that was collected, and the document that says how it ended. */
export interface FinishedRun {
  readonly run: Run
  readonly document: RunDocument
}

/** What follows a collection of any command. */
export interface AfterRun {
  readonly app: App
  readonly finished: readonly FinishedRun[]
  /** Why the command stopped; null where it did not. */
  readonly cause: StopCause | null
  /** Where metrics are written; null where none are wanted. */
  readonly metricsFile: MetricsFile | null
  /** Called with a line that must be read. */
  readonly log: (line: string) => void
}

type AfterRunStep = (after: AfterRun) => Promise<void>

/** What is done after runs, in this order. */
const steps: readonly AfterRunStep[] = [judgeRuns, writeMetrics, queueDigestsOfRuns, deliverMessages]

/**
 * Does what follows a collection. A step that fails is told in one line: it changes nothing of how the run ended. A bug in one step
 * keeps no other from its work, and is thrown in the end.
 */
export async function afterRuns(after: AfterRun): Promise<void> {
  const bugs: unknown[] = []
  for (const step of steps)
    try {
      await step(after)
    } catch (error) {
      if (error instanceof RanklineError) after.log(error.message)
      else bugs.push(error)
    }
  if (bugs.length > 0) throw bugs[0]
}
