import type { ReportFormatEntry } from '../report/report.ts'

/** Every format of a report by its name in `--format`; the first one is the default. A new format is a file, and a line here. */
export const reportFormats = {
  table: { extensions: [], load: async () => (await import('../report/formats/table.ts')).tableFormat },
  csv: { extensions: ['.csv'], load: async () => (await import('../report/formats/rows.ts')).csvFormat },
  json: { extensions: ['.json'], load: async () => (await import('../report/formats/rows.ts')).jsonFormat },
  jsonl: {
    extensions: ['.jsonl', '.ndjson'],
    load: async () => (await import('../report/formats/rows.ts')).jsonLinesFormat,
  },
  md: {
    extensions: ['.md', '.markdown'],
    load: async () => (await import('../report/formats/markdown/document.ts')).markdownFormat,
  },
  xlsx: {
    extensions: ['.xlsx'],
    load: async () => (await import('../report/formats/workbook.ts')).workbookFormat,
  },
  html: { extensions: ['.html', '.htm'], load: async () => (await import('../page/html.ts')).pageFormat },
  pdf: { extensions: ['.pdf'], load: async () => (await import('../page/pdf.ts')).pdfFormat },
  email: {
    extensions: ['.eml'],
    load: async () => (await import('../report/formats/email/email.ts')).emailFormat,
  },
} as const satisfies Record<string, ReportFormatEntry>

export type ReportFormatName = keyof typeof reportFormats

/** The formats of the figures without the ranks. */
export const figureFormats: Partial<Record<ReportFormatName, ReportFormatEntry>> = {
  table: { extensions: [], load: async () => (await import('../report/formats/table.ts')).figuresFormat },
  json: {
    extensions: ['.json'],
    load: async () => (await import('../report/formats/figures-json.ts')).figuresJsonFormat,
  },
}
