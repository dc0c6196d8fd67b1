import { describe, expect, test } from 'vitest'
import type { Understood } from '../../src/model/result.ts'
import type { Run } from '../../src/model/run.ts'
import type { Task } from '../../src/model/task.ts'
import type { Store } from '../../src/store/store.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../plan/build.ts'
import { executed } from '../support/executed.ts'
import { answer, begin, keep, read, understood, webPage } from './answers.ts'
import { aStore, lease, plan, text } from './build.ts'

/** What statements do, without what begins and ends their changes and looks after the log. */
function short(statements: readonly string[]): readonly string[] {
  return statements
    .filter((sql) => !/^(BEGIN|COMMIT|PRAGMA wal_checkpoint)/.test(sql))
    .map((sql) =>
      sql.replace(/^(\w+)( OR \w+)?.*? (?:FROM |INTO |(?<=^UPDATE (?:OR \w+ )?))(\w+).*/, '$1 $3'),
    )
}

const tenResults = webPage('abcdefghij')

/** Stores a page so that its words are known, then buys the same page for another query. */
async function secondPage(targets: readonly string[], says: Understood = tenResults) {
  const { store } = await aStore()
  const job = { targets: targets.map((site) => aTarget(site)) }
  const run = await plan(store, { job, queries: text('a', 'b') })
  const [first, second] = await lease(store, run.id)
  if (first === undefined || second === undefined) throw new Error('no task')
  await answer(store, first, run, says)
  return { store, run, task: second }
}

describe('for one page that is bought', () => {
  const bought = (store: Store, task: Task, run: Run, says = tenResults) =>
    executed(() => answer(store, task, run, says)).then(short)

  const callFor = ['UPDATE tasks_', 'INSERT calls_']
  const kept = ['UPDATE calls_', 'INSERT answers_', 'INSERT raw_answers', 'UPDATE tasks_']
  const readAgain = ['PRAGMA data_version', 'SELECT run_queries', 'SELECT tasks_']
  const done = ['UPDATE tasks_']

  test('nothing is executed but what stores it', async () => {
    const { store, run, task } = await secondPage([])
    expect(await bought(store, task, run)).toEqual([
      ...[...callFor, ...kept, 'UPDATE answers_', 'INSERT results', ...readAgain, ...done],
      'UPDATE run_queries',
    ])
  })

  test('each target takes one statement more', async () => {
    const { store, run, task } = await secondPage(['a.example', 'z.example'])
    expect(await bought(store, task, run)).toEqual([
      ...[...callFor, ...kept, 'UPDATE answers_', 'INSERT results', ...readAgain, ...done],
      ...['INSERT observations', 'INSERT observations', 'UPDATE run_queries'],
    ])
  })

  test('results with other columns take one more, and so does each ten', async () => {
    const results = Array.from({ length: 25 }, (_, place) => aResult('organic', { position: place + 1 }))
    const related = Array.from({ length: 8 }, () => aResult('related', { link: null, snippet: null }))
    const says = understood([...results, ...related])
    const { store, run, task } = await secondPage([], says)
    const statements = await bought(store, task, run, says)
    expect(statements.filter((one) => one === 'INSERT results')).toHaveLength(4)
  })

  test('results of the pages before it are not read again', async () => {
    const { store } = await aStore()
    const run = await plan(store, { job: { targets: [aTarget('a.example')] }, queries: [{ depth: 30 }] })
    for (const letters of ['abc', 'bcd', 'xyz']) {
      const [task] = await lease(store, run.id)
      expect(await bought(store, task as Task, run, webPage(letters))).not.toContain('SELECT results')
    }
  })
})

test('what an answer says is stored in one change, whatever it takes', async () => {
  const { store, run, task } = await secondPage(['a.example'])
  const answerId = await keep(store, task)
  const statements = await executed(() => read(store, task, run, answerId, tenResults))
  expect(statements.filter((sql) => sql.startsWith('BEGIN'))).toHaveLength(1)
  expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
})

test('a call takes two statements until it is sent', async () => {
  const { store, task } = await secondPage([])
  expect(short(await executed(() => begin(store, task)))).toEqual(['UPDATE tasks_', 'INSERT calls_'])
})
