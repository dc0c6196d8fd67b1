import type { KeywordStatus } from '../../../history/keyword-status.ts'
import { top } from '../../../metrics/distribution.ts'
import { leads } from '../../../metrics/head-to-head.ts'
import { pageMetrics } from '../../../metrics/index.ts'
import { serpShareOfVoice } from '../../../metrics/share-of-voice.ts'
import { summarise, type TargetSummary } from '../../../summary.ts'
import { html, srOnly } from '../dom.ts'
import { capitalised, number } from '../format.ts'
import { grid } from '../table/grid.ts'
import { figures, type GridColumn, simpleTable } from '../table/simple-table.ts'
import { metricText, metricTooltip, rankMark, targetName, withDelta, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { keywordCell, type OpenKeyword, rankOrder } from './keywords.ts'
import { empty, noMatch, noValue, panel, section } from './section.ts'
import { discovery } from './site-shares.ts'

/** The targets side by side, keyword by keyword, and sites that are not tracked. */
export function competitors(view: View, open: OpenKeyword): HTMLElement {
  const head = { id: 'competitors', title: 'Competitors' }
  if (view.allTargets().length === 0) return section(head, empty(noMatch))
  return section(
    { ...head, lead: 'All targets on the same keywords, and other sites that gain in the top 10.' },
    panel('Targets', targetTable(view)),
    ...(view.history.targets.length < 2
      ? []
      : [html('h3', 'between', 'Ranks side by side'), sideBySide(view, open)]),
    panel(withTooltip('Other sites', metricTooltip('site_share')), discovery(view)),
  )
}

function targetTable({ history, data, asked, filters }: View): HTMLElement {
  const { targets } = summarise(history, { ...data.measure, compare: asked })
  const chosen = history.targets[filters.target]
  const indexOf = ({ target }: TargetSummary): number => history.targets.indexOf(target)
  const shown = data.serps.filter(({ day }) => day === history.days.length - 1)
  const weights = { history, curve: data.measure.curve }
  const headlines = pageMetrics.filter(
    ({ name, needs }) => needs === undefined || targets.some((one) => one.figures[name].value !== null),
  )
  return simpleTable('Figures of all targets', targets, [
    {
      title: 'Target',
      cell: (one) =>
        targetName(history, indexOf(one), one.target.own ? null : html('span', 'badge', 'competitor')),
    },
    ...headlines.map(({ name, label, shortLabel = label }) =>
      figures(capitalised(shortLabel), (one: TargetSummary) =>
        withDelta(name, one.figures[name].value, one.figures[name].cohort?.delta ?? null),
      ),
    ),
    ...(shown.length === 0
      ? []
      : [
          figures('Share of top 10', (one: TargetSummary) =>
            metricText('serp_share_of_voice', serpShareOfVoice(shown, indexOf(one), weights).value),
          ),
        ]),
    ...([3, 10] as const).map((rank) =>
      figures(`Top ${rank}`, (one: TargetSummary) => number(top(one.distribution, rank))),
    ),
    figures('Checked', ({ figures: { visibility } }) => {
      const { observed, expected } = visibility.coverage
      return `${number(observed)} of ${number(expected)}`
    }),
    figures(`Ahead of ${chosen?.label ?? ''}`, ({ competitors: others }) => {
      const rivalry = others.find(({ other }) => other === chosen)
      if (rivalry === undefined) return noValue('itself')
      const { won, lost, tied, neither, undecided } = rivalry
      const title = `${tied} tied, ${neither} neither ranks, ${undecided} undecided`
      return html('span', { title }, `${number(won)} of ${number(won + lost)}`)
    }),
  ])
}

interface Row {
  /** The status of the chosen target, if it is tracked for the keyword. */
  readonly main: KeywordStatus
  readonly byTarget: ReadonlyMap<number, KeywordStatus>
}

/** Targets in one table on paper at most. */
const mostOnPaper = 4

/** The ranks of all targets for each keyword. */
export function sideBySide({ allTargets, history, filters }: View, open: OpenKeyword): HTMLElement {
  const byKeyword = new Map<number, Map<number, KeywordStatus>>()
  for (const status of allTargets()) {
    const { keyword, target } = status.series
    const one = byKeyword.get(keyword) ?? new Map<number, KeywordStatus>()
    byKeyword.set(keyword, one.set(target, status))
  }
  const rows = [...byKeyword.values()].map((byTarget): Row => {
    const main = byTarget.get(filters.target) ?? ([...byTarget.values()][0] as KeywordStatus)
    return { main, byTarget }
  })
  const severalOperations = new Set(rows.map(({ main }) => main.keyword.operation)).size > 1
  const keyword: GridColumn<Row> = {
    key: 'keyword',
    title: 'Keyword',
    class: 'keyword',
    value: ({ main }) => main.keyword.query,
    cell: ({ main }) => keywordCell(main.keyword, severalOperations),
  }
  const targets = history.targets.map(
    ({ label }, target): GridColumn<Row> => ({
      key: `target-${target}`,
      title: label,
      class: `figure target-column${target === filters.target ? ' chosen' : ''}`,
      value: ({ byTarget }) => rankOrder(byTarget.get(target)),
      cell: ({ byTarget }) => {
        const status = byTarget.get(target)
        if (status === undefined) return noValue('not tracked for this keyword')
        const others = [...byTarget.values()].filter((one) => one !== status).map(({ current }) => current)
        const best = leads(status.current, others)
        return html('span', best ? 'ahead' : '', rankMark(status.current), best && srOnly(', best of all'))
      },
    }),
  )
  const table = grid<Row>({
    label: 'Ranks of all targets side by side',
    order: { by: `target-${filters.target}`, descending: false },
    open: ({ main }, all) => {
      const statuses = all.map((row) => row.main)
      open(main, statuses)
    },
    empty: noMatch,
    manyColumns: targets.length,
    onPaper: evenParts(targets, mostOnPaper).map((some) => [keyword, ...some]),
    columns: [keyword, ...targets],
  })
  table.show(rows)
  return table.element
}

/** A list in as few parts as possible, of about the same length. */
function evenParts<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  const parts = Math.max(1, Math.ceil(all.length / most))
  const size = Math.ceil(all.length / parts)
  return Array.from({ length: parts }, (_, part) => all.slice(part * size, (part + 1) * size))
}
