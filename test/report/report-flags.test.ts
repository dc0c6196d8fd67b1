import { expect, test } from 'vitest'
import { chosenForm, rowOrder } from '../../src/actions/report-flags.ts'
import { type FormName, forms } from '../../src/actions/report-forms.ts'
import type { Terminal } from '../../src/terminal.ts'

const screen: Terminal = { out: async () => {}, say: () => {}, live: null, columns: 80, color: false }
const pipe: Terminal = { ...screen, columns: Number.POSITIVE_INFINITY }

test('the table is the form where none is named, JSON where that is asked for', () => {
  expect(chosenForm({}, screen)).toBe(forms.table)
  expect(chosenForm({ json: true }, screen)).toBe(forms.json)
  expect(rowOrder({})).toBe('query')
})

test.each(Object.keys(forms) as FormName[])('%s goes into a pipe and into a file', (format) => {
  expect(chosenForm({ format }, pipe)).toBe(forms[format])
  expect(chosenForm({ format, out: 'acme' }, screen)).toBe(forms[format])
})

test('a workbook is not thrown at a terminal', () => {
  expect(() => chosenForm({ format: 'xlsx' }, screen)).toThrow(
    'A terminal cannot show xlsx. Name a file with --out, or write into a pipe',
  )
})

test.each([
  [{ format: 'csv', raw: true, sort: 'rank' }],
  [{ format: 'xlsx', ctr: 'x', absent: '101', sort: 'rank' }],
  [{ format: 'md', ctr: 'x', absent: '101', sort: 'rank' }],
  [{ metrics: true, ctr: 'x', absent: '101' }],
  [{ metrics: true, json: true, ctr: 'x', absent: '101' }],
])('flags that have a meaning are taken: %j', (flags) => {
  expect(() => chosenForm(flags, pipe)).not.toThrow()
})
