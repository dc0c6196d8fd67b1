import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Workspace, workspace } from '../support/rankline.ts'

let place: Workspace
beforeAll(async () => {
  place = await workspace()
  await place.file('volumes.csv', 'keyword,volume\ndesk,1000\n')
  await place.file('period.csv', 'query,clicks,impressions,position\ndesk,1,10,2\n')
})
afterAll(() => place[Symbol.asyncDispose]())

const volumes = ['volumes', 'add', 'volumes.csv']
const clicks = ['clicks', 'add', 'period.csv', '--site', 'acme.com']

test.each([
  [[...volumes, '--country', 'xx'], "--country cannot be 'xx'"],
  [[...volumes, '--country', 'us', '--date', '2999-12-31'], '--date cannot be'],
  [[...volumes, '--country', 'us', '--date', '2098-12-31'], '--date 2098-12-31 is in the future'],
  [[...clicks, '--from', '2026-08-01', '--until', '2098-12-31'], '--until 2098-12-31 is in the future'],
])('%j ends in one sentence', async (args, sentence) => {
  const { code, stderr } = await place.call(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})

test('what was added for a wrong period or site says how to correct that', async () => {
  const added = await place.call([...clicks, '--from', '2025-08-01', '--until', '2025-08-31'])
  expect([added.code, added.stderr]).toEqual([0, ''])
  const undo =
    'sc-domain:acme.com, 2025-08-01 to 2025-08-31. To add it for other days or another site, undo that first: rankline clicks undo 1'
  for (const args of [
    [...clicks, '--from', '2026-08-01', '--until', '2026-08-31'],
    [...clicks.slice(0, -1), 'other.com', '--from', '2025-08-01', '--until', '2025-08-31'],
  ]) {
    const { code, stderr } = await place.call(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(undo)])
  }
  const again = await place.call([...clicks, '--from', '2025-08-01', '--until', '2025-08-31'])
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('This was added before, as 1')])
})
