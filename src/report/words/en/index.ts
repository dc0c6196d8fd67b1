import { documents } from './documents.ts'
import { counts, formats, kinds } from './figures.ts'
import { metrics } from './metrics.ts'
import { page } from './page.ts'
import { story } from './story.ts'

/** Reports in English. A part of the report has a file; other languages have the same files. */
export const english = {
  language: 'en' as string,
  ...formats,
  ...page,
  ...documents,
  ...metrics,
  counts,
  kinds,
  story,
}

/** All words of a report, and how it writes numbers and days. What English says, every language says. */
export type Words = typeof english
