import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

/** @param settings of its report */
function jobOf(settings: string): string {
  return `name: acme
operation: alpha.search
params: { gl: us }
targets: [acme.com]
queries: [lamp]
report: { ${settings} }
`
}

/** Days on which the job ran. */
const runs = ['2026-07-23', '2026-10-11', '2026-10-23', '2026-11-13', '2026-11-19', '2026-11-20']
const plain = jobOf('language: en')
const monthly = jobOf('period: month, compare: 7d')

let place: Workspace
beforeAll(async () => {
  await using sandbox = await startSandbox({ sites: ['acme.com'] })
  place = await workspace(sandbox)
  for (const day of runs) {
    await place.file('acme.yaml', day < '2026-11-19' ? plain : monthly)
    expect(await place.call(['run', 'acme.yaml', '--fresh', '--quiet'])).toMatchObject({
      code: 0,
      stderr: '',
    })
    place.change(`UPDATE runs_ SET date = '${day}' WHERE id = (SELECT max(id) FROM runs_)`)
  }
  await place.file('plain.yaml', plain)
  await place.file('month.yaml', monthly)
}, 60_000)
afterAll(() => place[Symbol.asyncDispose]())

async function printed(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.call(['report', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('a document is of a period and says what its last day is compared with', () => {
  testTable<[string, string]>([
    ['', '24 Oct to 20 Nov 2026, compared with 23 October 2026.'],
    ['--period 7d', '14 Nov to 20 Nov 2026, compared with 13 November 2026.'],
    ['--period 7d --compare 1d', '14 Nov to 20 Nov 2026, compared with 19 November 2026.'],
    ['--period all', '24 Jul to 20 Nov 2026, compared with 23 July 2026.'],
    [
      '--period 28d --compare year',
      '24 Oct to 20 Nov 2026, nothing to compare with (asked for: 20 November 2025, ±7 days).',
    ],
    [
      '--period month --compare previous-period',
      '1 Nov to 20 Nov 2026, compared with 23 October 2026 (asked for: 20 October 2026, ±5 days).',
    ],
    [
      '--period month --compare previous-period --tolerance 1d',
      '1 Nov to 20 Nov 2026, nothing to compare with (asked for: 20 October 2026, ±1 day).',
    ],
    [
      '--date 2026-11-19 --period 1d',
      '19 November 2026, nothing to compare with (asked for: 18 November 2026, ±3 days).',
    ],
  ])('%s', async (flags, sentence) => {
    const text = await printed(['plain.yaml', '--format', 'md', ...flags.split(' ').filter(Boolean)])
    expect(text).toContain(`\n\n${sentence} 1 keyword, 1 target;`)
  })

  test('one that is over ends on its last run, as the report of that day does', async () => {
    const october = ['--period', '2026-10-12..2026-10-31']
    const text = await printed(['plain.yaml', '--format', 'md', ...october])
    expect(text).toMatch(/^# Ranks of acme, 2026-10-23\n/)
    expect(text).toContain('\n\n12 Oct to 31 Oct 2026, compared with 11 October 2026.')
    const [row] = JSON.parse(await printed(['plain.yaml', '--json', ...october]))
    expect(row).toMatchObject({ date: '2026-10-23', previous_date: '2026-10-11' })
  })

  test('the terminal and the workbook say it too', async () => {
    expect(await printed(['plain.yaml'])).toContain('24 Oct to 20 Nov 2026, compared with 23 October 2026.\n')
    expect(await printed(['plain.yaml', '--metrics', '--period', '28d'])).toContain('against 2026-10-23')
  })
})

describe('rows and figures for programs compare with the day before, unless a flag says otherwise', () => {
  testTable<[string, string]>([
    ['plain.yaml', '2026-11-19'],
    ['month.yaml', '2026-11-19'],
    ['plain.yaml --period 28d', '2026-10-23'],
    ['plain.yaml --compare 7d', '2026-11-13'],
    ['month.yaml --period 28d --compare 2026-10-11', '2026-10-11'],
  ])('%s', async (args, day) => {
    const [row] = JSON.parse(await printed([...args.split(' '), '--json']))
    expect(row.previous_date).toBe(day)
    const figures = JSON.parse(await printed([...args.split(' '), '--json', '--metrics']))
    expect(figures.compared_with).toEqual([day])
  })
})

test('a job file says of which period its report is; a name alone, what its newest run was asked with', async () => {
  const month = '1 Nov to 20 Nov 2026, compared with 13 November 2026.'
  expect(await printed(['month.yaml'])).toContain(month)
  expect(await printed(['acme'])).toContain(month)
  expect(await printed(['acme', '--period', '7d', '--compare', '1d'])).toContain(
    '14 Nov to 20 Nov 2026, compared with 19 November 2026.',
  )
  expect(await printed(['acme', '--date', '2026-11-13', '--period', '28d'])).toContain(
    '17 Oct to 13 Nov 2026, nothing to compare with (asked for: 6 November 2026, ±3 days).',
  )
})

describe('what cannot be reported is refused in a sentence, with exit code 2', () => {
  testTable<[string, string]>([
    ['--period 2026-11-14..2026-11-18', 'The job acme has no run from 2026-11-14 to 2026-11-18'],
    ['--period 2027-01-01..2027-01-31', 'its runs are from 2026-07-23 to 2026-11-20. Choose another period'],
    ['--date 2026-07-31 --period last-month', 'The job acme has no run from 2026-06-01 to 2026-06-30'],
    [
      '--compare 2026-11-20',
      'A report of 2026-11-20 cannot be compared with 2026-11-20; write an earlier day',
    ],
    [
      '--period 2026-10-01..2026-10-31 --compare 2026-10-23',
      'A report of 2026-10-23 cannot be compared with',
    ],
    [
      '--period 2026-10-31..2026-10-01',
      "--period cannot be '2026-10-31..2026-10-01'; write a period such as",
    ],
  ])('%s', async (flags, words) => {
    const { code, stdout, stderr } = await place.call(['report', 'acme', ...flags.split(' ')])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
