import type { SharedPlans } from '../shared/plans.ts'
import type { Postgres } from './connection.ts'

export function sharedPlans(_postgres: Postgres): SharedPlans {
  throw new Error('not built')
}
