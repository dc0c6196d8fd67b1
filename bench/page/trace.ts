import type { Page } from 'puppeteer-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds, of a clock that all processes share. */
  readonly ts: number
  readonly dur?: number
  /** Microseconds of processor. */
  readonly tdur?: number
  readonly args?: { readonly chrome_mojo_event_info?: { readonly mojo_interface_tag?: string } }
}

/** What Chromium wrote down while a page did something. */
export class Trace {
  readonly #events: readonly TraceEvent[]

  constructor(events: readonly TraceEvent[]) {
    this.#events = events.toSorted((a, b) => a.ts - b.ts)
  }

  /** Milliseconds of processor of the main thread until it handed on the frame that shows the first text or picture. */
  firstPaint(): number {
    const seen = this.#last('firstContentfulPaint')
    const frame = this.#ownOf(seen).findLast(({ name, ts }) => name === 'Layerize' && ts < seen.ts)
    if (frame === undefined) throw new Error('The trace has no frame before the first text')
    return this.#busy(this.#navigation(seen), frame)
  }

  /** Milliseconds of processor of the main thread from the navigation to a mark. */
  until(mark: string): number {
    const end = this.#last(mark)
    return this.#busy(this.#navigation(end), end)
  }

  /** Milliseconds of processor of the main thread from one mark to another. */
  between(from: string, to: string): number {
    return this.#busy(this.#last(from), this.#last(to))
  }

  /** The last moment of this name. */
  #last(wanted: string, events = this.#events): TraceEvent {
    const found = events.findLast(({ name, ph }) => name === wanted && ph !== 'X')
    if (found === undefined) throw new Error(`The trace has no ${wanted}`)
    return found
  }

  /** Where the page of an event began. */
  #navigation(event: TraceEvent): TraceEvent {
    return this.#last(
      'navigationStart',
      this.#ownOf(event).filter(({ ts }) => ts < event.ts),
    )
  }

  #ownOf({ pid, tid }: TraceEvent): readonly TraceEvent[] {
    return this.#events.filter((one) => one.pid === pid && one.tid === tid)
  }

  /** Tasks count whole if they began in between, or went on when it began. What this program asks of the page does not count. */
  #busy(from: TraceEvent, to: TraceEvent): number {
    const within = this.#ownOf(from).filter(
      (one) => one.ph === 'X' && one.ts < to.ts && one.ts + (one.dur ?? 0) > from.ts,
    )
    const tasks = within.filter(({ name }) => name === task)
    const asked = within.filter(({ args }) => args?.chrome_mojo_event_info?.mojo_interface_tag === devTools)
    return (processorTime(tasks) - processorTime(asked)) / 1000
  }
}

function processorTime(events: readonly TraceEvent[]): number {
  return events.reduce((sum, { tdur = 0 }) => sum + tdur, 0)
}

/** What a thread of Chromium does in one turn. */
const task = 'ThreadControllerImpl::RunTask'
/** Asks of puppeteer come by it. */
const devTools = 'blink.mojom.DevToolsSession'
const includedCategories = ['toplevel', 'loading', 'blink.user_timing', 'devtools.timeline']

/** Traces what a page does; other tabs should have nothing to do. */
export async function traced(page: Page, act: () => Promise<void>): Promise<Trace> {
  const session = await page.createCDPSession()
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories, excludedCategories: ['*'] },
  })
  await act()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  return new Trace(events)
}
