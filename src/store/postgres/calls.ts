import type { SharedCalls } from '../shared/calls.ts'
import type { Postgres } from './connection.ts'

export function sharedCalls(_postgres: Postgres): SharedCalls {
  throw new Error('not built')
}
