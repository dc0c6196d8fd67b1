import { describe, expect, test } from 'vitest'
import { summaryDocument } from '../../../src/report/formats/figures-json.ts'
import { summaryText } from '../../../src/report/formats/table.ts'
import { definitionOf, metrics } from '../../../src/report/metrics/definitions.ts'
import type { MetricOptions } from '../../../src/report/metrics/figure.ts'
import { summarise } from '../../../src/report/summary.ts'
import { smallRankings, wholeReport } from '../whole.ts'
import { aPageOf } from './history.ts'

const { history, measure } = wholeReport(smallRankings)
const summaryBy = (more: Pick<MetricOptions, 'absent'>) => summarise(history, { ...measure, ...more })

/** The figure of a target, as the document has it. */
function averageBy(absent: NonNullable<MetricOptions['absent']>) {
  const rival = summaryDocument(summaryBy({ absent }), aPageOf(history)).targets.find(
    ({ target }) => target === 'Rival',
  )
  return rival?.figures.find(({ metric }) => metric === 'average_position')
}

describe('average positions', () => {
  test.each([
    [{}, 'average position: divided by checked keywords.'],
    [{ absent: 'depth' }, 'average position: divided by checked keywords.'],
    [{ absent: 'left out' }, 'average position: divided by ranked keywords, not found is left out.'],
    [{ absent: 101 }, 'average position: divided by checked keywords, not found counts as rank 101.'],
  ] as const)('by %j say once what they are divided by', (more, words) => {
    const text = summaryText(summaryBy(more), { width: Number.POSITIVE_INFINITY, color: false })
    expect(text).toContain(`; ${words}`)
    expect(text.match(/average position: divided by/g)).toHaveLength(1)
  })

  test('for programs are defined as they were measured', () => {
    expect(averageBy('depth')).toMatchObject({ value: 31, definition: metrics.average_position.definition })
    expect(averageBy(101)).toMatchObject({
      value: 101,
      definition: 'The mean rank of the checked keywords; one that was not found counts as rank 101.',
      divided_by: 'checked keywords',
    })
    expect(averageBy('left out')).toMatchObject({ value: null, divided_by: 'ranked keywords' })
  })
})

test('no definition but that of average positions depends on what absent counts as', () => {
  for (const name of Object.keys(metrics) as (keyof typeof metrics)[])
    if (name !== 'average_position') expect(definitionOf(name, { absent: 101 })).toBe(metrics[name])
})
