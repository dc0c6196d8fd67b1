import type { Progress } from '../collect/collect.ts'
import { count, duration, grouped } from '../model/text.ts'
import { type Clock, systemClock } from '../model/time.ts'
import {
  isScreen,
  liveEveryMs,
  note,
  type StatusLine,
  statusLine,
  type Terminal,
} from '../output/terminal.ts'
import type { JobRead, PlanEvents } from '../run/job-files.ts'

/** Rates are taken over this long. */
const rateWindowMs = 10_000

/** Shows on a terminal what happens while jobs are planned. */
export function planEvents(terminal: Terminal, onMistakes: PlanEvents['onMistakes'] = () => {}): PlanEvents {
  const line = statusLine<JobRead>(
    terminal,
    systemClock,
    ({ job, queries }) => `Reading ${job}: ${count(queries, 'query', 'queries')}`,
  )
  const log = (text: string): void => terminal.log(text, { level: 'error', code: 2 })
  return {
    log,
    logMistake: log,
    onMistakes,
    note: (text) => note(terminal, text),
    ask: terminal.ask ?? null,
    onRead: (read) => (read === null ? line.end() : line.show(read)),
  }
}

/** Shows how far a collection is. */
export function runStatusLine(terminal: Terminal, clock: Pick<Clock, 'monotonic'>): StatusLine<Progress> {
  const rate = slidingRate(clock)
  const line = statusLine<Progress>(terminal, clock, (progress) => progressLine(progress, rate.perSecond()))
  return {
    show: (progress) => {
      rate.note(progress.done + progress.failed)
      line.show(progress)
    },
    end: line.end,
  }
}

const quietMs = 1000

/**
 * Counts rows as they are taken, and shows how many they are: on a terminal, where the work is long, and where the rows
 * themselves do not go there.
 */
export function exportProgress(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, out: string | undefined) {
  const began = clock.monotonic()
  const shows = terminal.status !== null && (out !== undefined || !isScreen(terminal))
  const line = statusLine<number>(terminal, clock, (rows) => exportLine(rows, clock.monotonic() - began))
  return {
    *count<T>(rows: Iterable<T>): Generator<T> {
      let taken = 0
      for (const row of rows) {
        yield row
        taken += 1
        // The clock is not asked for every row.
        if (shows && taken % 1000 === 0 && clock.monotonic() - began >= quietMs) line.show(taken)
      }
    },
    end: line.end,
  }
}

/** One line: rows so far, and rows a second. */
export function exportLine(rows: number, ms: number): string {
  const perSecond = Math.round(rows / (ms / 1000))
  return `${count(rows, 'row')} · ${grouped(perSecond)}/s`
}

/** One line: done, rate, credits, balance, time left. */
export function progressLine(progress: Progress, perSecond: number | null): string {
  const { planned, done, failed, spent, balance } = progress
  const settled = done + failed
  const percent = planned === 0 ? 100 : Math.floor((settled / planned) * 100)
  const left = perSecond === null || perSecond === 0 ? null : (planned - settled) / perSecond
  return [
    `${grouped(settled)}/${grouped(planned)} tasks (${percent} %)`,
    failed === 0 ? null : `${grouped(failed)} failed`,
    perSecond === null ? null : `${perSecond.toFixed(1)}/s`,
    `${grouped(spent)} credits`,
    balance === null ? null : `balance ${grouped(balance)}`,
    left === null ? null : `${duration(left)} left`,
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

function slidingRate(clock: Pick<Clock, 'monotonic'>) {
  let marks: { readonly at: number; readonly settled: number }[] = []
  return {
    note: (settled: number): void => {
      const at = clock.monotonic()
      const last = marks.at(-1)
      if (last !== undefined && at - last.at < liveEveryMs) return
      marks.push({ at, settled })
      marks = marks.filter((mark) => at - mark.at <= rateWindowMs)
    },
    perSecond: (): number | null => {
      const [first] = marks
      const last = marks.at(-1)
      if (first === undefined || last === undefined || last.at === first.at) return null
      return ((last.settled - first.settled) / (last.at - first.at)) * 1000
    },
  }
}
