import QuickLRU from 'quick-lru'
import { expect, test, vi } from 'vitest'
import { aTarget } from '../run/build.ts'
import { webPage, work } from './answers.ts'
import { aStore, noon, plan } from './build.ts'

test('what is remembered of answers goes with the last page of their query', async () => {
  const { store } = await aStore()
  const job = { paging: 'until-found', targets: [aTarget('x.example')] } as const
  const run = await plan(store, { job, queries: [{ pages: 2 }], now: noon })
  const [noted, dropped] = [vi.spyOn(QuickLRU.prototype, 'set'), vi.spyOn(QuickLRU.prototype, 'delete')]
  const remembered = (): number => {
    const left = new Set(noted.mock.calls.map(([key]) => key).filter((key) => typeof key === 'number'))
    for (const [key] of dropped.mock.calls) left.delete(key as number)
    return left.size
  }
  const whenAsked: number[] = []
  await work(
    store,
    run,
    ({ page }) => {
      whenAsked.push(remembered())
      return webPage(page === 1 ? 'ab' : 'cd')
    },
    noon,
  )
  expect([...whenAsked, remembered()]).toEqual([0, 1, 0])
})
