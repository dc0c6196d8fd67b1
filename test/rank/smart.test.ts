import { describe, expect, test } from 'vitest'
import { isDormant, type Page, smartPage } from '../../src/rank/paging.ts'
import { donePage, pagesOf } from './build.ts'
import { look, neverSeen } from './looking.ts'

const ten = 'abcdefghij'
/** Pages that were asked for, by their numbers. */
const asked = (pages: Readonly<Record<number, string>>): readonly Page[] =>
  Object.entries(pages).map(([page, text]) =>
    text.startsWith('!')
      ? { ...(pagesOf(text)[0] as Page), page: Number(page) }
      : donePage(Number(page), text),
  )

type Wanted = Parameters<typeof smartPage>[2][number]

const missing = (lastPage: number | null): Wanted => ({ found: false, lastPage, dormant: false })
const found: Wanted = { ...missing(3), found: true }
const dormant: Wanted = { ...missing(3), dormant: true }

describe('the page most worth buying', () => {
  test.each<[string, Readonly<Record<number, string>>, readonly Wanted[], number | 'dormant' | null]>([
    ['is the first one', {}, [missing(4)], 1],
    ['is the first one, though the target is left alone', {}, [dormant], 1],
    ['is that of the last known rank', { 1: ten }, [missing(5)], 5],
    ['is the page before it next', { 1: ten, 5: 'k' }, [missing(5)], 4],
    ['is the page behind it then', { 1: ten, 4: 'l', 5: 'k' }, [missing(5)], 6],
    ['lies further and further out', { 1: ten, 4: 'l', 5: 'k', 6: 'm' }, [missing(5)], 3],
    ['is the next below where nothing is left above', { 1: ten, 2: 'l', 3: 'k', 4: 'm' }, [missing(3)], 5],
    ['is the nearest one that may be asked for', { 1: ten }, [missing(9)], 8],
    ['is the nearest one above the last', { 1: ten, 8: 'k' }, [missing(9)], 7],
    ['is the second where it ranked on the first', { 1: ten }, [missing(1)], 2],
    ['is the next for one that never ranked', { 1: ten, 2: 'k' }, [missing(null)], 3],
    ['is the first hole for one that never ranked', { 1: ten, 2: 'k', 4: 'l' }, [missing(null)], 3],
    ['is near any of several', { 1: ten }, [missing(7), missing(3)], 3],
    ['is then near the other', { 1: ten, 3: 'k' }, [missing(7), missing(3)], 7],
    ['is the higher of those as near', { 1: ten, 3: 'k', 7: 'l' }, [missing(7), missing(3)], 2],
    ['does not lie near one that was found', { 1: ten }, [found, missing(6)], 6],
    ['does not lie near one that is left alone', { 1: ten }, [dormant, missing(6)], 6],
    ['is none for those that are left alone', { 1: ten }, [dormant, dormant], 'dormant'],
    ['is none for those left alone or found', { 1: ten }, [dormant, found], 'dormant'],
    ['follows a short first page, whatever the history', { 1: 'abcdef' }, [missing(5)], 2],
    ['follows short pages until there are ten results', { 1: 'abc', 2: 'def', 3: 'ghi' }, [missing(7)], 4],
    ['counts results once', { 1: 'abcdefg', 2: 'efghi' }, [missing(5)], 3],
    ['follows a short first page for those left alone, too', { 1: 'abcdef' }, [dormant], 2],
    ['is left open where ten came from two', { 1: 'abcdef', 2: 'ghijkl' }, [missing(5)], 5],
    ['is not the first again where it failed', { 1: '!failed' }, [missing(5)], 5],
    ['is none where it failed and all are left alone', { 1: '!failed' }, [dormant], 'dormant'],
    ['lies around a page that failed', { 1: ten, 5: '!failed' }, [missing(5)], 4],
    ['is one that was passed over', { 1: ten, 2: '!passed', 3: 'k' }, [missing(2)], 2],
  ])('%s', (_, pages, wanted, page) => {
    expect(smartPage(asked(pages), 8, wanted)).toBe(page)
  })

  test('is none where every page up to the end was asked for', () => {
    expect(smartPage(asked({ 1: ten, 2: '!failed', 3: 'k' }), 3, [missing(5)])).toBeNull()
    expect(smartPage(asked({ 1: 'ab' }), 1, [missing(5)])).toBeNull()
    expect(smartPage([], 0, [missing(1)])).toBeNull()
  })
})

