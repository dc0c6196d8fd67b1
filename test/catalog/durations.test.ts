import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationSeconds } from '../../src/catalog/answers.ts'
import { testTable } from '../support/test-table.ts'

const read =
  '0:09=9 0:00=0 00:09=9 12:34=754 59:59=3599 61:00=3660 100:00=6000 1:02:03=3723 1:2:03=3723 ' +
  '01:02:03=3723 0:01:00=60 23:59:59=86_399 100:00:01=360_001 PT1M=60 PT1H2M3S=3723 PT45S=45 pt45s=45 ' +
  'P1DT2H=93_600 P2D=172_800 PT90M=5400 PT0S=0 １:３０=90 １２：３４=754 ١٢:٣٤=754 ۱:۰۲:۰۳=3723 १२:३४=754'

const unread =
  '1:60 1:60:00 1:00:60 1:2:3 1:2 1:234 :30 30 1: 1::30 1:02:03:04 -1:30 1.5:30 1:30.5 P PT P1DT P1Y ' +
  'P1M P1W PT1M2H PT1.5S -PT45S PT45 LIVE 1²:34'

testTable<[string | null, number | null]>([
  ...read
    .split(' ')
    .map((row) => row.split('=') as [string, string])
    .map(([text, seconds]): [string, number] => [text, Number(seconds.replaceAll('_', ''))]),
  ...unread.split(' ').map((text): [string, null] => [text, null]),
  [' 12:34 ', 754],
  ['\u00a012:34', 754],
  ['12:34 min', null],
  ['2h 3m', null],
  ['\u200f12:34', 754],
  ['\u202f12:34\u00a0', 754],
  [`${'9'.repeat(400)}:00`, null],
  ['', null],
  [null, null],
])('%o has %o seconds', (duration, seconds) => {
  expect(durationSeconds(duration)).toBe(seconds)
})

test('any length that is written in one of the three forms is read back', () => {
  const two = (value: number) => String(value).padStart(2, '0')
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), (length) => {
      const [hours, minutes, seconds] = [Math.floor(length / 3600), Math.floor(length / 60), length % 60]
      expect(durationSeconds(`${hours}:${two(minutes % 60)}:${two(seconds)}`)).toBe(length)
      expect(durationSeconds(`${minutes}:${two(seconds)}`)).toBe(length)
      expect(durationSeconds(`PT${hours}H${minutes % 60}M${seconds}S`)).toBe(length)
    }),
  )
})

test('whatever is written, seconds are a whole number or none', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9:]{0,40}$/), (duration) => {
      const seconds = durationSeconds(duration)
      expect(seconds === null || (Number.isSafeInteger(seconds) && seconds >= 0)).toBe(true)
    }),
  )
})
