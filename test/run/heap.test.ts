import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

/** Writes at the end how many MB V8 held for new objects, of which it uses a half. */
const telling = `import{getHeapSpaceStatistics}from'node:v8';process.on('exit',()=>process.stderr.write('held '+
  getHeapSpaceStatistics().find(({space_name})=>space_name==='new_space').space_size/2**20+'\\n'))`

test.each([
  ['a large list is', 1, 40_000],
  ['many short ones are', 100, 400],
])('while %s read, the room for new objects stops growing at 8 MB', async (_, lists, queries) => {
  await using plans = await stage()
  const { place } = plans
  const files = Array.from({ length: lists }, (_, index) => `list-${index}.csv`)
  for (const file of files) await place.file(file, queriesCsv(queries))
  const { stdout, stderr } = await place.run(['plan', ...files, '--operation', 'alpha.search'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(telling)}`,
  })
  expect(stdout).toContain(queries.toLocaleString('en'))
  expect(Number(/held (\d+)/.exec(stderr)?.[1])).toBe(16)
})