const day = 86_400_000
const at = (days: number | null): number | null => (days === null ? null : days * day)

describe('a target is left alone below the first results', () => {
  test.each<[string, number | null, number | null, number | null, number, boolean]>([
    // what, last ranked, first seen, last deep look, now, left alone
    ['not while nothing is known of it', null, null, null, 9, false],
    ['not before anybody looked in depth', null, 0, null, 9, false],
    ['not on the day after it was lost', 0, 0, 0, 1, false],
    ['not on the second day', 0, 0, 1, 2, false],
    ['not on the third day', 0, 0, 2, 3, false],
    ['on the fourth, a day after the last look', 0, 0, 3, 4, true],
    ['not on the fifth, two days after it', 0, 0, 3, 5, false],
    ['for three days of eight', 0, 0, 5, 8, true],
    ['no longer than for half the time that it was not found', 0, 0, 5, 9, false],
    ['no longer than the longest interval', 0, 0, 93, 100, false],
    ['within the longest interval', 0, 0, 94, 100, true],
    ['counted from the first look where it never ranked', null, 0, 3, 4, true],
    ['and looked for again by then', null, 0, 3, 5, false],
    ['though the hour of a daily job wanders', 0, 0, 93, 99.6, false],
    ['not by more than half a day', 0, 0, 93, 99.4, true],
    ['for some hours of the first day', 0, 0, 0.8, 1, true],
    ['and looked for again on it', 0, 0, 0.7, 1, false],
    ['not where it ranked since', 99, 0, 90, 100, false],
  ])('%s', (_, lastRankedAt, firstAt, lastDeepAt, now, expected) => {
    const seen = {
      ...neverSeen,
      lastRankedAt: at(lastRankedAt),
      firstAt: at(firstAt),
      lastDeepAt: at(lastDeepAt),
    }
    expect(isDormant(seen, now * day, 7 * day)).toBe(expected)
  })

  test('at intervals that double up to the longest', () => {
    const looks: number[] = []
    let lastDeepAt = 0
    for (let now = 1; now <= 60; now++) {
      if (isDormant({ lastPage: 3, lastRankedAt: 0, firstAt: 0, lastDeepAt }, now * day, 14 * day)) continue
      lastDeepAt = now * day
      looks.push(now)
    }
    expect(looks).toEqual([1, 2, 3, 5, 9, 17, 31, 45, 59])
  })

  test('never where depth is looked at every day', () => {
    expect(
      isDormant({ lastPage: 3, lastRankedAt: 0, firstAt: 0, lastDeepAt: 99 * day }, 100 * day, day),
    ).toBe(false)
  })
})

describe('a look asks for', () => {
  const service = [ten, 'klmnopqrst', 'uvwyz', 'ABCDE', 'FGHIJ', 'KLMNO', 'PQRST']
  const withX = (page: number) => service.map((text, index) => (index === page - 1 ? `x${text}` : text))
  const known = { lastRankedAt: -1, firstAt: -9, lastDeepAt: -9 }

  test.each<[string, readonly string[], number | null, readonly number[], string]>([
    ['the first page alone where it ranks there', withX(1), 1, [1], 'found'],
    ['the page on which it ranks still', withX(5), 5, [1, 5], 'found'],
    ['the page before where it rose', withX(4), 5, [1, 5, 4], 'found'],
    ['the page behind where it fell', withX(6), 5, [1, 5, 4, 6], 'found'],
    ['every page where it is gone', service, 5, [1, 5, 4, 6, 3, 7, 2], 'depth'],
    ['the pages in order where it never ranked', withX(3), null, [1, 2, 3], 'found'],
    ['pages above an end that it met', service.slice(0, 3), 5, [1, 5, 4, 3, 2], 'ended'],
    ['pages above a last page that it met', [ten, 'k', 'l$'], 3, [1, 3, 2], 'ended'],
    ['the first alone where that is the last', [`${ten}$`], 5, [1], 'ended'],
    ['the first alone where that is empty', [], 5, [1], 'ended'],
  ])('%s', (_, pages, lastPage, asked, end) => {
    expect(look(pages, { maxPages: 7, sightings: { ...known, lastPage } })).toMatchObject({ asked, end })
  })
})
