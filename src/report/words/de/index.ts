import type { Words } from '../en/index.ts'
import { documents } from './documents.ts'
import { counts, formats, kinds } from './figures.ts'
import { metrics } from './metrics.ts'
import { page } from './page.ts'
import { story } from './story.ts'

/** Reports in German. */
export const german: Words = {
  language: 'de',
  ...formats,
  ...page,
  ...documents,
  ...metrics,
  counts,
  kinds,
  story,
}
