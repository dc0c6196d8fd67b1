import { inflated, pageScriptId, undrawn } from '../packed.ts'

/**
 * Runs before anything is shown. What stands in the file is not shown where its address asks for
 * something else. The script that draws the page is a text until the rest is shown, which it would delay by being compiled.
 */
const { classList } = document.documentElement
const isAsWritten = location.hash === ''
if (!isAsWritten) classList.add(undrawn)
addEventListener('DOMContentLoaded', async () => {
  if (isAsWritten) await painted()
  const script = document.createElement('script')
  script.type = 'module'
  script.text = await inflated(document.getElementById(pageScriptId)?.textContent ?? '')
  document.body.append(script)
})

/** Resolves when the browser has shown what there is, or takes too long. A tab in the background shows nothing, so it does not wait. */
function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    setTimeout(resolve, 500)
    new PerformanceObserver(() => resolve()).observe({ type: 'paint', buffered: true })
  })
}
