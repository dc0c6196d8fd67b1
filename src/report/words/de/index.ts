import type { Words } from '../en/index.ts'
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

/** Reports in German. */
export const german: Words = {
  language: 'de',
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
