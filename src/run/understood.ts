import { billableOperation } from '../catalog/index.ts'
import { localeOf } from '../catalog/normalise/locale.ts'
import { type NotUnderstood, understand } from '../catalog/understand.ts'
import type { Understood } from '../model/result.ts'
import type { Task } from '../model/task.ts'
import { type AnswerRows, answerRows } from '../store/answer-rows.ts'
import type { PagingFacts } from './follow.ts'

/** What a stored body says. An error of ours on one answer costs that answer alone; its body stays stored. */
export function understoodOf(
  { operation, params }: Pick<Task, 'operation' | 'params'>,
  body: Buffer,
  fetchedAt: number,
): Understood | NotUnderstood {
  try {
    return understand(billableOperation(operation), body, { fetchedAt, ...localeOf(params) })
  } catch (error) {
    return { reason: `rankline could not read the answer: ${error instanceof Error ? error.message : error}` }
  }
}

/** What an answer says: what is stored of it, and what it says of the pages after it. */
export interface Reading {
  readonly rows: AnswerRows
  readonly facts: PagingFacts
}

/** The same for a filer: what is stored of the body, and what is followed. */
export function readingOf(
  task: Pick<Task, 'operation' | 'params'>,
  body: Buffer,
  fetchedAt: number,
): Reading | NotUnderstood {
  const understood = understoodOf(task, body, fetchedAt)
  if ('reason' in understood) return understood
  const { hasNextPage, nextPage, currentPage } = understood.facts
  return { rows: answerRows(understood), facts: { hasNextPage, nextPage, currentPage } }
}
