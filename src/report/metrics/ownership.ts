import type { Citation, PageSerp } from '../data.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { coverageOf, type Figure, figure, type MetricDefinition } from './figure.ts'
import { firstResults } from './serps.ts'

export const firstTenShareMetric: MetricDefinition = {
  label: 'share of the first ten results',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the first ten results that belongs to the site, for each kind of results.',
  formula: 'own results / results, among the first ten',
  denominator: 'results among the first ten of the checked SERPs',
  missing: 'SERP not checked: not counted',
  source: 'own definition',
}

export const citedAnswersMetric: MetricDefinition = {
  label: 'answers that cite',
  unit: 'share',
  better: 'higher',
  definition: 'The share of AI answers that cite the site at least once.',
  formula: 'AI answers that cite the site / checked AI answers',
  denominator: 'checked AI answers',
  missing: 'answer not checked: not counted',
  source: 'own definition',
}

export const citationShareMetric: MetricDefinition = {
  label: 'share of references',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the references of AI answers that leads to the site.',
  formula: 'references to the site / references of the checked AI answers',
  denominator: 'references of the checked AI answers',
  missing: 'answer not checked: not counted',
  source: 'own definition',
}

export const citationIndexMetric: MetricDefinition = {
  label: 'first place among references',
  unit: 'index',
  better: null,
  definition:
    'The mean place of the first reference to the site in each AI answer that cites it, counted from 1.',
  formula: 'mean of (index of the first reference + 1)',
  denominator: 'answers that cite it',
  missing: 'not cited: not counted',
  source: 'own definition',
}

/**
 * The share of a target in each tracked kind of results, by the name of the kind.
 *
 * @param statuses those of the target
 * @param serps those of the last day, one for each keyword at most
 */
export function ownership(statuses: readonly KeywordStatus[], target: number, serps: readonly PageSerp[]) {
  const byKeyword = new Map(serps.filter(({ depth }) => depth > 0).map((serp) => [serp.keyword, serp]))
  const kinds = [...new Set(statuses.map(({ keyword }) => keyword.kind))].sort()
  return kinds.map((kind) => {
    const those = statuses.filter(({ keyword }) => keyword.kind === kind)
    const shown = those.flatMap(({ series }) => byKeyword.get(series.keyword) ?? [])
    return {
      kind,
      /** Keywords that rank results of this kind. */
      coverage: coverageOf(those.map(({ current }) => ({ value: current }))),
      /** Its results by all results among the first ten. Coverage counts SERPs; ranked SERPs have a result of the target. */
      firstTen: shareOfFirstTen(shown, target, those.length),
    }
  })
}

function shareOfFirstTen(serps: readonly PageSerp[], target: number, expected: number): Figure {
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

/**
 * The citations of a target in AI answers. Coverage counts answers; ranked answers cite it.
 *
 * @param citations those of the last day, one for each keyword at most
 * @param expected keywords that are asked for AI answers
 */
export function citationShare(citations: readonly Citation[], target: number, expected: number) {
  const cited = citations.flatMap(({ cited: all }) => {
    const indexes = all.find((one) => one.target === target)?.indexes ?? []
    return indexes.length === 0 ? [] : [indexes]
  })
  const indexes = cited.flat()
  const references = citations.reduce((sum, one) => sum + one.references, 0)
  const coverage = { ranked: cited.length, observed: citations.length, expected }
  return {
    /** Answers that cite it, by all answers. */
    answers: figure(cited.length, citations.length, coverage),
    /** The mean of the indexes of its citations, as the service sent them; null if it is not cited. */
    averageIndex: mean(indexes),
    /** The mean of its lowest index in each answer that cites it; null if it is not cited. */
    averageFirstIndex: mean(cited.map((one) => Math.min(...one))),
    /** Its citations by all references of the answers. */
    citations: figure(indexes.length, references, coverage),
  }
}

function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}
