import { html } from '../dom.ts'
import { say } from '../language.ts'
import { metricTooltip, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { passing } from './overtakes.ts'
import { empty, noMatch, panel, section } from './section.ts'
import { sideBySide } from './side-by-side.ts'
import { siteShares } from './site-shares.ts'
import { chosenFirst, targetFigures } from './target-figures.ts'

/**
 * The targets side by side, who passed whom, and the sites of the first ten results, in steps: each takes a while where there are many
 * keywords.
 */
export function competitors(view: View, open: OpenKeyword, place: HTMLElement): readonly (() => void)[] {
  const words = say.competitors
  const head = { id: 'competitors', title: words.title }
  if (view.history.series.length === 0) return [() => place.append(section(head, empty(noMatch())))]
  const figures = panel(words.figures)
  const shares = panel(withTooltip(words.sites, metricTooltip('site_share')))
  const element = section({ ...head, lead: words.lead }, figures)
  return [
    () => place.append(element),
    // All of what follows asks for it.
    () => view.allTargets(),
    ...targetFigures(view, figures),
    ...(chosenFirst(view.history, view.filters.target).length < 2
      ? []
      : [
          () => element.append(html('h3', 'between', words.sideBySide), sideBySide(view, open)),
          () => view.history.days.length > 1 && element.append(passing(view, open)),
        ]),
    () => element.append(shares),
    ...siteShares(view, shares),
  ]
}
