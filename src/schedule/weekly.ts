import { quoted, type ReadResult } from '../model/values.ts'

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fix = 'write weekdays and a time such as "mon 08:00" or "mon,thu 08:00", or "day 08:00"'

/** Reads weekdays, or `day`, and a time of the day, such as `mon 08:00`; answers the cron pattern. */
export function weekly(text: string): ReadResult<string> {
  const [, days = '', hour = '', minute = ''] =
    text
      .trim()
      .toLowerCase()
      .match(/^([a-z]+(?: *, *[a-z]+)*) +(\d{1,2}):(\d{2})$/) ?? []
  const named = days.split(/ *, */)
  const numbers = named.map((day) => weekdays.indexOf(day))
  const isDaily = days === 'day'
  if (!isDaily && numbers.includes(-1)) return { message: `cannot be ${quoted(text)}`, fix }
  if (Number(hour) > 23 || Number(minute) > 59)
    return { message: `cannot be ${quoted(text)}`, fix: 'write a time from 00:00 to 23:59' }
  const onDays = isDaily ? '*' : [...new Set(numbers)].sort().join(',')
  return { value: `${Number(minute)} ${Number(hour)} * * ${onDays}` }
}
