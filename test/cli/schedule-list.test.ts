import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../support/rankline.ts'

const berlin = 'timezone: Europe/Berlin\nschedule: "30 2 * * *"\nqueries: [a]\n'
const newYork = 'name: ny\ntimezone: America/New_York\nschedule: "0 6 * * 1"\nqueries: [a]\n'

test('slots are listed from files alone, from an instant until another, in the order of time', async () => {
  await using place = await workspace()
  await place.file('berlin.yaml', berlin)
  await place.file('ny.yml', newYork)
  await place.file('rankline.yaml', 'defaults: { params: { gl: us } }\n')
  await place.file('other.yaml', 'queries: [a]\n')
  const range = ['--from', '2026-03-28T01:30:00Z', '--until', '2026-03-30T10:00:01Z']
  const { code, stdout, stderr } = await place.call(['schedule', '--list', '--json', ...range])
  expect([code, stderr]).toEqual([0, ''])
  const slot = (job: string, at: string, local: string, zone: string) => ({ job, at, local, zone })
  expect(JSON.parse(stdout)).toEqual([
    slot('berlin', '2026-03-28T01:30:00.000Z', '2026-03-28T02:30:00+01:00', 'Europe/Berlin'),
    slot('berlin', '2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00+02:00', 'Europe/Berlin'),
    slot('berlin', '2026-03-30T00:30:00.000Z', '2026-03-30T02:30:00+02:00', 'Europe/Berlin'),
    slot('ny', '2026-03-30T10:00:00.000Z', '2026-03-30T06:00:00-04:00', 'America/New_York'),
  ])
  const until = [...range.slice(0, 3), '2026-03-30T10:00:00Z']
  expect((await place.call(['schedule', 'ny.yml', '--list', '--json', ...until])).stdout).toBe('[]\n')
  expect(existsSync(join(place.folder, 'data/rankline.db'))).toBe(false)
})

test('without an end the next five of each job are shown as a table', async () => {
  await using place = await workspace()
  await place.file('berlin.yaml', berlin)
  await place.file('ny.yaml', newYork)
  const { code, stdout } = await place.call(['schedule', '--list'])
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^job +local time +zone +UTC$/)
  expect(
    lines.filter((line) => /^berlin +\d{4}-\d\d-\d\d 0[23]:[03]0 +Europe\/Berlin/.test(line)),
  ).toHaveLength(5)
  expect(lines.filter((line) => /^ny +\d{4}-\d\d-\d\d 06:00 +America\/New_York/.test(line))).toHaveLength(5)
})

test('a pattern of every other minute is listed whole', async () => {
  await using place = await workspace()
  await place.file('often.yaml', 'schedule: "*/2 * * * *"\nqueries: [a]\n')
  const range = ['--from', '2026-01-01', '--until', '2026-02-01']
  const { stdout } = await place.call(['schedule', '--list', '--json', ...range])
  expect(JSON.parse(stdout)).toHaveLength(31 * 24 * 30)
})

test.each([
  [['--list', 'bad.yaml'], /^bad\.yaml:1:11: /, '[]\n'],
  [
    ['--list', 'unscheduled.yaml'],
    /^unscheduled\.yaml: the file does not say when its job runs; write/,
    '[]\n',
  ],
  [['--list', '--from', '2026-02-01', '--until', '2026-01-01'], /--until must be later than --from/, ''],
  [['--list', '--from', 'soon'], /--from cannot be 'soon'; write a day/, ''],
  [['--from', '2026-01-01'], /--from and --until have no meaning without --list/, ''],
  [['--list'], /No YAML file of this folder says when its job runs/, ''],
])('schedule %j is refused with one sentence', async (args, sentence, data) => {
  await using place = await workspace()
  if (args.includes('bad.yaml')) await place.file('bad.yaml', 'schedule: "0 32 * * *"\nqueries: [a]\n')
  await place.file('unscheduled.yaml', 'queries: [a]\n')
  const { code, stdout, stderr } = await place.call(['schedule', ...args, ...(data === '' ? [] : ['--json'])])
  expect([code, stdout]).toEqual([2, data])
  expect(stderr.replace(/^rankline: /, '')).toMatch(sentence)
})
