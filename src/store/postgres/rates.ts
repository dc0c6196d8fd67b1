import type { SharedRates } from '../shared/rates.ts'
import type { Postgres } from './connection.ts'

export function sharedRates(_postgres: Postgres): SharedRates {
  throw new Error('not built')
}
