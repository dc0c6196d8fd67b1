import { expect, test } from 'vitest'
import { verify } from '../../src/cli/commands/account/ledger.ts'
import type { Charge, UsageCount } from '../../src/model/call.ts'
import { billed, lost, read } from '../ledger/build.ts'

/** What is printed of one key, with readings and charges that begin on a day of November, and the exit code. */
async function printed(readings: readonly UsageCount[], charges: readonly Charge[]) {
  const start = Date.UTC(2026, 10, 20, 6)
  const record = JSON.stringify({ api_key: { alias: 'shared\u001b[2J' } })
  const store = {
    keysRead: async () => ['0123456789abcdef'],
    lastUsage: async () => ({ record }),
    readings: () =>
      readings.map((one) => ({ ...one, askedAt: start + one.askedAt, readAt: start + one.readAt })),
    charges: () =>
      charges.map((one) => ({
        ...one,
        from: start + one.from,
        until: one.until === null ? null : start + one.until,
      })),
    queueFailovers: async () => [],
  } as Partial<Record<keyof Parameters<typeof verify>[0], unknown>> as Parameters<typeof verify>[0]
  let text = ''
  const terminal = {
    write: async (more: string | Uint8Array) => {
      text += more
    },
    log: (line: string) => {
      text += `(${line})`
    },
    status: null,
    columns: 80,
    color: false,
  }
  const code = await verify(store, false, terminal)
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  return { code, lines: text.replace('shared (key 01234567)', 'KEY').split('\n') }
}

test('where all is billed, one sentence says so', async () => {
  expect(await printed([read(0, 100), read(60, 1_300)], [billed(1, 2, 1_200)])).toEqual({
    code: 0,
    lines: ['KEY', 'The service counted 1,200 credits, and so does this ledger.', ''],
  })
})

test('where not, every part has its line, and every span in which it is not so', async () => {
  const day = 24 * 3_600
  const readings = [
    ...[read(0, 100), read(60, 110), read(600, 5_112), read(day, 5_115)],
    ...[read(day + 60, 5_118), read(day + 600, 5_118)],
  ]
  const charges = [
    ...[lost(-3, -2, 2), billed(1, 2, 10), billed(61, 62, 5_000), lost(63, 64, 3)],
    ...[lost(598, 599), billed(day + 1, day + 2, 7), billed(day + 601, day + 602, 7)],
  ]
  expect(await printed(readings, charges)).toEqual({
    code: 3,
    lines: [
      'KEY',
      'The service counted 5,018 credits:',
      '  5,017 billed here',
      '  3 of 4 ambiguous (it was not known whether they were billed)',
      '  2 spent by others with the same key',
      '  4 in this ledger and not counted (if it is only late, the next run shows it)',
      'Credits not compared: 2 before the first reading, 7 after the last reading.',
      '',
      'from (UTC)        until        counted  billed   ambiguous  others  not counted',
      '2026-11-20 06:01  06:10          5,002   5,000      2 of 4       0            0',
      '2026-11-20 06:10  11-21 06:00        3       0  0 + 1 late       2            0',
      '2026-11-21 06:00  06:01              3       7           0       0            4',
      '',
    ],
  })
})

test('what a later reading did not make good within an hour was given back: it is named, and is no reason for exit 3', async () => {
  const readings = [read(0, 100), read(60, 105), read(3_000, 105)]
  const charges = [billed(1, 2, 12)]
  const late = await printed(readings, charges)
  expect(late.code).toBe(3)
  expect(late.lines).toContain(
    '  7 in this ledger and not counted (if it is only late, the next run shows it)',
  )
  const settled = await printed([...readings, read(3_700, 105)], charges)
  expect(settled.code).toBe(0)
  expect(settled.lines.slice(1, 4)).toEqual([
    'The service counted 5 credits:',
    '  12 billed here',
    '  7 in this ledger that the service gave back, or never counted',
  ])
  // One of the seven comes late, and the rest of them was given back.
  const partly = await printed([...readings, read(3_700, 106)], charges)
  expect(partly).toMatchObject({ code: 0 })
  expect(partly.lines).toContain('  6 in this ledger that the service gave back, or never counted')
})

test('where the count is not known of a span, it says why', async () => {
  const readings = [read(0, 100), read(60, 2), read(120, 3)]
  expect(await printed(readings, [billed(1, 2), billed(61, 62)])).toEqual({
    code: 0,
    lines: [
      'KEY',
      'The service counted 1 credit, and so does this ledger.',
      '',
      'from (UTC)        until  counted  billed  ambiguous  others  not counted',
      '2026-11-20 06:00  06:01        -       1          0       0            0',
      '-: The service started its count again, gave credits back, or says no count.',
      '',
    ],
  })
  expect(await printed(readings.slice(0, 2), [])).toEqual({
    code: 0,
    lines: ['KEY', 'The service started its count again, gave credits back, or says no count.', ''],
  })
})

test('where nothing can be compared, it says what would have to be', async () => {
  expect(await printed([read(0, 100)], [billed(1, 2)])).toEqual({
    code: 0,
    lines: [
      'KEY',
      'There are no two readings of the usage record to compare yet.',
      'Credits not compared: 1 after the last reading.',
      '',
    ],
  })
})
