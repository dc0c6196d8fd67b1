import { deflateSync } from 'node:zlib'
import { normaliserVersion } from '../../src/catalog/answers.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { parseStored } from '../../src/collect/answers.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { advanceQuery, pagingRules } from '../../src/rank/paging.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { views } from '../../src/store/sqlite/views.ts'
import { begin, conclude, done, settlement } from './answers.ts'
import { lease, noon, type TempStore } from './build.ts'

const world = createWorld('rankline', ['acme.example'])

/** What the sandbox would answer to a task, as it would be sent. */
export function bodyOf({ operation, text, params, page }: Task, now = noon): string {
  const asked = { style: 'get', query: text, params, page, isAsync: false } as const
  const answer = world(billableOperation(operation), asked, { now, pages: 'overlap', positions: 'restart' })
  return JSON.stringify(answer)
}

/** An answer of web results by the letters of their sites. */
export function webBody(letters: string): string {
  return JSON.stringify({
    organic_results: [...letters].map((letter, index) => ({
      ...{ position: index + 1, title: letter, link: `https://${letter}.example/` },
    })),
  })
}

/** Works through a run as a process would, with these bodies. */
export async function workBodies(
  store: Store,
  run: Run,
  bodies: (task: Task) => string = bodyOf,
  at = noon,
): Promise<void> {
  for (;;) {
    const tasks = await lease(store, run.id)
    if (tasks.length === 0) return
    for (const task of tasks) await answerWith(store, run, task, bodies(task), at)
  }
}

async function answerWith(store: Store, run: Run, task: Task, text: string, at: number): Promise<void> {
  const callId = await begin(store, task, at - 500)
  const body = Buffer.from(text)
  const answerId = await store.saveAnswer({
    ...{ callId, task, settlement: settlement({ finishedAt: at }), fetchedAt: at },
    ...{ body: deflateSync(body), encoding: 'deflate' },
  })
  await readBody(store, run, task, answerId, body, at)
}

/** Reads a stored body as a process would. */
export async function readBody(
  store: Store,
  run: Run,
  task: Task,
  answerId: number,
  body: Buffer,
  at = noon,
): Promise<void> {
  const says = parseStored(task, body, at)
  const outcome = 'reason' in says ? { failed: says.reason } : done(answerId, says, normaliserVersion)
  const end = 'reason' in says ? ({ failed: 'malformed' } as const) : says
  await conclude(store, task, outcome, (query) => advanceQuery(query, task.page, end, pagingRules(run)))
}

/** Everything that programs see, as text. */
export function everythingPublic({ sql }: TempStore): string {
  // Rows of results name their links by numbers.
  return Object.keys(views)
    .filter((view) => view !== 'results')
    .map(
      (view) =>
        `${view}\n${sql(`SELECT * FROM ${view}`)
          .map((row) => JSON.stringify(row))
          .sort()
          .join('\n')}`,
    )
    .join('\n\n')
}
