import type { Words } from '../en/index.ts'
import { brand } from './brand.ts'
import { charts } from './charts.ts'
import { counts } from './counts.ts'
import { email } from './email.ts'
import { formats } from './formats.ts'
import { engineOfKind, kinds } from './kinds.ts'
import { period } from './period.ts'
import { tables } from './tables.ts'

/** Reports in German. */
export const german: Words = {
  language: 'de',
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
