import type { SharedSpending } from '../shared/spending.ts'
import type { Postgres } from './connection.ts'

export function sharedSpending(_postgres: Postgres): SharedSpending {
  throw new Error('not built')
}
