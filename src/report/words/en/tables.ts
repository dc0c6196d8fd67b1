import { counted, formats } from './formats.ts'

/** Tables, and what can be done with each. */
export const tables = {
  tools: (label: string) => `Take away: ${label}`,
  copy: 'Copy',
  copyHint: 'Copy all rows for a spreadsheet',
  csv: 'CSV',
  csvHint: 'Save all rows as a CSV file',
  copied: (rows: number) => `${counted(rows, 'row')} copied`,
  notCopied: 'The browser does not allow copying here',
  saved: (file: string) => `Saved as ${file}`,
  more: (next: number, all: number) => `${formats.number(next)} more of ${counted(all, 'row')}`,
  printed: (first: number, all: number) =>
    `The first ${formats.number(first)} of ${counted(all, 'row')}. A CSV file of the page has them all.`,
}
