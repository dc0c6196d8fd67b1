import { type DailyFigures, daily } from '../../../report/daily.ts'
import { isSwing } from '../../../report/findings/swing.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import type { RankHistory } from '../../../report/history/rank-history.ts'
import { pageMetrics } from '../../../report/metrics/index.ts'
import { top } from '../../../report/metrics/positions.ts'
import { type HeadToHead, headToHead, serpSharesOfVoice } from '../../../report/metrics/shares.ts'
import { type PartSummary, partSummaries, statusesByTarget } from '../../../report/summary.ts'
import { firstKnown } from '../chart/trend.ts'
import { html } from '../dom.ts'
import { number } from '../format.ts'
import { say } from '../language.ts'
import { figures, parts, type SimpleColumn, simpleTable } from '../table/simple-table.ts'
import { metricText, shortMetricLabel, targetName, withDelta } from '../text.ts'
import type { View } from '../view.ts'
import { note, noValue } from './section.ts'

interface TargetFiguresRow extends PartSummary {
  readonly target: number
  /** Against the chosen target; null for itself. */
  readonly rivalry: HeadToHead | null
  /** They say what is usual. */
  readonly days: readonly DailyFigures[]
}

/** Places of the targets that the selected keywords are tracked for, the chosen one first. */
export function chosenFirst({ series }: RankHistory, chosen: number): readonly number[] {
  const tracked = [...new Set(series.map(({ target }) => target))].sort((a, b) => a - b)
  return [chosen, ...tracked.filter((target) => target !== chosen)]
}

/** The figures of all targets, the chosen one first: a step for each, and one that draws them. */
export function targetFigures(view: View, place: HTMLElement): readonly (() => void)[] {
  const { history, data, filters } = view
  const chosen = filters.target
  const rows: TargetFiguresRow[] = []
  let byTarget: ReadonlyMap<number, readonly KeywordStatus[]> = new Map()
  return [
    () => {
      byTarget = statusesByTarget(view.allTargets())
    },
    ...chosenFirst(history, chosen).map((target) => () => {
      const own = byTarget.get(target) ?? []
      const [part] = partSummaries(own, view.parts.slice(0, 1), data.measure)
      const rivalry = target === chosen ? null : headToHead(own, byTarget.get(chosen) ?? [])
      const days = daily(history, target, data.measure, firstKnown(view))
      if (part !== undefined) rows.push({ ...part, target, rivalry, days })
    }),
    () => {
      place.append(
        html('div', 'target-figures', simpleTable(say.competitors.figuresLabel, rows, columnsOf(view, rows))),
      )
      const [first] = rows
      if (first !== undefined && isSame(rows.map(checked)))
        place.append(note(say.competitors.checkedAll(checked(first))))
    },
  ]
}

function checked({ coverage }: TargetFiguresRow): string {
  return say.competitors.ofKeywords(coverage.observed, coverage.expected)
}

function isSame(all: readonly string[]): boolean {
  return new Set(all).size <= 1
}

function columnsOf(
  { history, data, filters }: View,
  rows: readonly TargetFiguresRow[],
): readonly SimpleColumn<TargetFiguresRow>[] {
  const words = say.competitors
  const { targets } = history
  const chosen = targets[filters.target]
  const beats = chosen?.own ? words.beatsYou : words.beats(chosen?.label ?? '')
  const shown = data.serps.filter(({ day }) => day === history.days.length - 1)
  const shares = serpSharesOfVoice(shown, targets.length, { history, curve: data.measure.curve })
  const headlines = pageMetrics.filter(
    ({ name, needs }) => needs === undefined || rows.some((one) => one.figures[name].value !== null),
  )
  return [
    {
      title: words.site,
      cell: ({ target }) =>
        targetName(history, target, targets[target]?.own ? html('span', 'badge', words.own) : null),
    },
    ...headlines.map(({ name }) =>
      figures<TargetFiguresRow>(shortMetricLabel(name), ({ figures, days }) => {
        const { value, cohort } = figures[name]
        const swing = isSwing(name, figures[name], days) ? 'usual' : 'more'
        return withDelta(name, value, cohort?.delta ?? null, swing)
      }),
    ),
    ...(shown.length === 0
      ? []
      : [
          figures<TargetFiguresRow>(
            words.topTenShare,
            ({ target }) => metricText('serp_share_of_voice', shares.of(target).value),
            ' wide',
          ),
        ]),
    ...([3, 10] as const).map((rank) =>
      figures<TargetFiguresRow>(
        words.top(rank),
        ({ distribution }) => number(top(distribution, rank)),
        rank === 3 ? ' wide' : '',
      ),
    ),
    ...(isSame(rows.map(checked))
      ? []
      : [
          parts<TargetFiguresRow>(
            words.checked,
            ({ coverage }) => [coverage.observed, coverage.expected],
            ' wide',
          ),
        ]),
    ...(rows.some(({ rivalry }) => rivalry !== null && rivalry.won + rivalry.lost > 0)
      ? [
          figures<TargetFiguresRow>(beats, ({ rivalry }) => {
            if (rivalry === null) return noValue(words.itself)
            const { won, lost, tied, neither, undecided } = rivalry
            return html(
              'span',
              { title: words.beatsNote(tied, neither, undecided) },
              words.ofKeywords(won, won + lost),
            )
          }),
        ]
      : []),
  ]
}
