import type { Run, Task } from '../../src/model/run.ts'
import { aJob } from '../run/build.ts'
import { noon } from '../store/build.ts'

/** A run under way, of which only what matters is named. */
export function aRun(run: Partial<Run> = {}): Run {
  return {
    id: 1,
    groupId: 1,
    job: 'acme',
    settings: aJob(),
    date: '2026-03-01',
    startedAt: noon,
    finishedAt: null,
    durationMs: null,
    finishReason: null,
    closedAt: null,
    plannedMin: 0,
    plannedMax: 0,
    ...run,
  }
}

/** A task, of which only what matters is named; each one is the first page of a query of its own. */
export function aTask(task: Partial<Task> = {}): Task {
  const { id = 1 } = task
  return {
    id,
    runId: 1,
    queryId: id,
    operation: 'alpha.search',
    text: 'desk',
    params: {},
    page: 1,
    priority: 0,
    credits: 1,
    tries: 0,
    cause: null,
    reusable: null,
    ...task,
  }
}
