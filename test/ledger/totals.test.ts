import { describe, expect, test } from 'vitest'
import { billed, lost, read, verified } from './build.ts'

describe('what is not compared', () => {
  test('calls before the first reading and after the last', () => {
    const charges = [billed(1, 2, 3), lost(2, 3), billed(11, 12), billed(21, 22, 3), lost(23, null)]
    const { total, unverified } = verified([read(10, 5), read(20, 6)], charges)
    expect(total).toEqual({ from: 10, until: 20, used: 1, billed: 1 })
    expect(unverified).toEqual({ before: 4, after: 4 })
  })

  test('calls after the last reading that none of them straddles', () => {
    const charges = [billed(1, 2), billed(11, 21, 3)]
    const { spans, unverified } = verified([read(0, 0), read(10, 1), read(20, 2)], charges)
    expect(spans).toHaveLength(1)
    expect(unverified).toEqual({ before: 0, after: 3 })
  })

  test.each([
    ['without readings', [], 4],
    ['with readings only while a call was in the air', [read(1.5, 5), read(2.5, 6)], 4],
  ])('all calls, %s', (_, readings, after) => {
    const { spans, total, unverified } = verified(readings, [billed(1, 2), lost(1.2, 3, 3)])
    expect({ spans, total, unverified }).toEqual({ spans: [], total: null, unverified: { before: 0, after } })
  })

  test('all calls, with one reading', () => {
    const { total, unverified } = verified([read(10, 5)], [billed(1, 2), billed(11, 12, 3)])
    expect({ total, unverified }).toEqual({ total: null, unverified: { before: 1, after: 3 } })
  })

  test('nothing, where there is nothing', () => {
    expect(verified([], [])).toEqual({ spans: [], total: null, unverified: { before: 0, after: 0 } })
  })
})

describe('in all', () => {
  test('everything is added up, but for spans of which the count is not known', () => {
    const readings = [read(0, 100), read(200, 103), read(400, 0), read(600, 9)]
    const charges = [billed(1, 2), lost(3, 4, 3), billed(201, 202, 50), lost(203, 204), billed(401, 402, 2)]
    expect(verified(readings, charges).total).toEqual({
      from: 0,
      until: 600,
      used: 12,
      billed: 3,
      ambiguous: 3,
      ambiguousBilled: 2,
      spentByOthers: 7,
    })
  })

  test('is null where the count is not known of any span', () => {
    expect(verified([read(0, 100), read(10, 2)], [billed(1, 2)]).total).toBeNull()
  })

  test('what others spent does not become ours because a call of another span was lost', () => {
    const readings = [read(0, 0), read(300, 0), read(600, 2)]
    const { total } = verified(readings, [lost(1, 2, 2)])
    expect(total).toEqual({ from: 0, until: 600, used: 2, ambiguous: 2, spentByOthers: 2 })
  })

  test('what is counted late is made good by a later span', () => {
    const readings = [read(0, 0), read(10, 1), read(20, 1), read(30, 3)]
    const { spans, total } = verified(readings, [billed(1, 2, 3)])
    expect(spans[0]).toMatchObject({ notCounted: 2 })
    expect(total).toEqual({ from: 0, until: 30, used: 3, billed: 3 })
  })

  test('and that first by what others seem to have spent, then by what was lost meanwhile', () => {
    const readings = [read(0, 0), read(10, 1), read(20, 5)]
    const { spans, total } = verified(readings, [billed(1, 2, 4), lost(11, 12, 3)])
    expect(spans[1]).toMatchObject({ ambiguousBilled: 3, spentByOthers: 1 })
    expect(total).toEqual({ from: 0, until: 20, used: 5, billed: 4, ambiguous: 3, ambiguousBilled: 1 })
  })

  test('what others spent before does not make good what is not counted', () => {
    const readings = [read(0, 0), read(10, 5), read(20, 5)]
    const { total } = verified(readings, [billed(11, 12, 3)])
    expect(total).toEqual({ from: 0, until: 20, used: 5, billed: 3, spentByOthers: 5, notCounted: 3 })
  })
})
