import { expect, test } from 'vitest'
import type { Match, Variant } from '../../src/model/target.ts'
import { explainMatch } from '../../src/rank/explain.ts'
import { matcherOf } from '../../src/rank/match.ts'
import type { Reason } from '../../src/rank/reasons.ts'

export const yes = 'yes'
export const near = 'near'
export const no = 'no'

export type Case = readonly [site: string, link: string, answer: 'yes' | 'near' | 'no', reason: Reason]

/** One test for each row, of the matcher and of what explains it. */
export function table(match: Match, also: readonly Variant[], rows: readonly Case[]): void {
  const rule = [match, ...also].join(' and ')
  test.each(rows)(`%s, ${rule}, %s: %s, %s`, (site, link, answer, reason) => {
    const target = { site, match, also }
    const verdict = explainMatch(target, link)
    expect({ ...verdict, text: '' }).toEqual({
      matches: answer === yes,
      near: answer === near,
      reason,
      text: '',
    })
    expect(matcherOf(target)(link)).toBe(answer === yes)
  })
}
