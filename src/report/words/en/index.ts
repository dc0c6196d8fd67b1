import { email, markdown, portfolio, unscripted, workbook } from './documents.ts'
import { counts, definitions, formats, kinds, runs } from './figures.ts'
import { metric, ranks } from './metrics.ts'
import {
  blocks,
  brand,
  charts,
  competitors,
  filters,
  header,
  keyword,
  keywords,
  period,
  scorecards,
  serps,
  tables,
} from './page.ts'
import { overview, story } from './story.ts'

/** Reports in English. A part of the report has a file; other languages have the same files. */
export const english = {
  language: 'en' as string,
  ...formats,
  blocks,
  brand,
  charts,
  competitors,
  counts,
  definitions,
  overview,
  email,
  filters,
  header,
  keyword,
  keywords,
  kinds,
  markdown,
  metric,
  period,
  portfolio,
  ranks,
  runs,
  scorecards,
  serps,
  story,
  tables,
  unscripted,
  workbook,
}

/** All words of a report, and how it writes numbers and days. What English says, every language says. */
export type Words = typeof english
