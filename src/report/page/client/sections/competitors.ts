import type { Standing } from '../../../cohort.ts'
import { discoverCompetitors, type SiteShare } from '../../../metrics/discovery.ts'
import { top } from '../../../metrics/distribution.ts'
import { serpPairs } from '../../../metrics/serps.ts'
import { summarise, type TargetSummary } from '../../../summary.ts'
import { lineSample } from '../chart/look.ts'
import { h } from '../dom.ts'
import { count, number } from '../format.ts'
import { localeOf } from '../keyword/keyword-text.ts'
import { explained, meaningOf, metricText } from '../metric-text.ts'
import { rankMark } from '../movement-text.ts'
import { type GridView, grid } from '../table/grid.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { deltaMark } from './figure-card.ts'
import type { OpenKeyword } from './keywords.ts'
import { noValue } from './no-value.ts'
import { empty, panel, section } from './section.ts'

/** The targets beside each other, keyword by keyword, and sites that nobody tracks yet. */
export function competitors(view: View, open: OpenKeyword): HTMLElement {
  const head = { id: 'competitors', title: 'Competitors' }
  if (view.everyone.length === 0) return section(head, empty('No keyword fits what was chosen.'))
  const ranks = sideBySide(view, open)
  return section(
    { ...head, lead: 'All targets on the same keywords, and who else gains among the first ten results.' },
    panel('Targets', targetTable(view)),
    h('h3', { class: 'between' }, 'Ranks side by side'),
    ranks,
    panel(explained('Other sites', meaningOf('site_share')), discovery(view)),
  )
}

function targetTable({ history, data, asked, choice }: View): HTMLElement {
  const { targets } = summarise(history, { curve: data.curve, compare: asked })
  const chosen = history.targets[choice.target]
  const voices = targets.some(({ figures }) => figures.share_of_voice.denominator > 0)
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
          h('bdi', {}, target.label),
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
            deltaMark({ name, delta: figures[name].cohort?.delta ?? null }),
          ),
      })),
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

interface Row {
  /** Of the chosen target, where it is tracked for the keyword. */
  readonly main: Standing
  readonly byTarget: ReadonlyMap<number, Standing>
}

function sideBySide(view: View, open: OpenKeyword): HTMLElement {
  const { everyone, history, choice } = view
  const byKeyword = new Map<number, Map<number, Standing>>()
  for (const standing of everyone) {
    const { keyword, target } = standing.series
    const one = byKeyword.get(keyword) ?? new Map<number, Standing>()
    byKeyword.set(keyword, one.set(target, standing))
  }
  const rows = [...byKeyword.values()].map((byTarget): Row => {
    const main = byTarget.get(choice.target) ?? ([...byTarget.values()][0] as Standing)
    return { main, byTarget }
  })
  const several = new Set(rows.map(({ main }) => main.keyword.operation)).size > 1
  const table: GridView<Row> = grid<Row>({
    label: 'Ranks of all targets side by side',
    order: { by: `target-${choice.target}`, descending: false },
    open: ({ main }, all) =>
      open(
        main,
        all.map((row) => row.main),
      ),
    empty: 'No keyword fits what was chosen.',
    minWidth: 150 + 104 * history.targets.length,
    columns: [
      {
        key: 'keyword',
        title: 'Keyword',
        class: 'keyword',
        value: ({ main }) => main.keyword.query,
        cell: ({ main: { keyword } }) =>
          h(
            'span',
            { class: 'two-lines' },
            h('bdi', { title: keyword.query }, keyword.query),
            h(
              'span',
              { class: 'about' },
              [localeOf(keyword), several ? keyword.operation : ''].filter(Boolean).join(' · '),
            ),
          ),
      },
      ...history.targets.map(
        (target, place): Column<Row> => ({
          key: `target-${place}`,
          title: target.label,
          class: `figure target-column${place === choice.target ? ' chosen' : ''}`,
          value: ({ byTarget }) => rankValue(byTarget.get(place)),
          cell: ({ byTarget }) => {
            const standing = byTarget.get(place)
            if (standing === undefined) return noValue('not tracked for this keyword')
            const best = isBest(standing, byTarget)
            return h(
              'span',
              { class: best ? 'ahead' : null },
              rankMark(standing.current),
              best ? h('span', { class: 'unseen' }, ', best of all') : null,
            )
          },
        }),
      ),
    ],
  })
  table.show(rows)
  return table.element
}

function rankValue(standing: Standing | undefined): number | null {
  if (standing === undefined) return null
  const { state, rank, depth } = standing.current
  return state === 'absent' ? 1e6 + (depth ?? 0) : rank
}

function isBest({ current }: Standing, all: ReadonlyMap<number, Standing>): boolean {
  if (current.rank === null || all.size < 2) return false
  return [...all.values()].every(
    ({ current: other }) => other.rank === null || other.rank >= (current.rank ?? 0),
  )
}

/** Sites in the list at most. */
const mostSites = 15

function discovery({ history, data, asked }: View): HTMLElement {
  const pairs = serpPairs(history, data.serps, asked)
  const { sites, serps, weight } = discoverCompetitors(pairs, { history, curve: data.curve })
  const others = sites.filter(({ target }) => target === null)
  if (others.length === 0) return empty('There are no results of two days to compare.')
  const shown = others
    .toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.appearances - a.appearances)
    .slice(0, mostSites)
  const columns: readonly Column<SiteShare>[] = [
    { key: 'site', title: 'Site', cell: ({ site }) => h('bdi', {}, data.sites[site] as string) },
    {
      key: 'share',
      title: 'Share',
      class: 'figure',
      cell: ({ share, change }) =>
        h(
          'span',
          { class: 'with-delta' },
          metricText('site_share', share),
          deltaMark({ name: 'site_share', delta: change }),
        ),
    },
    { key: 'now', title: 'In first tens', class: 'figure', cell: ({ appearances }) => number(appearances) },
    {
      key: 'before',
      title: 'Before',
      class: 'figure',
      cell: ({ appearancesBefore }) => number(appearancesBefore),
    },
  ]
  const weighed = weight === 'volume' ? 'weighed by volume' : 'all keywords weigh the same'
  return h(
    'div',
    {},
    simpleTable('Sites that are not tracked', columns, shown),
    h(
      'p',
      { class: 'note' },
      `Of ${count(serps, 'keyword')} whose first ten results are known on both days, ${weighed}.`,
    ),
  )
}
