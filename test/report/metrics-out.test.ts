import { describe, expect, test } from 'vitest'
import { definitionOf } from '../../src/report/definitions.ts'
import type { Measure } from '../../src/report/headline.ts'
import { metrics } from '../../src/report/metrics/index.ts'
import { metricsJson, metricsText } from '../../src/report/metrics-out.ts'
import { summarise } from '../../src/report/summary.ts'
import { summaryDocument } from '../../src/report/summary-document.ts'
import { summaryText } from '../../src/report/summary-text.ts'
import { smallRankings, wholeReport } from './whole.ts'

const { history, measure } = wholeReport(smallRankings)
const look = { width: 100, color: false }
const summaryBy = (absent: Measure['absent']) => summarise(history, { ...measure, absent: absent ?? 'depth' })

/** The figure of the first target, as the document has it. */
function averageBy(absent: NonNullable<Measure['absent']>) {
  const document: ReturnType<typeof summaryDocument> = JSON.parse(
    metricsJson(summaryBy(absent), { ...measure, absent }),
  )
  const rival = document.targets.find(({ target }) => target === 'Rival')
  return rival?.figures.find(({ metric }) => metric === 'average_position')
}

describe('figures', () => {
  test('as they usually are say nothing more than the summary', () => {
    const summary = summaryBy('depth')
    expect(metricsText(summary, measure, look)).toBe(summaryText(summary, look))
    expect(JSON.parse(metricsJson(summary, measure))).toEqual(
      JSON.parse(JSON.stringify(summaryDocument(summary))),
    )
  })

  test.each([
    ['left out', 'Here absent is left out; average position: by ranked keywords.'],
    [101, 'Here absent counts as 101; average position: by observed keywords.'],
  ] as const)('with absent as %j say so', (absent, words) => {
    expect(metricsText(summaryBy(absent), { ...measure, absent }, look).split('\n')).toContain(words)
  })

  test('for programs are defined as they were measured', () => {
    expect(averageBy('depth')).toMatchObject({ value: 31, definition: metrics.average_position.definition })
    expect(averageBy(101)).toMatchObject({
      value: 101,
      definition: 'mean of the ranks; absent counts as 101',
      divided_by: 'observed keywords',
    })
    expect(averageBy('left out')).toMatchObject({ value: null, divided_by: 'ranked keywords' })
  })

  test('of a job without targets are nothing', () => {
    const none = { ...history, series: [] }
    expect(metricsText(summarise(none, measure), { ...measure, absent: 101 }, look)).toBe('')
  })
})

test('no definition but that of average positions depends on what absent counts as', () => {
  for (const name of Object.keys(metrics) as (keyof typeof metrics)[])
    if (name !== 'average_position') expect(definitionOf(name, { absent: 101 })).toBe(metrics[name])
})
