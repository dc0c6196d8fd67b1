import { placesOf } from '../../../../cells.ts'
import type { FindingFacts } from '../../../../findings/facts.ts'
import type { NextAction } from '../../../../findings/next-actions/action.ts'
import { nextActions } from '../../../../findings/next-actions/find.ts'
import { nothingToDo } from '../../../../findings/next-actions/nothing.ts'
import { nothingText, reasonsOf, untoldClicks } from '../../../../findings/next-actions/say.ts'
import { button, html, linkTo, twoLines } from '../../dom.ts'
import { number, pathOf } from '../../format.ts'
import { say } from '../../language.ts'
import { figures, type SimpleColumn, simpleTable } from '../../table/simple-table.ts'
import { isolated } from '../../text.ts'
import type { View } from '../../view.ts'
import { type OpenKeyword, takenKeyword } from '../keywords.ts'
import { empty, noValue, panel } from '../section.ts'

/**
 * What to do next, the most clicks at stake first; null for a target that is not one's own.
 *
 * @param all the view with keywords of every kind: AI answers are of another part than the figures
 */
export function nextActionsPanel(all: View, facts: FindingFacts, open: OpenKeyword): HTMLElement | null {
  if (!all.target.own) return null
  const words = say.nextActions
  const statuses = all.statuses.filter(({ keyword }) => keyword.kind === 'reference')
  const actions = nextActions(facts, { statuses, citations: all.data.citations })
  const order = actions.map(({ status }) => status)
  const distinguish = placesOf(all.history.keywords)
  const columns: readonly SimpleColumn<NextAction>[] = [
    {
      title: words.keyword,
      class: 'action-keyword',
      cell: ({ status: { keyword } }) => {
        const about = distinguish(keyword)
        const query = html('bdi', '', keyword.query)
        return about === '' ? query : twoLines(query, about)
      },
      taken: takenKeyword(all.history.keywords, ({ status }) => status.keyword),
    },
    {
      title: words.reason,
      class: 'action-reason',
      cell: (action) => reasonsOf(action, say, isolated),
      taken: (action) => reasonsOf(action, say),
    },
    ...(actions.every(({ clicks }) => clicks === null)
      ? []
      : [
          figures<NextAction>(
            words.clicks,
            (action) =>
              action.clicks === null
                ? noValue(words.noClicks)
                : html(
                    'span',
                    untoldClicks(action) === null ? 'told' : '',
                    number(Math.round(action.clicks)),
                    html('span', 'action-unit', ` ${words.atStake}`),
                  ),
            ' action-clicks',
            ({ clicks }) => (clicks === null ? null : Math.round(clicks)),
          ),
        ]),
    {
      title: words.page,
      class: 'action-page',
      cell: ({ page, status: { current } }) =>
        page === null
          ? noValue(current.state === 'absent' ? words.noPage : say.ranks.notKnown)
          : linkTo(page, pathOf(page)),
      taken: ({ page }) => page,
    },
    {
      title: words.why,
      class: 'action-why',
      cell: ({ status }) =>
        button(
          'quiet',
          () => open(status, order),
          {
            'aria-haspopup': 'dialog',
            'aria-label': words.whyOf([status.keyword.query, distinguish(status.keyword)].join(' ').trim()),
          },
          words.why,
        ),
      taken: [],
    },
  ]
  return panel(
    words.title,
    actions.length === 0
      ? empty(nothingText(nothingToDo(facts), say, isolated))
      : html('div', 'actions', simpleTable(words.title, actions, columns)),
  )
}
