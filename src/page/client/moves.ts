import { placesOf } from '../../report/cells.ts'
import type { FindingFacts } from '../../report/findings/facts.ts'
import type { NextAction } from '../../report/findings/next-actions/action.ts'
import { nextActions } from '../../report/findings/next-actions/find.ts'
import { nothingToDo } from '../../report/findings/next-actions/nothing.ts'
import { nothingText, reasonsOf } from '../../report/findings/next-actions/say.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../report/history/movement.ts'
import { type Mover, winnersAndLosers } from '../../report/metrics/movements.ts'
import { ariaHidden, button, empty, html, section, srOnly } from './dom.ts'
import type { Opening } from './first.ts'
import type { OpenKeyword } from './keywords.ts'
import { switchOf } from './main-chart.ts'
import { isolated, movementLabel, rankMark, say, shortStatusChange } from './text.ts'
import { hasCompared, type View } from './view.ts'

/** Rows of each list at most. */
const [mostMoves, mostSteps] = [10, 5]

/**
 * What moved, the most clicks first: one list with a switch, and how many keywords moved in each way. A number goes to these keywords in
 * the table. The caller says which one is pressed.
 */
export function moved(view: View, { open, choose }: Opening) {
  const words = say.overview
  const { statuses, data, history } = view
  const { winners, losers } = winnersAndLosers(statuses, data.measure.curve)
  const size = ({ gain }: Mover): number => Math.abs(gain ?? 0)
  const lists: Readonly<Record<string, readonly Mover[]>> = {
    all: [...winners, ...losers].toSorted((a, b) => size(b) - size(a)),
    winners,
    losers,
    entered: winners.filter(({ status }) => status.change.movement === 'entered'),
    left: losers.filter(({ status }) => status.change.movement === 'left'),
  }
  const distinguish = placesOf(history.keywords)
  const hasGain = [...winners, ...losers].some(({ gain }) => gain !== null)
  const body = html('div')
  show('all')
  const options = Object.entries(lists).flatMap(([name, list]) =>
    list.length === 0 ? [] : [[name, say.blocks.moves[name as keyof typeof say.blocks.moves]] as const],
  )
  const counts = countButtons()
  const element = section(
    { id: 'moved', title: say.blocks.moved },
    switchOf(say.blocks.moved, 'moves', options, 'all', show),
    body,
    // Of a later day it would be wrong that its keywords are checked for the first time.
    history.days.length < 2 || hasCompared(view) ? counts.element : null,
  )
  return { element, press: counts.press }

  function show(name: string): void {
    const list = lists[name] ?? []
    const order = list.map(({ status }) => status)
    body.replaceChildren(
      list.length === 0
        ? empty(hasCompared(view) ? say.blocks.nothingMoved : say.period.notCompared)
        : html(
            'ol',
            `rows${hasGain ? ' with-gain' : ''}`,
            ...list.slice(0, mostMoves).map((one) => row(one)),
          ),
    )

    function row({ status, gain }: Mover): HTMLElement {
      const { keyword, current, baseline } = status
      const about = distinguish(keyword)
      const query = html('bdi', { title: keyword.query }, keyword.query)
      const before = baseline === null ? null : rankMark(baseline.value)
      return html(
        'li',
        '',
        button(
          'move',
          () => open(status, order),
          { 'aria-haspopup': 'dialog' },
          html('span', 'name', query, about === '' ? null : html('span', 'about', about)),
          html('span', 'from-to', before, ' → ', rankMark(current)),
          shortStatusChange(status),
          hasGain ? gainMark(gain) : null,
        ),
      )
    }
  }

  function countButtons() {
    const found = new Map<string, number>()
    for (const { change } of statuses) {
      const name = groupOf(change)
      found.set(name, (found.get(name) ?? 0) + 1)
    }
    const buttons = movementGroups.map((name) =>
      button(
        '',
        ({ currentTarget }) => {
          const isPressed = (currentTarget as Element).getAttribute('aria-pressed') === 'true'
          if (isPressed) choose({ movement: '' })
          else choose({ movement: name }, 'keywords')
        },
        { 'data-movement': name },
        html('b', '', say.number(found.get(name) ?? 0)),
        ` ${movementLabel(name)}`,
      ),
    )
    const attributes = { class: 'counts', role: 'group', 'aria-label': words.filterByMovement }
    return {
      element: html('div', attributes, ...buttons),
      press: (movement: string): void => {
        for (const [place, one] of buttons.entries()) {
          const name = movementGroups[place] as MovementGroup
          one.setAttribute('aria-pressed', String(movement === name))
          one.hidden = !found.has(name) && movement !== name
        }
      },
    }
  }
}

/** Clicks a month more or fewer; a dash without a volume. */
function gainMark(gain: number | null): HTMLElement {
  const size = gain === null ? 0 : Number(gain.toPrecision(3))
  if (gain === null || Math.round(size) === 0)
    return html('span', 'gain none', ariaHidden(gain === null ? '–' : '0'))
  const spoken = gain > 0 ? say.overview.clicksMore(size) : say.overview.clicksFewer(size)
  return html('span', { class: 'gain', title: spoken }, ariaHidden(say.overview.gain(size)), srOnly(spoken))
}

/**
 * What to do next, the most clicks at stake first. A whole row opens the keyword that it is about.
 *
 * @param all the view with keywords of every kind: AI answers are of another part than the figures
 */
export function next(all: View, facts: FindingFacts, open: OpenKeyword): HTMLElement | string {
  if (!all.target.own) return ''
  const words = say.nextActions
  const statuses = all.statuses.filter(({ keyword }) => keyword.kind === 'reference')
  const actions = nextActions(facts, { statuses, citations: all.data.citations }).slice(0, mostSteps)
  const order = actions.map(({ status }) => status)
  const distinguish = placesOf(all.history.keywords)
  return section(
    { id: 'next', title: words.title },
    actions.length === 0
      ? empty(nothingText(nothingToDo(facts), say, isolated))
      : html('ol', 'rows', ...actions.map(row)),
  )

  function row(action: NextAction): HTMLElement {
    const { status, clicks } = action
    const about = distinguish(status.keyword)
    return html(
      'li',
      '',
      button(
        'step',
        () => open(status, order),
        { 'aria-haspopup': 'dialog' },
        html(
          'span',
          'name',
          html('bdi', '', status.keyword.query),
          about === '' ? null : html('span', 'about', about),
        ),
        html('span', 'reason', reasonsOf(action, say, isolated)),
        clicks === null
          ? null
          : html(
              'span',
              'stake',
              html('b', '', say.number(Number(clicks.toPrecision(3)))),
              ` ${words.atStake}`,
            ),
      ),
    )
  }
}
