/** The vertical axis: its values at the top and at the bottom, and the values with a label. */
export interface Scale {
  readonly top: number
  readonly bottom: number
  readonly ticks: readonly number[]
}

const roundSteps = [1, 2, 2.5, 3, 4, 5, 10]

/** A scale from 0 to a round number just above the largest value, in three to five steps: a small change looks small. */
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
