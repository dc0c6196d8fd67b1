import type { Run } from '../../src/model/run.ts'
import { aJob } from '../plan/build.ts'
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
