import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'

test.each([
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

  const ended = await place.call([...args])

  expect(ended.stderr).toContain(words)
  expect(ended.stderr.split(words)).toHaveLength(2)
  expect([ended.code, readdirSync(join(place.folder, 'data'))]).toEqual([code, []])
})
