import { say } from '../language.ts'
import { metricTooltip, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { empty, noMatch, panel, section } from './section.ts'
import { siteShares } from './site-shares.ts'
import { chosenFirst, targetFigures } from './target-figures.ts'

/** The figures of all targets, and the sites of the first ten results, in steps: each takes a while where there are many keywords. */
export function competitors(view: View, place: HTMLElement): readonly (() => void)[] {
  const words = say.competitors
  const head = { id: 'competitors', title: words.title }
  if (view.history.series.length === 0) return [() => place.append(section(head, empty(noMatch())))]
  const isAlone = chosenFirst(view.history, view.filters.target).length < 2
  const figures = panel(words.figures)
  const shares = panel(withTooltip(words.sites, metricTooltip('site_share')))
  // The figures of a site alone are those of the cards.
  const element = isAlone ? section(head) : section({ ...head, lead: words.lead }, figures)
  return [
    () => place.append(element),
    ...(isAlone
      ? []
      : [
          // All of what follows asks for it.
          () => view.allTargets(),
          ...targetFigures(view, figures),
        ]),
    () => element.append(shares),
    ...siteShares(view, shares),
  ]
}
