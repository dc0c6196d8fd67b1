import type { QueueOperations } from '../shared/operations.ts'
import type { Postgres } from './connection.ts'

export function queueOperations(_postgres: Postgres): QueueOperations {
  throw new Error('not built')
}
