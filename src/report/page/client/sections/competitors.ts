import { top } from '../../../metrics/distribution.ts'
import { pageMetrics } from '../../../metrics/index.ts'
import { serpShareOfVoice } from '../../../metrics/share-of-voice.ts'
import { summarise, type TargetSummary } from '../../../summary.ts'
import { html } from '../dom.ts'
import { capitalised, number } from '../format.ts'
import { say } from '../language.ts'
import { figures, simpleTable } from '../table/simple-table.ts'
import { metricText, metricTooltip, targetName, withDelta, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { passing } from './overtakes.ts'
import { empty, noMatch, noValue, panel, section } from './section.ts'
import { sideBySide } from './side-by-side.ts'
import { siteShares } from './site-shares.ts'

/**
 * The targets side by side, who passed whom, and the sites of the first ten results: steps that draw one part each, because each takes
 * a while where there are many keywords.
 */
export function competitors(view: View, open: OpenKeyword, place: HTMLElement): readonly (() => void)[] {
  const words = say.competitors
  const head = { id: 'competitors', title: words.title }
  let element: HTMLElement | null = null
  const isEmpty = view.history.series.length === 0
  const isAlone = view.history.targets.length < 2
  const append = (part: () => HTMLElement) => () => {
    if (!isEmpty) element?.append(part())
  }
  return [
    () => {
      element = isEmpty ? section(head, empty(noMatch)) : section({ ...head, lead: words.lead })
      place.append(element)
    },
    append(() => panel(words.figures, targetTable(view))),
    ...(isAlone
      ? []
      : [
          append(() => html('h3', 'between', words.sideBySide)),
          append(() => sideBySide(view, open)),
          append(() => passing(view, open)),
        ]),
    append(() => panel(withTooltip(words.sites, metricTooltip('site_share')), siteShares(view))),
  ]
}

function targetTable({ history, data, asked, filters }: View): HTMLElement {
  const words = say.competitors
  const { targets } = summarise(history, { ...data.measure, compare: asked })
  const chosen = history.targets[filters.target]
  const indexOf = ({ target }: TargetSummary): number => history.targets.indexOf(target)
  const shown = data.serps.filter(({ day }) => day === history.days.length - 1)
  const weights = { history, curve: data.measure.curve }
  const headlines = pageMetrics.filter(
    ({ name, needs }) => needs === undefined || targets.some((one) => one.figures[name].value !== null),
  )
  return simpleTable(words.figuresLabel, chosenFirst(targets, chosen), [
    {
      title: words.site,
      cell: (one) =>
        targetName(history, indexOf(one), one.target.own ? null : html('span', 'badge', words.competitor)),
      taken: ({ target }) => target.label,
    },
    ...headlines.map(({ name, label, shortLabel = label }) =>
      figures(
        capitalised(shortLabel),
        (one: TargetSummary) =>
          withDelta(name, one.figures[name].value, one.figures[name].cohort?.delta ?? null),
        '',
        (one) => one.figures[name].value,
      ),
    ),
    ...(shown.length === 0
      ? []
      : [
          figures(
            words.topTenShare,
            (one: TargetSummary) =>
              metricText('serp_share_of_voice', serpShareOfVoice(shown, indexOf(one), weights).value),
            ' wide',
          ),
        ]),
    ...([3, 10] as const).map((rank) =>
      figures(words.top(rank), (one: TargetSummary) => number(top(one.distribution, rank))),
    ),
    figures(
      words.checked,
      ({ figures: { visibility } }) =>
        words.ofKeywords(visibility.coverage.observed, visibility.coverage.expected),
      ' wide',
    ),
    figures(chosen?.own ? words.beatsYou : words.beats(chosen?.label ?? ''), ({ competitors: others }) => {
      const rivalry = others.find(({ other }) => other === chosen)
      if (rivalry === undefined) return noValue(words.itself)
      const { won, lost, tied, neither, undecided } = rivalry
      return html(
        'span',
        { title: words.beatsNote(tied, neither, undecided) },
        words.ofKeywords(won, won + lost),
      )
    }),
  ])
}

function chosenFirst<One extends { readonly target: unknown }>(
  all: readonly One[],
  chosen: unknown,
): readonly One[] {
  return all.toSorted((a, b) => Number(b.target === chosen) - Number(a.target === chosen))
}
