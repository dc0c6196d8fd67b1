type Step = () => void

export interface InTurn {
  /** Does the steps given last, and forgets those before. */
  do(steps: readonly Step[]): void
  /** Does at once what is left to do. */
  finish(): void
}

/**
 * Does steps one by one, letting the browser draw and listen between them: what is far down the page need not hold up what
 * is on the screen. Paper waits for all of them.
 */
export function inTurn(): InTurn {
  let waiting: readonly Step[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  window.addEventListener('beforeprint', finish)
  return {
    do: (steps) => {
      clearTimeout(timer)
      waiting = steps
      timer = setTimeout(go)
    },
    finish,
  }

  function finish(): void {
    clearTimeout(timer)
    const steps = waiting
    waiting = []
    for (const step of steps) step()
  }

  function go(): void {
    const [first, ...rest] = waiting
    if (first === undefined) return
    waiting = rest
    first()
    timer = setTimeout(go)
  }
}
