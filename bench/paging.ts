import { backtest, type PolicyOutcome } from '../src/run/backtest.ts'
import { grouped, print } from './print.ts'
import { simulatedHistory } from './simulated-history.ts'

/**
 * What the paging policies cost and miss over a simulated year. Prints the tables of docs/paging.md.
 *
 * Arguments: keywords [500], days [365].
 */

const keywords = Number(process.argv[2] ?? 500)
const days = Number(process.argv[3] ?? 365)
const depth = 100

for (const [shape, title] of [
  ['even', 'Ten results on every page'],
  ['short', 'Six to ten results on a page'],
  ['overlap', 'Pages that repeat a quarter of the results before'],
] as const) {
  const history = simulatedHistory({ keywords, days, pages: depth / 10, shape })
  const { outcomes, looks } = backtest(history, { until: 'own', deepEveryMs: 7 * 86_400_000 })
  print(`${title}: ${keywords} keywords, ${days} days, depth ${depth}, ${looks} looks\n`)
  print(tableOf(outcomes))
}

function tableOf(outcomes: readonly PolicyOutcome[]): string {
  const all = outcomes.find(({ policy }) => policy === 'all')?.pages ?? 0
  const head =
    '| policy | pages | of `all` | ranked | missed | estimated | wrong | top 10 changes | of these missed |'
  const rows = outcomes.map(
    (one) =>
      `| \`${one.policy}\` | ${grouped(one.pages)} | ${percent(one.pages / all)} | ${one.ranked} | ${one.missed} | ${one.estimated} | ${one.wrong} | ${one.topChanges} | ${one.topChangesMissed} |`,
  )
  return [head, '| --- | --: | --: | --: | --: | --: | --: | --: | --: |', ...rows, ''].join('\n')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
