import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

/** Writes at the end how many MB V8 held for new objects, of which it uses a half. */
const telling = `import{getHeapSpaceStatistics}from'node:v8';process.on('exit',()=>process.stderr.write('held '+
  getHeapSpaceStatistics().find(({space_name})=>space_name==='new_space').space_size/2**20+'\\n'))`

test('while a large list is read, the room for new objects stops growing at 8 MB', async () => {
  await using plans = await stage()
  const { place } = plans
  await place.file('many.csv', queriesCsv(40_000))
  const { stdout, stderr } = await place.run(['plan', 'many.csv', '--operation', 'alpha.search'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(telling)}`,
  })
  expect(stdout).toContain('40,000')
  expect(Number(/held (\d+)/.exec(stderr)?.[1])).toBe(16)
})
