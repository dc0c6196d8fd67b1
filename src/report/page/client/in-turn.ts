type Step = () => void

export interface InTurn {
  /** Does the steps given last, and forgets those before. */
  do(steps: readonly Step[]): void
  /** Does at once what is left to do. */
  finish(): void
}

/**
 * Does steps one by one when the browser has nothing else to do, letting it draw and listen between them: what is far down
 * the page need not hold up what is on the screen. Paper waits for all of them.
 */
export function inTurn(): InTurn {
  let waiting: readonly Step[] = []
  let stop = (): void => {}
  window.addEventListener('beforeprint', finish)
  return {
    do: (steps) => {
      stop()
      waiting = steps
      stop = whenIdle(go)
    },
    finish,
  }

  function finish(): void {
    stop()
    const steps = waiting
    waiting = []
    for (const step of steps) step()
  }

  function go(): void {
    const [first, ...rest] = waiting
    if (first === undefined) return
    waiting = rest
    first()
    stop = whenIdle(go)
  }
}

/** Longer than that nothing waits, however busy the browser is. */
const timeout = 300

/** Calls back as soon as there is time, and gives the way to call that off. Safari does not say when it has time. */
function whenIdle(step: Step): Step {
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(step)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(step, { timeout })
  return () => cancelIdleCallback(handle)
}
