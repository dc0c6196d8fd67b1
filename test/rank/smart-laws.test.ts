import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { look, services, trueRank } from './looking.ts'

const day = 86_400_000
const maxPages = fc.integer({ min: 1, max: 8 })
const pastDay = fc.option(fc.integer({ min: -40, max: -1 }).map((days) => days * day))
const sightings = fc.record({
  lastPage: fc.option(fc.integer({ min: 1, max: 10 })),
  lastRankedAt: pastDay,
  firstAt: pastDay,
  lastDeepAt: pastDay,
})
const failing = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 3 })
const anyLook = fc.record({ maxPages, sightings, failing })

describe('looking for a target, whatever is remembered of it', () => {
  test('begins with page 1, asks for no page twice and for none behind the last, and ends', () => {
    fc.assert(
      fc.property(services, anyLook, (service, looking) => {
        const { asked } = look(service, looking)
        expect(asked[0]).toBe(1)
        expect(new Set(asked).size).toBe(asked.length)
        expect(Math.max(...asked)).toBeLessThanOrEqual(looking.maxPages)
        // Behind a page that is known to be the last, nothing is asked for.
        for (const [index, page] of asked.entries()) {
          const known = asked
            .slice(0, index)
            .filter((one) => !looking.failing.includes(one))
            .filter((one) => service[one - 1]?.endsWith('$') ?? true)
          expect(page).toBeLessThan(Math.min(...known, 99))
        }
      }),
    )
  })

  test('finds a rank within the first ten, and says it exactly, where nothing fails', () => {
    fc.assert(
      fc.property(services, maxPages, sightings, (service, maxPages, sightings) => {
        const rank = trueRank(service, maxPages)
        fc.pre(rank !== null && rank <= 10)
        const { observed } = look(service, { maxPages, sightings })
        expect(observed).toMatchObject({ state: 'ranked', rank, exactness: 'exact' })
      }),
      { numRuns: 300 },
    )
  })

  test('says exactly only what is so: the rank, or that there is none in the depth without a gap', () => {
    fc.assert(
      fc.property(services, anyLook, (service, looking) => {
        const rank = trueRank(service, looking.maxPages)
        const { observed } = look(service, looking)
        if (observed.exactness !== 'exact') return
        if (observed.state === 'ranked') expect(observed.rank).toBe(rank)
        else expect(rank === null || rank > observed.unbrokenDepth).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('stops only where the target was found, may be left alone, or nothing is left', () => {
    fc.assert(
      fc.property(services, maxPages, sightings, (service, maxPages, sightings) => {
        const { asked, end, observed } = look(service, { maxPages, sightings })
        const rank = trueRank(service, maxPages)
        const isThere = observed.state === 'ranked'
        if (end === 'found') expect(isThere).toBe(true)
        else if (isThere) expect(end).toBe('ended')
        else if (end === 'dormant') expect(rank ?? 99).toBeGreaterThan(10)
        else {
          expect(rank).toBeNull()
          expect(asked.length).toBeGreaterThanOrEqual(Math.min(maxPages, service.length))
          expect(observed).toMatchObject({ state: 'absent', exactness: 'exact', unbrokenPages: maxPages })
        }
      }),
      { numRuns: 500 },
    )
  })

  test('without a history asks for the pages that until-found asks for, and sees the same', () => {
    fc.assert(
      fc.property(services, maxPages, failing, (service, maxPages, failing) => {
        const smart = look(service, { maxPages, failing })
        expect(smart.asked).toEqual(look(service, { maxPages, failing, paging: 'until-found' }).asked)
        expect(smart).toEqual(look(service, { maxPages, failing, paging: 'until-found' }))
      }),
    )
  })
})
