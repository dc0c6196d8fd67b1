import type { RunQuality } from '../../../../model/run.ts'
import { html } from '../dom.ts'
import { count, mediumDay, number } from '../format.ts'
import { grid } from '../table/grid.ts'
import type { GridColumn } from '../table/simple-table.ts'
import type { View } from '../view.ts'
import { empty, section } from './section.ts'

const endLabels: Readonly<Record<string, string>> = {
  completed: 'completed',
  completed_with_failures: 'some tasks failed',
  budget: 'stopped: budget',
  balance: 'stopped: balance',
  quota: 'stopped: quota',
  auth: 'stopped: key refused',
  unavailable: 'stopped: service down',
  interrupted: 'interrupted',
  crashed: 'crashed',
}

/** How the runs ended and what they cost. */
export function runs({ data }: View): HTMLElement {
  const head = { id: 'runs', title: 'Runs' }
  const none = 'No run on the selected days.'
  if (data.runs.length === 0) return section(head, empty(none))
  const table = grid<RunQuality>({
    label: 'Runs',
    order: { by: 'run', descending: true },
    empty: none,
    columns: [
      {
        key: 'run',
        title: 'Day',
        value: ({ run }) => run,
        cell: ({ date, run }) =>
          html('span', '', mediumDay(date), html('span', 'about wide', `  run ${run}`)),
      },
      {
        key: 'end',
        title: 'Ended',
        class: 'end wide',
        value: ({ finishReason }) => finishReason ?? '',
        cell: ({ finishReason }) =>
          finishReason === null ? 'running' : (endLabels[finishReason] ?? finishReason),
      },
      {
        key: 'done',
        title: 'Tasks done',
        class: 'figure broad',
        value: ({ tasks }) => tasks.done,
        cell: ({ tasks }) => `${number(tasks.done)} of ${number(tasks.planned)}`,
      },
      {
        key: 'failed',
        title: 'Failed',
        class: 'figure',
        value: ({ tasks }) => tasks.failed,
        cell: ({ tasks }) => (tasks.failed === 0 ? '0' : html('b', '', number(tasks.failed))),
      },
      amount('spent', 'Credits', 'figure'),
      amount('ambiguous', 'Possibly billed', 'figure broad wide'),
    ],
  })
  table.show(data.runs)
  return section({ ...head, lead: leadOf(data.runs) }, table.element)
}

function amount(key: 'spent' | 'ambiguous', title: string, className: string): GridColumn<RunQuality> {
  return { key, title, class: className, value: (run) => run[key], cell: (run) => number(run[key]) }
}

function leadOf(all: readonly RunQuality[]): string {
  const sum = (pick: (run: RunQuality) => number): number => all.reduce((total, run) => total + pick(run), 0)
  const [planned, failed] = [sum(({ tasks }) => tasks.planned), sum(({ tasks }) => tasks.failed)]
  const [spent, ambiguous] = [sum((run) => run.spent), sum((run) => run.ambiguous)]
  const mismatched = sum((run) => run.mismatched ?? 0)
  return [
    `${count(all.length, 'run')} spent ${count(spent, 'credit')}${ambiguous === 0 ? '' : `; possibly billed: ${count(ambiguous, 'credit')} more`}.`,
    `${number(failed)} of ${count(planned, 'task')} failed.`,
    ...(mismatched === 0
      ? []
      : [
          `${count(mismatched, 'answer')} repeated another query than the one sent. Ranks from them may be wrong.`,
        ]),
  ].join(' ')
}
