import type { Task } from '../../src/model/task.ts'

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
