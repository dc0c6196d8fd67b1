import { expect } from 'vitest'
import { weekly } from '../../src/schedule/slots.ts'
import { testTable } from '../support/test-table.ts'

testTable([
  ['mon 08:00', '0 8 * * 1'],
  ['Mon 8:05', '5 8 * * 1'],
  ['thu,mon 23:59', '59 23 * * 1,4'],
  ['sat , sun,sat 00:00', '0 0 * * 0,6'],
  ['day 07:30', '30 7 * * *'],
])('%s is %s', (text, cron) => {
  expect(weekly(text)).toEqual({ value: cron })
})

testTable(
  [
    ...['', 'mon', '08:00', 'mon 8', 'monday 08:00', 'day,mon 08:00', 'mon 24:00', 'mon 08:60'],
    ...['mon 08:00:00', 'mon-fri 08:00', 'mon, 08:00'],
  ].map((text) => [text]),
)('%j is no time of a week', (text) => {
  expect(weekly(text)).toEqual({
    message: expect.stringContaining('cannot be'),
    fix: expect.stringContaining('write '),
  })
})
