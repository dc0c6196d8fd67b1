import { placesOf } from '../../../report/cells.ts'
import { baselineOrder, type KeywordStatus } from '../../../report/history/keyword-status.ts'
import type { DayValue, Keyword } from '../../../report/history/rank-history.ts'
import { type Overtake, overtakes } from '../../../report/metrics/overtakes.ts'
import { weightsOf } from '../../../report/metrics/serps.ts'
import { button, html } from '../dom.ts'
import { number, shortDay } from '../format.ts'
import { say } from '../language.ts'
import { withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { empty, halves, note, panel } from './section.ts'

/** Of each direction at most. */
const most = 6

/** Who passed the chosen target within the compared days, and whom it passed, the most clicks at stake first. */
export function passing(view: View, open: OpenKeyword): HTMLElement {
  const { history, data, asked, filters, target } = view
  const words = say.competitors
  const since = baselineOrder(history.days, asked)[0] ?? 0
  const all = overtakes(history, { target: filters.target, curve: data.measure.curve, since })
  const title = withTooltip(words.passed, words.passedMeaning)
  if (all.length === 0) return panel(title, empty(words.noOrder))
  const byVolume = weightsOf(history).by === 'volume'
  const lost = all.filter(({ ahead }) => ahead === 'other')
  const won = all.filter(({ ahead }) => ahead === 'target')
  const heads = target.own
    ? [words.theyPassed(lost.length), words.youPassed(won.length)]
    : [words.theyPassedIt(target.label, lost.length), words.itPassed(target.label, won.length)]
  return panel(
    title,
    halves(
      html('div', 'passed', html('h4', '', heads[0] ?? ''), list(view, lost, byVolume, open)),
      html('div', 'passed', html('h4', '', heads[1] ?? ''), list(view, won, byVolume, open)),
    ),
    note(byVolume ? words.atStakeNote : words.withoutVolumes),
  )
}

function list(view: View, all: readonly Overtake[], byVolume: boolean, open: OpenKeyword): HTMLElement {
  const { history } = view
  const words = say.competitors
  if (all.length === 0) return empty(words.nonePassed)
  const distinguish = placesOf(history.keywords)
  const statuses = new Map(
    view.statuses.map((status) => [status.series.keyword, status] as const satisfies [number, KeywordStatus]),
  )
  const shown = all.slice(0, most)
  const inOrder = shown.flatMap(({ keyword }) => statuses.get(keyword) ?? [])
  const items = shown.map((one) => {
    const status = statuses.get(one.keyword)
    const keyword = history.keywords[one.keyword] as Keyword
    const about = distinguish(keyword)
    const name = [html('bdi', '', keyword.query), about === '' ? null : html('span', 'about', about)] as const
    const opener =
      status === undefined
        ? html('span', 'opener', ...name)
        : button('opener', () => open(status, inOrder), { 'aria-haspopup': 'dialog' }, ...name)
    return html(
      'li',
      '',
      html('div', '', opener, html('p', 'about', ...sentence(one))),
      byVolume && one.clicks >= 0.5
        ? html(
            'p',
            'figure',
            html('b', '', number(Math.round(one.clicks))),
            html('span', 'about', words.atStake),
          )
        : null,
    )
  })
  return html(
    'div',
    '',
    html('ul', 'passed-list', ...items),
    all.length > most ? note(words.firstOf(most, all.length)) : null,
  )

  function sentence({ other, ahead, day, from, to }: Overtake): readonly (Node | string)[] {
    const rival = history.targets[other]?.label ?? ''
    const { label, own } = view.target
    const on = shortDay(history.days[day] as string)
    const [winner, loser] = ahead === 'other' ? [rival, label] : [label, rival]
    const who = own
      ? ahead === 'other'
        ? words.passedYou(rival, on)
        : words.youPassedIt(rival, on)
      : words.passedIt(winner, loser, on)
    const [mine, theirs] = [0, 1].map((place) => [short(from[place]), short(to[place])] as const) as [
      readonly [string, string],
      readonly [string, string],
    ]
    return [html('bdi', '', who), words.ranks(mine, theirs)]
  }

  function short(value: DayValue | undefined): string {
    if (value === undefined || value.rank === null) return say.ranks.notInTop(value?.absentDepth ?? 0)
    return number(value.rank)
  }
}
