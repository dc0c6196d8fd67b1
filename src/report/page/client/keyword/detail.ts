import type { Standing } from '../../../cohort.ts'
import { bestRank } from '../../../metrics/best-rank.ts'
import { h } from '../dom.ts'
import { mediumDay, number } from '../format.ts'
import { linkTo } from '../link.ts'
import { changeMark, rankMark } from '../movement-text.ts'
import type { View } from '../view.ts'
import { historyChart } from './history-chart.ts'
import { askedOf } from './keyword-text.ts'
import { firstTen } from './top-ten.ts'
import { urlHistory } from './url-history.ts'

/** Everything about one keyword: figures, history, pages and the first ten results. */
export function keywordDetail(view: View, standing: Standing): HTMLElement {
  const { keyword, series } = standing
  const rivals = view.everyone().filter((one) => one.series.keyword === series.keyword)
  const labels = Object.entries(keyword.labels).map(([name, value]) => `${name}: ${value}`)
  return h(
    'div',
    { class: 'detail' },
    h(
      'p',
      { class: 'asked' },
      h('span', { class: 'code' }, askedOf(keyword)),
      ...[...keyword.tags, ...labels].map((one) => h('bdi', { class: 'tag' }, one)),
    ),
    facts(view, standing),
    h('h3', {}, 'Rank over time'),
    historyChart(view, standing, rivals),
    h('h3', {}, 'Pages that ranked'),
    urlHistory(view, standing),
    h('h3', {}, 'First ten results'),
    firstTen(view, standing),
  )
}

function facts(
  { history, target }: View,
  { current, baseline, change, series, keyword }: Standing,
): HTMLElement {
  const { days } = history
  const best = bestRank(series.cells)
  const first = series.cells.findIndex((cell) => cell !== null)
  const about = (day: number | undefined): string => (day === undefined ? '' : mediumDay(days[day] as string))
  return h(
    'dl',
    { class: 'facts' },
    fact(target.label, rankMark(current), about(days.length - 1)),
    fact(
      'Change',
      changeMark(change),
      baseline === null ? 'nothing to compare with' : `since ${about(baseline.day)}`,
      baseline === null ? null : h('span', {}, 'from ', rankMark(baseline.value)),
    ),
    fact('Best', best === null ? '–' : number(best.rank), best === null ? 'never ranked' : about(best.day)),
    ...(keyword.volume === null ? [] : [fact('Volume', number(keyword.volume), 'searches a month')]),
    fact('First observed', h('span', { class: 'small' }, first === -1 ? '–' : about(first)), ''),
    ...(keyword.url === null
      ? []
      : [
          h(
            'div',
            { class: 'long' },
            h('dt', {}, 'Intended page'),
            h('dd', { class: 'small' }, linkTo(keyword.url)),
          ),
        ]),
  )
}

function fact(term: string, value: Node | string, ...notes: readonly (Node | string | null)[]): HTMLElement {
  const said = notes.filter((note) => note !== null && note !== '')
  return h(
    'div',
    {},
    h('dt', {}, h('bdi', {}, term)),
    h('dd', {}, value),
    ...said.map((note) => h('dd', { class: 'about' }, note)),
  )
}
