import type { SharedChunks } from '../shared/chunks.ts'
import type { Postgres } from './connection.ts'

export function sharedChunks(_postgres: Postgres): SharedChunks {
  throw new Error('not built')
}
