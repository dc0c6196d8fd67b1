import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'

test.each([
  ['a job file with a mistake', ['run', 'bad.yaml'], 2, "unknown key 'querys'"],
  ['a job file that is missing', ['run', 'none.yaml'], 2, 'there is no such file'],
  ['a list with an empty query', ['run', 'list.csv'], 2, 'list.csv:3: query is empty'],
  ['jobs of which one has a mistake', ['run', 'good.csv', 'bad.yaml'], 2, "unknown key 'querys'"],
  ['a selection of nothing', ['run', 'good.csv', '--tag', 'money'], 2, 'No query'],
  [
    'clicks of a path that is missing',
    ['clicks', 'add', 'none.zip'],
    2,
    'There is no file or folder none.zip',
  ],
  ['clicks of another table', ['clicks', 'add', 'good.csv'], 2, 'good.csv is no table of clicks'],
  ['an import of a path that is missing', ['import', 'none.csv'], 2, 'There is no file or folder none.csv'],
  ['an import of another table', ['import', 'good.csv'], 2, 'good.csv is of no format that is known'],
  ['clicks to undo', ['clicks', 'undo', '1'], 2, 'There is no database data/rankline.db'],
  ['volumes to undo', ['volumes', 'undo', '1'], 2, 'There is no database data/rankline.db'],
  ['a run to resume', ['resume'], 0, 'No run is unfinished'],
  ['a run to retry', ['retry'], 0, 'No run has failed tasks'],
] as const)('%s makes no database', async (_, args, code, words) => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('good.csv', 'query,tags\na,\n')
  await place.file('list.csv', 'query,note\na,\n,x\n')
  await place.file('bad.yaml', 'querys: [a]\n')

  const ended = await place.call([...args])

  expect(ended.stderr).toContain(words)
  expect(ended.stderr.split(words)).toHaveLength(2)
  expect([ended.code, readdirSync(join(place.folder, 'data'))]).toEqual([code, []])
})

test('a list that was read before its database is made has its mistakes once, and what is sound runs', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('good.csv', 'query\na\n')
  await place.file('bad.yaml', 'querys: [a]\n')

  const { code, stderr } = await place.call(['run', '--skip-bad', 'good.csv', 'bad.yaml'])

  expect([code, stderr.split("unknown key 'querys'").length]).toEqual([2, 2])
  expect(place.sql('SELECT job, finish_reason FROM runs')).toEqual([
    { job: 'good', finish_reason: 'completed' },
  ])
})
