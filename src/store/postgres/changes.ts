import type { SharedChanges } from '../shared/changes.ts'
import type { Postgres } from './connection.ts'

export function sharedChanges(_postgres: Postgres): SharedChanges {
  throw new Error('not built')
}
