import type { Words } from '../en/index.ts'
import { documents } from './documents.ts'
import { counts, definitions, formats, kinds, runs } from './figures.ts'
import { metric, ranks } from './metrics.ts'
import { page } from './page.ts'
import { story } from './story.ts'

/** Reports in German. */
export const german: Words = {
  language: 'de',
  ...formats,
  ...page,
  ...documents,
  counts,
  definitions,
  kinds,
  metric,
  ranks,
  runs,
  story,
}
