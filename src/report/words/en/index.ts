import { brand } from './brand.ts'
import { charts } from './charts.ts'
import { counts } from './counts.ts'
import { email } from './email.ts'
import { formats } from './formats.ts'
import { engineOfKind, kinds } from './kinds.ts'
import { period } from './period.ts'
import { tables } from './tables.ts'

/** Reports in English. A part of the report has a file; other languages have the same files. */
export const english = {
  language: 'en' as string,
  ...formats,
  brand,
  charts,
  counts,
  email,
  engineOfKind,
  kinds,
  period,
  tables,
}

/** All words of a report, and how it writes numbers and days. What English says, every language says. */
export type Words = typeof english
