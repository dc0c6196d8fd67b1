import type { RunQuality } from '../../../../model/run.ts'
import { h } from '../dom.ts'
import { count, mediumDay, number } from '../format.ts'
import { type GridView, grid } from '../table/grid.ts'
import type { View } from '../view.ts'
import { empty, section } from './section.ts'

const ends: Readonly<Record<string, string>> = {
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

/** How the runs went, and what they cost. */
export function runs({ data }: View): HTMLElement {
  const head = { id: 'runs', title: 'Runs' }
  if (data.runs.length === 0) return section(head, empty('No run lies in the days in sight.'))
  const table: GridView<RunQuality> = grid<RunQuality>({
    label: 'Runs',
    order: { by: 'run', descending: true },
    empty: 'No run lies in the days in sight.',
    columns: [
      {
        key: 'run',
        title: 'Day',
        value: ({ run }) => run,
        cell: ({ date, run }) =>
          h('span', {}, mediumDay(date), h('span', { class: 'about wide' }, `  run ${run}`)),
      },
      {
        key: 'end',
        title: 'Ended',
        class: 'end wide',
        value: ({ finishReason }) => finishReason ?? '',
        cell: ({ finishReason }) =>
          finishReason === null ? 'goes on' : (ends[finishReason] ?? finishReason),
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
        cell: ({ tasks }) => (tasks.failed === 0 ? '0' : h('b', {}, number(tasks.failed))),
      },
      {
        key: 'spent',
        title: 'Credits',
        class: 'figure',
        value: ({ spent }) => spent,
        cell: ({ spent }) => number(spent),
      },
      {
        key: 'ambiguous',
        title: 'Ambiguous',
        class: 'figure wide',
        value: ({ ambiguous }) => ambiguous,
        cell: ({ ambiguous }) => number(ambiguous),
      },
    ],
  })
  table.show(data.runs)
  return section({ ...head, lead: leadOf(data.runs) }, table.element)
}

function leadOf(all: readonly RunQuality[]): string {
  const sum = (pick: (run: RunQuality) => number): number => all.reduce((total, run) => total + pick(run), 0)
  const planned = sum(({ tasks }) => tasks.planned)
  const failed = sum(({ tasks }) => tasks.failed)
  const ambiguous = sum((run) => run.ambiguous)
  const unclear =
    ambiguous === 0 ? '' : `, and ${count(ambiguous, 'credit')} of calls whose outcome is not known`
  return `${count(all.length, 'run')} spent ${count(
    sum(({ spent }) => spent),
    'credit',
  )}${unclear}. ${number(failed)} of ${count(planned, 'task')} failed.${otherwise(all)}`
}

/** Says of how many answers the ranks are suspect. */
function otherwise(all: readonly RunQuality[]): string {
  const answers = all.reduce((total, { mismatched = 0 }) => total + mismatched, 0)
  if (answers === 0) return ''
  return ` ${count(answers, 'answer')} repeated another question than asked: the ranks that rest on them are suspect.`
}
