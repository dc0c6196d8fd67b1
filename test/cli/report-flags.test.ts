import { expect, test } from 'vitest'
import { formatArguments, type ReportFormatName } from '../../src/cli/arguments.ts'
import { chosenReportFormat, rowOrder } from '../../src/cli/commands/report/report.ts'
import type { Terminal } from '../../src/output/terminal.ts'

const screen: Terminal = { write: async () => {}, log: () => {}, status: null, columns: 80, color: false }
const pipe: Terminal = { ...screen, columns: Number.POSITIVE_INFINITY }

test('the table is the form where none is named, JSON where that is asked for', async () => {
  expect(await chosenReportFormat({}, screen)).toBe(await formatArguments.ofReports.table.load())
  expect(await chosenReportFormat({ json: true }, screen)).toBe(await formatArguments.ofReports.json.load())
  expect(rowOrder({})).toBe('query')
})

test.each(Object.keys(formatArguments.ofReports) as ReportFormatName[])(
  '%s goes into a pipe and into a file',
  async (format) => {
    const loaded = await formatArguments.ofReports[format].load()
    expect(await chosenReportFormat({ format }, pipe)).toBe(loaded)
    expect(await chosenReportFormat({ format, out: 'acme' }, screen)).toBe(loaded)
  },
)

test('a workbook is not thrown at a terminal', async () => {
  await expect(chosenReportFormat({ format: 'xlsx' }, screen)).rejects.toThrow(
    'A terminal cannot show xlsx. Name a file with --out, or write into a pipe',
  )
})

test.each([
  [{ format: 'csv', raw: true, sort: 'rank' }],
  [{ format: 'xlsx', ctr: 'x', absent: '101', sort: 'rank' }],
  [{ format: 'md', ctr: 'x', absent: '101', sort: 'rank' }],
  [{ metrics: true, ctr: 'x', absent: '101' }],
  [{ metrics: true, json: true, ctr: 'x', absent: '101' }],
])('flags that have a meaning are taken: %j', async (flags) => {
  await expect(chosenReportFormat(flags, pipe)).resolves.toBeDefined()
})
