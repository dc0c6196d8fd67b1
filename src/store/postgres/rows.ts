import type { JobSettings } from '../../model/job.ts'
import type { SharedRun } from '../shared/plans.ts'

export interface RunRow {
  readonly id: string
  readonly group_id: string
  readonly key_hash: string
  readonly job: string
  readonly date: string
  readonly settings: string
  readonly started_at: number
}

export function runFromRow({ id, group_id, key_hash, job, date, settings, started_at }: RunRow): SharedRun {
  return {
    ...{ id, groupId: group_id, keyHash: key_hash, job, date, startedAt: started_at },
    settings: JSON.parse(settings) as JobSettings,
  }
}
