import { answers } from './answers.ts'
import { brand } from './brand.ts'
import { charts } from './charts.ts'
import { competitors } from './competitors.ts'
import { counts, engineOfKind, kinds } from './counts.ts'
import { definitions, runs } from './definitions.ts'
import { email } from './email.ts'
import { filters } from './filters.ts'
import { findings, nextActions, overview } from './findings.ts'
import { formats } from './formats.ts'
import { header, period } from './header.ts'
import { keyword } from './keyword.ts'
import { metric, ranks } from './metrics.ts'
import { pages } from './pages.ts'
import { portfolio } from './portfolio.ts'
import { serps } from './serps.ts'
import { keywords, scorecards, tables } from './tables.ts'

/** Reports in English. A part of the report has a file; other languages have the same files. */
export const english = {
  language: 'en' as string,
  ...formats,
  answers,
  brand,
  charts,
  competitors,
  counts,
  definitions,
  findings,
  nextActions,
  overview,
  email,
  filters,
  header,
  engineOfKind,
  keyword,
  keywords,
  kinds,
  metric,
  pages,
  period,
  portfolio,
  ranks,
  runs,
  scorecards,
  serps,
  tables,
}

/** All words of a report, and how it writes numbers and days. What English says, every language says. */
export type Words = typeof english
