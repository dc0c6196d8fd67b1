const print = matchMedia('print')
/** Where names have two lines, as the style has it. */
const narrow = matchMedia('screen and (max-width: 760px)')
/** Safari says only so that it is about to print. */
let isAboutToPrint = false

/** Whether the page is on paper now. */
export function isPrinted(): boolean {
  return isAboutToPrint || print.matches
}

/** Whether tables are as long as their rows: a table that scrolls by itself holds the finger that would scroll the page. */
export function isNarrow(): boolean {
  return narrow.matches
}

/** Height of the rows of grids, in pixels. */
export function rowHeight(): number {
  return narrow.matches ? 64 : 48
}

const reactions = new WeakMap<Element, () => void>()

/** Calls back when the page goes on paper, comes back, or has rows of another height. Elements that are gone are forgotten. */
export function onMedium(element: Element, react: () => void): void {
  element.setAttribute('data-medium', '')
  reactions.set(element, react)
}

function tell(): void {
  for (const element of document.querySelectorAll('[data-medium]')) reactions.get(element)?.()
}

print.addEventListener('change', tell)
narrow.addEventListener('change', tell)
window.addEventListener('beforeprint', () => {
  isAboutToPrint = true
  tell()
})
window.addEventListener('afterprint', () => {
  isAboutToPrint = false
  tell()
})
