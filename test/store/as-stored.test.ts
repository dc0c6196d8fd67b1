import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import { scoreQuery } from '../../src/rank/paging.ts'
import { services } from '../rank/looking.ts'
import { aTarget } from '../run/build.ts'
import { answer, fail, webPage } from './answers.ts'
import { aStore, hour, lease, noon, plan } from './build.ts'

const targets = [aTarget('x.example'), aTarget('a.example', { own: false })]
const paging = fc.constantFrom<JobSettings['paging']>('all', 'until-found', 'smart')
const failures = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 })
/** A try: what fails in it, how, and after how many pages the process is gone. */
const aTry = fc.record({
  failures,
  how: fc.constantFrom('rejected' as const, 'server-error' as const),
  pages: fc.integer({ min: 1, max: 8 }),
})
const days = fc.array(
  fc.record({ service: services, paging, tries: fc.array(aTry, { minLength: 1, maxLength: 3 }) }),
  {
    minLength: 1,
    maxLength: 3,
  },
)

test('what was observed page by page is what all that is stored comes to, at any time', async () => {
  const temp = await aStore()
  let example = 0
  const observed = (run: number) =>
    temp.sql('SELECT * FROM observations WHERE run_id = ? ORDER BY target_id', run)
  await fc.assert(
    fc.asyncProperty(days, async (history) => {
      example += 1
      for (const [index, { service, paging, tries }] of history.entries()) {
        const now = noon + index * 24 * hour
        const name = `job ${example}`
        const queries = [{ text: name, pages: 6 }]
        const run = await plan(temp.store, { job: { name, targets, paging }, queries, now })
        for (const { failures, how, pages } of tries) {
          for (let n = 0; n < pages; n++) {
            const [task] = await lease(temp.store, run.id, { limit: 1 })
            if (task === undefined) break
            const text = service[task.page - 1] ?? ''
            const says = webPage(text.replace('$', ''), text.endsWith('$') ? { hasNextPage: false } : {})
            if (failures.includes(task.page)) await fail(temp.store, task, run, how)
            else await answer(temp.store, task, run, says, now)
            const before = observed(run.id)
            const { changed } = await temp.store.rederive(task.queryId, [], (query) => scoreQuery(query))
            expect(observed(run.id)).toEqual(before)
            expect(changed).toBe(0)
          }
          await temp.store.retryFailed(run.id)
        }
      }
    }),
    { numRuns: 12 },
  )
})
