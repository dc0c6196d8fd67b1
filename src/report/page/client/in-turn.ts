type Step = () => void

/**
 * Does the steps given last one by one, letting the browser draw and listen between them: what is far down the page need
 * not hold up what is on the screen. Paper waits for all of them.
 */
export function inTurn(): (steps: readonly Step[]) => void {
  let waiting: readonly Step[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  window.addEventListener('beforeprint', () => {
    for (const step of waiting) step()
    waiting = []
  })
  return (steps) => {
    clearTimeout(timer)
    waiting = steps
    timer = setTimeout(go)
  }

  function go(): void {
    const [first, ...rest] = waiting
    if (first === undefined) return
    waiting = rest
    first()
    timer = setTimeout(go)
  }
}
