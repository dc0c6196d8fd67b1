import type { ResultKind } from '../../model/result.ts'
import type { Standing } from '../cohort.ts'
import type { Citation, Serp } from '../page-data.ts'
import { type Coverage, coverageOf, type Figure, figure } from './figure.ts'
import { firstResults } from './serps.ts'

/** What one target has of one kind of results on the last day. */
export interface KindShare {
  readonly kind: ResultKind
  /** Keywords whose results of this kind are ranked. */
  readonly coverage: Coverage
  /** Its results by all results among the first ten. Coverage counts SERPs: ranked are those with a result of it. */
  readonly firstTen: Figure
}

/**
 * What a target owns of each kind of results that is tracked, in the order of their names.
 *
 * @param standings of the target
 * @param serps of the last day, one for each keyword at most
 */
export function ownership(
  standings: readonly Standing[],
  target: number,
  serps: readonly Serp[],
): readonly KindShare[] {
  const byKeyword = new Map(serps.filter(({ depth }) => depth > 0).map((serp) => [serp.keyword, serp]))
  const kinds = [...new Set(standings.map(({ keyword }) => keyword.kind))].sort()
  return kinds.map((kind) => {
    const those = standings.filter(({ keyword }) => keyword.kind === kind)
    const shown = those.flatMap(({ series }) => byKeyword.get(series.keyword) ?? [])
    const coverage = coverageOf(those.map(({ current }) => ({ value: current })))
    return { kind, coverage, firstTen: shareOfFirstTen(shown, target, those.length) }
  })
}

function shareOfFirstTen(serps: readonly Serp[], target: number, expected: number): Figure {
  let [own, all, ranked] = [0, 0, 0]
  for (const serp of serps) {
    const results = firstResults(serp)
    const its = results.filter((result) => result[4].includes(target)).length
    own += its
    all += results.length
    if (its > 0) ranked++
  }
  return figure(own, all, { ranked, observed: serps.length, expected })
}

/** How AI answers cite one target on the last day. */
export interface CitationShare {
  /** Answers that cite it, by answers. */
  readonly answers: Figure
  /** The mean of the indexes of its citations, as the service sent them; null where it is not cited. */
  readonly averageIndex: number | null
  /** The mean of its lowest index in each answer that cites it; null where it is not cited. */
  readonly averageFirstIndex: number | null
  /** Its citations by all references of the answers. */
  readonly citations: Figure
}

/**
 * Where a target is cited in AI answers. Coverage counts answers: ranked are those that cite it.
 *
 * @param citations of the last day, one for each keyword at most
 * @param expected keywords that are asked for AI answers
 */
export function citationShare(
  citations: readonly Citation[],
  target: number,
  expected: number,
): CitationShare {
  const cited = citations.flatMap(({ cited: all }) => {
    const indexes = all.find((one) => one.target === target)?.indexes ?? []
    return indexes.length === 0 ? [] : [indexes]
  })
  const indexes = cited.flat()
  const references = citations.reduce((sum, one) => sum + one.references, 0)
  const coverage = { ranked: cited.length, observed: citations.length, expected }
  return {
    answers: figure(cited.length, citations.length, coverage),
    averageIndex: mean(indexes),
    averageFirstIndex: mean(cited.map((one) => Math.min(...one))),
    citations: figure(indexes.length, references, coverage),
  }
}

function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}
