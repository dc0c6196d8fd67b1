import { type FeatureFigures, featureFigures } from '../../../report/history/features.ts'
import { baselineOrder } from '../../../report/history/keyword-status.ts'
import { trendLine } from '../chart/sparkline.ts'
import { ariaHidden, html, srOnly } from '../dom.ts'
import { longDay, number, percent } from '../format.ts'
import { say } from '../language.ts'
import { figures, type SimpleColumn, simpleTable } from '../table/simple-table.ts'
import { withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { empty, noMatch, note, panel, section } from './section.ts'

/** A line needs as many days. */
const leastDays = 3

/** On how many keywords each feature of result pages is there, now and on the compared day. */
export function serpFeatures(view: View): HTMLElement {
  const words = say.serps.features
  return section({ id: 'features', title: words.title, lead: words.lead }, panel(words.howOften, table(view)))
}

function table({ history, data, compare, shown }: View): HTMLElement {
  const words = say.serps.features
  const { days } = history
  if (history.series.length === 0) return empty(noMatch())
  const rows = featureFigures(data.features, days.length, baselineOrder(days, compare))
  if (rows.length === 0) return empty(words.none)
  const trend: SimpleColumn<FeatureFigures> = {
    title: words.trend,
    class: 'spark-cell',
    cell: ({ shares }) => trendLine(shares.slice(shown.start, shown.end), false),
  }
  return html(
    'div',
    '',
    simpleTable(words.title, rows, [
      {
        title: words.feature,
        cell: ({ feature }) => withTooltip(words.names[feature], [words.meanings[feature]]),
      },
      figures(words.present, ({ there, known }) =>
        known === 0
          ? words.unknown
          : html(
              'span',
              'with-share',
              words.of(there, known),
              html('span', 'about', percent(there / known, 0)),
            ),
      ),
      ...(days.length < 2 ? [] : [figures<FeatureFigures>(words.change, ({ both }) => changeOf(both))]),
      ...(shown.end - shown.start < leastDays ? [] : [trend]),
    ]),
    note(words.basis(longDay(days.at(-1) as string), days.length > 1)),
  )
}

/** So many keywords more or less. Neither is better. */
function changeOf(both: FeatureFigures['both']): HTMLElement {
  if (both === null) return html('span', 'none', ariaHidden('–'), srOnly(say.keyword.nothingBefore))
  const change = both.now - both.before
  return html(
    'span',
    'change still',
    change === 0 ? '=' : `${change > 0 ? '+' : '\u2212'}${number(Math.abs(change))}`,
  )
}
