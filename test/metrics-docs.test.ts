import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseCtr } from '../src/report/ctr.ts'
import { summaryDocument } from '../src/report/formats/figures-json.ts'
import { metrics } from '../src/report/metrics/definitions.ts'
import type { MetricDefinition } from '../src/report/metrics/figure.ts'
import { summarise } from '../src/report/summary.ts'
import { aHistory, aPageOf, curve } from './report/metrics/history.ts'

const docs = readFileSync(fileURLToPath(new URL('../docs/metrics.md', import.meta.url)), 'utf8')

const all: readonly (readonly [string, MetricDefinition])[] = Object.entries(metrics)

describe('docs/metrics.md', () => {
  test('defines every metric as reports do', () => {
    const [, table = ''] = docs.match(/<!-- metrics -->\n([\s\S]*?)\n<!-- \/metrics -->/) ?? []
    expect(table.split('\n').slice(2)).toEqual(
      all.map(([name, { label, unit, better, definition, formula, denominator, missing, source }]) =>
        [
          `| \`${name}\``,
          label,
          unit,
          better ?? '',
          definition,
          formula,
          denominator ?? '',
          missing,
          `${source} |`,
        ].join(' | '),
      ),
    )
  })

  test('explains each of them, with an example', () => {
    const sections = docs.split('\n## ')
    const explained = (label: string) =>
      sections.some(
        (one) => one.toLowerCase().startsWith(`${label.toLowerCase()}\n`) && /\nExample.*: /.test(one),
      )
    expect(all.map(([, { label }]) => label).filter((label) => !explained(label))).toEqual([])
  })

  test('names them as the figures in JSON do', () => {
    const history = aHistory([
      { cells: [3, 1], volume: 100 },
      { cells: [1, 2], volume: 100, of: 'rival.com' },
    ])
    const document = summaryDocument(summarise(history, { curve }), aPageOf(history))
    const names = new Set<unknown>()
    JSON.stringify(document, (key, value) => {
      names.add(key === 'metric' ? value : key)
      return value
    })
    expect(all.map(([name]) => name).filter((name) => !names.has(name))).toEqual([])
  })

  test('shows a curve that is one', () => {
    const [, csv = ''] = docs.match(/```csv\n([\s\S]*?)```/) ?? []
    expect(parseCtr(csv, 'docs/metrics.md')).toMatchObject({ name: 'Acme 2026', rates: [0.31, 0.145] })
  })
})
