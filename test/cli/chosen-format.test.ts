import { describe, expect, test } from 'vitest'
import { formatArguments } from '../../src/cli/arguments.ts'
import { chosenReportFormat } from '../../src/cli/commands/report/report.ts'
import { UsageError } from '../../src/model/errors.ts'
import { rowFormats } from '../../src/output/formats/index.ts'
import { testTable } from '../support/test-table.ts'

const report = Object.keys(formatArguments.ofReports)
const exportFormats = Object.keys(rowFormats)

describe('the format of a file', () => {
  testTable<[string, readonly string[], string]>([
    ['r.xlsx', report, 'xlsx'],
    ['r.XLSX', exportFormats, 'xlsx'],
    ['r.csv', report, 'csv'],
    ['r.json', report, 'json'],
    ['r.jsonl', report, 'jsonl'],
    ['r.ndjson', exportFormats, 'jsonl'],
    ['r.md', report, 'md'],
    ['r.html', report, 'html'],
    ['r.parquet', exportFormats, 'parquet'],
    ['out/r', report, 'table'],
    ['r.txt', report, 'table'],
    ['r.2026', exportFormats, 'csv'],
    ['.csv', exportFormats, 'csv'],
  ])('is that of its extension: %s', (out, known, format) => {
    expect(formatArguments.chosen({ out }, known)).toBe(format)
  })

  testTable([
    [{ out: 'r.out', format: 'xlsx' }, 'xlsx'],
    [{ out: 'r.xlsx', format: 'xlsx' }, 'xlsx'],
    [{ out: 'r.json', json: true }, 'json'],
    [{ out: 'r.txt', json: true }, 'json'],
    [{ out: 'r.csv.gz', format: 'csv' }, 'csv'],
    [{ excel: true }, 'csv'],
    [{ out: 'r', excel: true }, 'csv'],
    [{ out: 'r.xlsx', excel: true }, 'xlsx'],
  ])('is the one that was asked for: %j', (flags, format) => {
    expect(formatArguments.chosen(flags, report)).toBe(format)
  })

  testTable([
    [
      { out: 'r.xlsx', format: 'csv' },
      '--format csv and --out r.xlsx ask for two formats. Leave out --format, or name a file that ends in .csv',
    ],
    [
      { out: 'r.csv', json: true },
      '--json and --out r.csv ask for two formats. Leave out --json, or name a file that ends in .json',
    ],
    [
      { out: 'r.parquet' },
      '--out r.parquet asks for parquet, which this command does not write; name a file that ends in .txt, .csv, .json, .jsonl, .md, .xlsx, .html',
    ],
  ])('cannot be two: %j', (flags, sentence) => {
    expect(() => formatArguments.chosen(flags, report)).toThrow(sentence)
  })

  testTable<[string, readonly string[], string]>([
    ['r.doc', report, '--out r.doc ends in .doc, which is not a format that this command writes'],
    ['r.csv.gz', exportFormats, 'ends in .gz'],
    [
      'r.txt',
      exportFormats,
      `name a file that ends in .${exportFormats.join(', .')}, or name the format with --format`,
    ],
    ['r.doc', ['text', 'json'], 'name a file that ends in .txt, .json, or name the format with --json'],
  ])('is not guessed where its extension says none: %s', (out, known, words) => {
    expect(() => formatArguments.chosen({ out }, known)).toThrow(UsageError)
    expect(() => formatArguments.chosen({ out }, known)).toThrow(words)
  })

  test('is that of a whole report, too, and of what is text or JSON', async () => {
    const terminal = { write: async () => {}, log: () => {}, status: null, columns: 80, color: false }
    expect(await chosenReportFormat({ out: 'r.xlsx' }, terminal)).toBe(
      await formatArguments.ofReports.xlsx.load(),
    )
    expect(formatArguments.isJsonAsked({ out: 'diff.json' })).toBe(true)
    expect(formatArguments.isJsonAsked({ out: 'diff.txt' })).toBe(false)
    expect(() => formatArguments.isJsonAsked({ out: 'diff.xlsx' })).toThrow('ends in .txt, .json')
  })
})
