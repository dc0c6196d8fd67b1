import type { Standing } from '../../../cohort.ts'
import { type Mover, winnersAndLosers } from '../../../metrics/winners.ts'
import { h } from '../dom.ts'
import { tellingApart } from '../keyword/keyword-text.ts'
import { explained, meaningOf } from '../metric-text.ts'
import { changeMark, rankMark } from '../movement-text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { empty, panel } from './section.ts'

/** As many as fit beside each other at a glance. */
const most = 6

/** Who won and who lost, by what that is worth in clicks. */
export function movers({ standings, data, history }: View, open: OpenKeyword): HTMLElement {
  const apart = tellingApart(history.keywords)
  const { winners, losers } = winnersAndLosers(standings, data.measure.curve)
  return h(
    'div',
    { class: 'halves' },
    list('Winners', winners, 'No keyword improved or entered.'),
    list('Losers', losers, 'No keyword declined or left.'),
  )

  function list(title: string, all: readonly Mover[], none: string): HTMLElement {
    const standingsOf = all.map(({ standing }) => standing)
    return panel(
      explained(`${title}`, meaningOf('gain')),
      all.length === 0
        ? empty(none)
        : h(
            'ol',
            { class: 'movers' },
            ...all.slice(0, most).map(({ standing }) => item(standing, standingsOf)),
          ),
    )
  }

  function item(standing: Standing, all: readonly Standing[]): HTMLElement {
    const { keyword, current, baseline, change } = standing
    const about = apart(keyword)
    return h(
      'li',
      {},
      h(
        'button',
        { type: 'button', 'aria-haspopup': 'dialog', on: { click: () => open(standing, all) } },
        h(
          'span',
          { class: 'name' },
          h('bdi', { title: keyword.query }, keyword.query),
          about === '' ? null : h('span', { class: 'about' }, about),
        ),
        h(
          'span',
          { class: 'from-to' },
          baseline === null ? null : rankMark(baseline.value),
          ' → ',
          rankMark(current),
        ),
        changeMark(change),
      ),
    )
  }
}
