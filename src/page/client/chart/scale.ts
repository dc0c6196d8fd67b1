/** The vertical axis: its values at the top and at the bottom, and the values with a label. */
export interface Scale {
  readonly top: number
  readonly bottom: number
  readonly ticks: readonly number[]
  /** The value at which the axis would begin, if it begins later. */
  readonly cutFrom?: number
}

const roundSteps = [1, 2, 2.5, 3, 4, 5, 10]

/** A scale from 0 to a round number just above the largest value, in three to five steps. */
export function scaleFromZero(values: readonly (number | null)[], { whole = false } = {}): Scale {
  const most = Math.max(0, ...values.map((value) => value ?? 0)) || (whole ? 3 : 1)
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const fitting = roundSteps
    .map((one) => one * power)
    .filter((step) => !whole || Number.isInteger(step))
    .map((step) => ({ step, steps: Math.ceil(most / step - 1e-9) }))
    .filter(({ steps }) => steps <= 5)
  const { step, steps } = fitting.reduce(
    (best, one) => (one.step * one.steps < best.step * best.steps ? one : best),
    fitting[0] ?? { step: 1, steps: Math.max(1, Math.ceil(most)) },
  )
  return {
    top: steps * step,
    bottom: 0,
    ticks: Array.from({ length: steps + 1 }, (_, index) => index * step),
  }
}

/** A scale of ranks, with rank 1 at the top and the deepest rank at the bottom. */
export function scaleOfRanks(values: readonly (number | null)[]): Scale {
  const deepest = Math.max(10, ...values.map((value) => value ?? 0))
  const step = [5, 10, 20, 50, 100, 200].find((one) => deepest / one <= 5) ?? 500
  const bottom = Math.ceil(deepest / step) * step
  return {
    top: 1,
    bottom,
    ticks: [1, ...Array.from({ length: bottom / step }, (_, index) => (index + 1) * step)],
  }
}

export interface Fit {
  /** The value without which a scale is cut: 0, or rank 1. */
  readonly origin: 0 | 1
  /** Values above do not exist. */
  readonly limit?: number
  /** Whether the smallest value is at the top. */
  readonly inverted?: boolean
  /** Whether only whole numbers have a label. */
  readonly whole?: boolean
}

/** Of the largest value; a smaller change must not look like a large one. */
const leastSpan = 0.2

/**
 * A scale that fits the values. It begins at the origin if the values use at least half of the way from there; otherwise it is
 * cut.
 */
export function fittedScale(values: readonly (number | null)[], fit: Fit): Scale {
  const { origin, limit = Number.POSITIVE_INFINITY, inverted = false, whole = false } = fit
  const known = values.filter((value) => value !== null)
  const least = Math.min(...known)
  const most = known.length === 0 ? origin : Math.max(...known)
  const height = Math.max(most - origin, whole || origin === 1 ? 1 : 0.01)
  const isCut = known.length > 0 && least - origin > height / 2
  const spread = Math.max(most - least, height * leastSpan)
  const middle = (least + most) / 2
  const from = isCut ? middle - spread / 2 : origin
  const to = Math.min(limit, isCut ? middle + spread / 2 : origin + height)
  const step = stepOf((to - from) / 4, whole)
  const first = isCut ? tidy(Math.floor(from / step + 1e-9) * step) : origin
  const begins = Math.max(origin, first)
  const last = Math.min(limit, tidy(Math.ceil(to / step - 1e-9) * step))
  const steps = Array.from({ length: 8 }, (_, index) => tidy((Math.floor(begins / step) + index) * step))
  // Rank 1 has a label, and a tick close to it has none.
  const inside = steps.filter((tick) => tick >= begins + (begins === origin ? step * 0.6 : 0) && tick <= last)
  const ticks = begins === origin ? [origin, ...inside] : inside
  return {
    ...(inverted ? { top: begins, bottom: last } : { top: last, bottom: begins }),
    ticks,
    ...(begins === origin ? {} : { cutFrom: origin }),
  }
}

/** A round step, not smaller than this. */
function stepOf(least: number, whole: boolean): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * 0.999) ?? least
  return tidy(whole ? Math.max(1, step) : step)
}

/** Without the last digits of sums that are not exact. */
function tidy(value: number): number {
  return Number(value.toPrecision(12))
}
