import { type AskedPage, echoMismatch } from '../catalog/echo.ts'
import { billableOperation } from '../catalog/index.ts'
import { localeOf } from '../catalog/normalise/locale.ts'
import { type NotUnderstood, understand } from '../catalog/understand.ts'
import type { EchoMismatch, Understood } from '../model/result.ts'
import type { Task } from '../model/task.ts'
import { type AnswerRows, answerRows } from '../store/answer-rows.ts'
import type { PagingFacts } from './follow.ts'

/** A page of a query, as it was asked. */
export type Asked = AskedPage & Pick<Task, 'operation'>

/** What an answer says, and what of the question it repeats otherwise. */
export interface UnderstoodAnswer extends Understood {
  readonly echoMismatch: EchoMismatch | null
}

/** What a stored body says. An error of ours on one answer costs that answer alone; its body stays stored. */
export function understoodOf(
  asked: Asked,
  body: Buffer,
  fetchedAt: number,
): UnderstoodAnswer | NotUnderstood {
  try {
    const operation = billableOperation(asked.operation)
    const understood = understand(operation, body, { fetchedAt, ...localeOf(asked.params) })
    if ('reason' in understood) return understood
    return { ...understood, echoMismatch: echoMismatch(operation, asked, understood.facts) }
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
export function readingOf(asked: Asked, body: Buffer, fetchedAt: number): Reading | NotUnderstood {
  const understood = understoodOf(asked, body, fetchedAt)
  if ('reason' in understood) return understood
  const { hasNextPage, nextPage, currentPage } = understood.facts
  return {
    rows: answerRows(understood, understood.echoMismatch),
    facts: { hasNextPage, nextPage, currentPage },
  }
}
