import { billableOperation } from '../catalog/index.ts'
import { localeOf } from '../catalog/normalise/locale.ts'
import { type NotUnderstood, understand } from '../catalog/understand.ts'
import type { Understood } from '../model/result.ts'
import type { Task } from '../model/task.ts'

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
