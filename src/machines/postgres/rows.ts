import type { JobSettings } from '../../model/job.ts'
import type { PagingDecision } from '../../rank/paging.ts'
import type { StoredAnswer, TaskEnded } from '../../store/shared/calls.ts'
import type { SharedRun } from '../../store/shared/plans.ts'

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
    id,
    groupId: group_id,
    keyHash: key_hash,
    job,
    date,
    startedAt: started_at,
    settings: JSON.parse(settings) as JobSettings,
  }
}

export interface AnswerRow {
  readonly call_id: string
  readonly query: Buffer
  readonly page: number
  readonly fetched_at: number
  readonly encoding: string
  readonly body: Buffer
}

export function answerFromRow({ call_id, query, page, fetched_at, encoding, body }: AnswerRow): StoredAnswer {
  return { call: call_id, query, page, fetchedAt: fetched_at, encoding, body }
}

export interface EndRow {
  readonly run_id: string
  readonly query: Buffer
  readonly page: number
  readonly call_id: string | null
  readonly reused: boolean
  readonly cause: string | null
  readonly paging: string | null
}

export function endFromRow(row: EndRow): TaskEnded {
  const { run_id, query, page, call_id, reused, cause, paging } = row
  return {
    task: { run: run_id, query, page },
    end: cause === null ? { call: call_id as string, reused } : { call: call_id, cause },
    paging: paging === null ? null : (JSON.parse(paging) as PagingDecision),
  }
}
