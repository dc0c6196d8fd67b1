import { aTarget } from '../run/build.ts'
import { aStore, lease, plan } from './build.ts'

/** A run of three queries, of which the third costs 3 credits, all let through. */
export async function aRunOfThree() {
  const temp = await aStore()
  const queries = [{ text: 'a' }, { text: 'b' }, { text: 'c', operation: 'alpha.ai' }]
  const run = await plan(temp.store, { job: { targets: [aTarget('x.example')] }, queries })
  const [a, b, c] = await lease(temp.store, run.id)
  if (a === undefined || b === undefined || c === undefined) throw new Error('no task')
  return { ...temp, run, a, b, c }
}
