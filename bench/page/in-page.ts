/** Scripts that run in the page, as texts: this program knows no browser. */

/** Marks the end of the frame after the next one. */
export function settled(mark: string): string {
  return `new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
      performance.mark('${mark}')
      done()
    })))
  })`
}

/** Chooses the first tag, or types the first letters of the first keyword; done after the frame that shows other figures and rows. */
export function choosing(field: string): string {
  return `new Promise((done) => {
    const parts = ['.found', '.cards', '#keywords tbody:not(.spacer)']
    const seen = () => parts.map((part) => document.querySelector(part)?.textContent)
    const before = seen()
    const input = document.querySelector('${field}')
    const letters = document.querySelector('#keywords tbody bdi').textContent.slice(0, 4)
    const observer = new MutationObserver(() => {
      if (seen().some((one, place) => one === before[place])) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => {
        performance.mark('shown')
        done()
      }))
    })
    observer.observe(document.getElementById('report'), { childList: true, subtree: true, characterData: true })
    setTimeout(() => {
      performance.mark('chosen')
      const isList = input.tagName === 'SELECT'
      input.value = isList ? input.options[1].value : letters
      input.dispatchEvent(new Event(isList ? 'change' : 'input', { bubbles: true }))
    })
  })`
}

/** Chooses all keywords again. */
export const reset = "document.querySelector('.outcome button').click()"

/** Whether the browser knows when it showed the first text. */
export const isSeen = "performance.getEntriesByName('first-contentful-paint').length > 0"
