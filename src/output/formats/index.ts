import type { WriteRows } from './format.ts'

/** Every format of rows by its name in `--format`; the first one is the default. A new format is a function in `format`, or a file where it loads much, and a line here. */
export const rowFormats = {
  csv: { extensions: ['.csv'], load: async () => (await import('./csv.ts')).writeCsv },
  jsonl: {
    extensions: ['.jsonl', '.ndjson'],
    load: async () => (await import('./format.ts')).writeJsonLines,
  },
  json: { extensions: ['.json'], load: async () => (await import('./format.ts')).writeJson },
  parquet: {
    extensions: ['.parquet'],
    binary: true,
    load: async () => (await import('./parquet.ts')).writeParquet,
  },
  xlsx: { extensions: ['.xlsx'], binary: true, load: async () => (await import('../xlsx.ts')).writeXlsx },
} as const satisfies Record<
  string,
  {
    /** File extensions of the format. */
    readonly extensions: readonly string[]
    /** Whether a terminal cannot show it. */
    readonly binary?: true
    readonly load: () => Promise<WriteRows>
  }
>
