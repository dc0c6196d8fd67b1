import type { RunQuality } from '../../../model/run.ts'
import type { Sheet } from '../../../output/xlsx.ts'
import { definitionOf } from '../../headline.ts'
import { kindLabels } from '../../history/parts.ts'
import type { ReportPeriod } from '../../history/period.ts'
import type { RankHistory, TrackedTarget } from '../../history/rank-history.ts'
import { buckets, top } from '../../metrics/distribution.ts'
import type { MetricOptions } from '../../metrics/figure.ts'
import { headlineMetrics, type MetricName } from '../../metrics/index.ts'
import { movementNames } from '../../metrics/movements.ts'
import type { Segment } from '../../segments.ts'
import { linesOf, type PartOfTarget, type Summary, type TargetSummary } from '../../summary.ts'
import { field, type SheetField, sheet } from './sheet.ts'

type ShownPart = Omit<PartOfTarget, 'distribution' | 'movements'>

function targetFields<T extends ShownPart>(): readonly SheetField<T>[] {
  return [
    field('target', 'text', ({ target }) => target.label),
    field('site', 'text', ({ target }) => target.site),
    field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
    field('results', 'text', ({ kind }) => kindLabels[kind], 14),
    field('engine', 'text', ({ engine }) => engine, 8),
    ...(['expected', 'observed', 'ranked'] as const).map((part) =>
      field<T>(part === 'expected' ? 'asked' : part, 'number', ({ coverage }) => coverage[part]),
    ),
    field('known on both days', 'number', ({ knownOnBothDays }) => knownOnBothDays),
    ...headlineMetrics.flatMap(({ name, label, unit }) => {
      const kind = unit === 'share' ? 'percent' : 'decimal'
      return [
        field<T>(label, kind, ({ figures }) => figures[name].value),
        field<T>(`${label}, change`, kind, ({ figures }) => figures[name].cohort?.delta ?? null),
      ]
    }),
  ]
}

/** A row for each target, kind of results and engine: its figures, and its keywords by rank and by movement. */
export function summarySheet(summary: Summary, period: ReportPeriod | null): Sheet {
  const { date, compared, parts, otherParts } = summary
  return sheet<PartOfTarget>(
    'Summary',
    [
      field('date', 'date', () => date),
      field('period from', 'date', () => period?.from ?? null),
      field('period until', 'date', () => period?.until ?? null),
      field('compared from', 'date', () => compared[0] ?? null),
      field('compared to', 'date', () => compared.at(-1) ?? null),
      ...targetFields<PartOfTarget>(),
      ...buckets.map((name) =>
        field<PartOfTarget>(
          /\d/.test(name) ? `rank ${name}` : name,
          'number',
          (one) => one.distribution[name],
        ),
      ),
      ...movementNames.map((name) =>
        field<PartOfTarget>(`moved: ${name}`, 'number', (one) => one.movements[name]),
      ),
    ],
    linesOf(summary, [...parts, ...otherParts]),
  )
}

/** The same figures for each tag; a keyword counts in each of its tags. */
export function tagsSheet(segments: readonly Segment[], { targets }: RankHistory): Sheet {
  const lines = segments.flatMap(({ tag, targets: all }) =>
    all.flatMap(([place, parts]) =>
      parts.map((part) => ({ ...part, tag, target: targets[place] as TrackedTarget })),
    ),
  )
  type SummaryLine = (typeof lines)[number]
  const fields = [
    field<SummaryLine>('tag', 'text', ({ tag }) => tag),
    ...targetFields<SummaryLine>(),
    field<SummaryLine>('top 10', 'number', ({ distribution }) => top(distribution, 10)),
  ]
  return sheet('Tags', fields, lines)
}

type TargetPair = Pick<TargetSummary, 'target'> & { readonly rivalry: TargetSummary['competitors'][number] }

/** Each target against every other target. */
export function competitorsSheet({ targets }: Summary): Sheet {
  const pairs = targets.flatMap(({ target, competitors: against }) =>
    against.map((rivalry): TargetPair => ({ target, rivalry })),
  )
  return sheet<TargetPair>(
    'Competitors',
    [
      field('target', 'text', ({ target }) => target.label),
      field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
      field('against', 'text', ({ rivalry }) => rivalry.other.label),
      ...(['won', 'lost', 'tied', 'neither', 'undecided'] as const).map((name) =>
        field<TargetPair>(name, 'number', ({ rivalry }) => rivalry[name]),
      ),
    ],
    pairs,
  )
}

/** How the last runs ended and what they cost. */
export function runsSheet(runs: readonly RunQuality[]): Sheet {
  return sheet<RunQuality>(
    'Runs',
    [
      field('run', 'number', ({ run }) => run),
      field('date', 'date', ({ date }) => date),
      field('finish_reason', 'text', ({ finishReason }) => finishReason),
      field('tasks_planned', 'number', ({ tasks }) => tasks.planned),
      field('tasks_done', 'number', ({ tasks }) => tasks.done),
      field('tasks_failed', 'number', ({ tasks }) => tasks.failed),
      field('credits_spent', 'number', ({ spent }) => spent),
      field('credits_ambiguous', 'number', ({ ambiguous }) => ambiguous),
      field('mismatched_answers', 'number', ({ mismatched = 0 }) => mismatched),
    ],
    runs,
  )
}

const defined: readonly MetricName[] = [
  ...headlineMetrics.map(({ name }) => name),
  'distribution',
  'movements',
  'gain',
  'best_rank',
  'head_to_head',
  'site_share',
]

/** The definition of every figure, then the CTR curve rank by rank. */
export function definitionsSheet(measure: MetricOptions): Sheet {
  const { name, version, source, rates } = measure.curve
  const all = [
    ...defined.map((metric) => {
      const { label, ...words } = definitionOf(metric, measure)
      return { figure: label, ...words, ctr: null }
    }),
    ...rates.map((ctr, place) => ({
      figure: `CTR(${place + 1})`,
      unit: 'share',
      better: null,
      definition: `click-through rate of rank ${place + 1}: ${name}, ${version}`,
      formula: null,
      denominator: 'searches',
      missing: null,
      source,
      ctr,
    })),
  ]
  return sheet<(typeof all)[number]>(
    'Definitions',
    [
      field('figure', 'text', ({ figure }) => figure),
      field('unit', 'text', ({ unit }) => unit, 14),
      field('better', 'text', ({ better }) => better, 8),
      field('definition', 'text', ({ definition }) => definition, 60),
      field('formula', 'text', ({ formula }) => formula, 50),
      field('denominator', 'text', ({ denominator }) => denominator, 40),
      field('absent and unknown', 'text', ({ missing }) => missing, 50),
      field('source', 'text', ({ source: from }) => from, 50),
      field('CTR', 'percent', ({ ctr }) => ctr),
    ],
    all,
  )
}
