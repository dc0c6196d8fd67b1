import type { RunQuality } from '../../../model/run.ts'
import { html } from '../dom.ts'
import { mediumDay, number } from '../format.ts'
import { say } from '../language.ts'
import { grid } from '../table/grid.ts'
import type { GridColumn } from '../table/simple-table.ts'
import type { View } from '../view.ts'
import { empty, section } from './section.ts'

/** How the runs ended and what they cost. */
export function runs({ data }: View): HTMLElement {
  const { title, none, columns, ends, running } = say.runs
  const head = { id: 'runs', title }
  if (data.runs.length === 0) return section(head, empty(none))
  const table = grid<RunQuality>({
    label: title,
    order: { by: 'run', descending: true },
    empty: none,
    columns: [
      {
        key: 'run',
        title: columns.day,
        value: ({ run }) => run,
        cell: ({ date, run }) =>
          html('span', '', mediumDay(date), html('span', 'about wide', `  ${say.runs.run(run)}`)),
      },
      {
        key: 'end',
        title: columns.ended,
        class: 'end wide',
        value: ({ finishReason }) => finishReason ?? '',
        cell: ({ finishReason }) => (finishReason === null ? running : ends[finishReason]),
      },
      {
        key: 'done',
        title: columns.done,
        class: 'figure broad',
        value: ({ tasks }) => tasks.done,
        cell: ({ tasks }) => say.runs.done(tasks.done, tasks.planned),
      },
      {
        key: 'failed',
        title: columns.failed,
        class: 'figure',
        value: ({ tasks }) => tasks.failed,
        cell: ({ tasks }) => (tasks.failed === 0 ? '0' : html('b', '', number(tasks.failed))),
      },
      amount('spent', columns.credits, 'figure'),
      amount('ambiguous', columns.ambiguous, 'figure broad wide'),
    ],
  })
  table.show(data.runs)
  return section({ ...head, lead: leadOf(data.runs) }, table.element)
}

function amount(key: 'spent' | 'ambiguous', title: string, className: string): GridColumn<RunQuality> {
  return {
    key,
    title,
    class: className,
    value: (run) => run[key],
    cell: (run) => number(run[key]),
  }
}

function leadOf(all: readonly RunQuality[]): string {
  const sum = (pick: (run: RunQuality) => number): number => all.reduce((total, run) => total + pick(run), 0)
  const mismatched = sum((run) => run.mismatched ?? 0)
  return [
    say.runs.spent(
      all.length,
      sum((run) => run.spent),
      sum((run) => run.ambiguous),
    ),
    say.runs.failed(
      sum(({ tasks }) => tasks.failed),
      sum(({ tasks }) => tasks.planned),
    ),
    ...(mismatched === 0 ? [] : [say.runs.mismatched(mismatched)]),
  ].join(' ')
}
