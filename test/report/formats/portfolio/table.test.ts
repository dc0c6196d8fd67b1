import { expect, test } from 'vitest'
import { type PortfolioRow, portfolioTable } from '../../../../src/report/formats/portfolio.ts'

const row = (job: string, name: string): PortfolioRow => ({
  ...{ job, name, language: 'en', level: 'ok', problems: [], openAlerts: 0 },
  ...{ lastGood: null, spentThisMonth: 0, file: null, ranks: null },
})

test('clients with the same name are told apart by their jobs', () => {
  const rows = [row('acme-us', 'Acme Inc.'), row('acme-uk', 'Acme Inc.'), row('beta', 'Beta')]
  const lines = portfolioTable(rows, { width: 120 }).split('\n')
  expect(lines.slice(1, 4).map((line) => line.split(/ {2,}/)[0])).toEqual([
    'Acme Inc. (acme-us)',
    'Acme Inc. (acme-uk)',
    'Beta',
  ])
})
