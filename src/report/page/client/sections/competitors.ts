import { top } from '../../../metrics/distribution.ts'
import { serpShareOfVoice } from '../../../metrics/serp-share-of-voice.ts'
import { summarise, type TargetSummary } from '../../../summary.ts'
import { lineSample } from '../chart/look.ts'
import { breakable, h } from '../dom.ts'
import { number } from '../format.ts'
import { deltaMark, explained, meaningOf, metricText } from '../metric-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { discovery } from './discovery.ts'
import type { OpenKeyword } from './keywords.ts'
import { noValue } from './no-value.ts'
import { empty, nothingFits, panel, section } from './section.ts'
import { sideBySide } from './side-by-side.ts'

/** The targets beside each other, keyword by keyword, and sites that nobody tracks yet. */
export function competitors(view: View, open: OpenKeyword): HTMLElement {
  const head = { id: 'competitors', title: 'Competitors' }
  if (view.everyone().length === 0) return section(head, empty(nothingFits))
  return section(
    { ...head, lead: 'All targets on the same keywords, and who else gains among the first ten results.' },
    panel('Targets', targetTable(view)),
    ...(view.history.targets.length < 2
      ? []
      : [h('h3', { class: 'between' }, 'Ranks side by side'), sideBySide(view, open)]),
    panel(explained('Other sites', meaningOf('site_share')), discovery(view)),
  )
}

function targetTable({ history, data, asked, choice }: View): HTMLElement {
  const { targets } = summarise(history, { ...data.measure, compare: asked })
  const chosen = history.targets[choice.target]
  const voices = targets.some(({ figures }) => figures.share_of_voice.denominator > 0)
  const shown = data.serps.filter(({ day }) => day === history.days.length - 1)
  const against = (one: TargetSummary) => one.against.find(({ other }) => other === chosen)
  const columns: readonly Column<TargetSummary>[] = [
    {
      key: 'target',
      title: 'Target',
      cell: ({ target }) =>
        h(
          'span',
          { class: 'target-name' },
          lineSample(history.targets.indexOf(target)),
          breakable(target.label),
          target.own ? null : h('span', { class: 'badge' }, 'competitor'),
        ),
    },
    ...(['average_position', 'visibility', 'share_of_voice'] as const)
      .filter((name) => name !== 'share_of_voice' || voices)
      .map((name) => ({
        key: name,
        title: { average_position: 'Average', visibility: 'Visibility', share_of_voice: 'Share of voice' }[
          name
        ],
        class: 'figure',
        cell: ({ figures }: TargetSummary) =>
          h(
            'span',
            { class: 'with-delta' },
            metricText(name, figures[name].value),
            deltaMark(name, figures[name].cohort?.delta ?? null),
          ),
      })),
    ...(shown.length === 0
      ? []
      : [
          {
            key: 'first-ten',
            title: 'Of first tens',
            class: 'figure',
            cell: ({ target }: TargetSummary) =>
              metricText(
                'serp_share_of_voice',
                serpShareOfVoice(shown, history.targets.indexOf(target), {
                  history,
                  curve: data.measure.curve,
                }).value,
              ),
          },
        ]),
    ...([3, 10] as const).map((rank) => ({
      key: `top-${rank}`,
      title: `Top ${rank}`,
      class: 'figure',
      cell: (one: TargetSummary) => number(top(one.distribution, rank)),
    })),
    {
      key: 'observed',
      title: 'Observed',
      class: 'figure',
      cell: ({ figures: { visibility } }) =>
        `${number(visibility.coverage.observed)} of ${number(visibility.coverage.expected)}`,
    },
    {
      key: 'against',
      title: `Ahead of ${chosen?.label ?? ''}`,
      class: 'figure',
      cell: (one) => {
        const rivalry = against(one)
        return rivalry === undefined
          ? noValue('itself')
          : h(
              'span',
              {
                title: `${rivalry.tied} tied, ${rivalry.neither} neither ranks, ${rivalry.undecided} undecided`,
              },
              `${number(rivalry.won)} of ${number(rivalry.won + rivalry.lost)}`,
            )
      },
    },
  ]
  return simpleTable('Figures of all targets', columns, targets)
}
