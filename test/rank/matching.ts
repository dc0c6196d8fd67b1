import { expect } from 'vitest'
import type { Match, Variant } from '../../src/model/job.ts'
import { explainMatch, type VerdictReason } from '../../src/rank/explain.ts'
import { matcherOf } from '../../src/rank/match.ts'
import { testTable } from '../support/test-table.ts'

export const yes = 'yes'
export const near = 'near'
export const no = 'no'

export type Case = readonly [site: string, link: string, answer: 'yes' | 'near' | 'no', reason: VerdictReason]

/** One test of the matcher and of what explains it, for all rows; the pattern is a match, with variants behind it. */
export function table(title: string, pattern: string, rows: readonly Case[]): void {
  const [match, ...also] = pattern.split(' ') as [Match, ...Variant[]]
  testTable(rows)(`${title} (${pattern}), %s: %s, %s, %s`, (site, link, answer, reason) => {
    const target = { site, match, also }
    const { matches, near: isNear, reason: said } = explainMatch(target, link)
    expect([matches, isNear, said]).toEqual([answer === yes, answer === near, reason])
    expect(matcherOf(target)(link)).toBe(answer === yes)
  })
}
