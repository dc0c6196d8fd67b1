// Rules of the page are tested outside a browser, where there are no media.
const print = globalThis.matchMedia?.('print')
/** Screens on which names have two lines, as in the style sheet. */
export const narrow = globalThis.matchMedia?.('screen and (max-width: 760px)')
/** Set by events, because in Safari the media query does not change for a print. */
let isAboutToPrint = false

/** Whether the page is on paper now. */
export function isPrinted(): boolean {
  return isAboutToPrint || print.matches
}

const reactions = new WeakMap<Element, () => void>()

/** Calls back before and after a print, and when a screen becomes narrow or wide. Removed elements are forgotten. */
export function onMedium(element: Element, react: () => void): void {
  element.setAttribute('data-medium', '')
  reactions.set(element, react)
}

function redrawAll(): void {
  for (const element of document.querySelectorAll('[data-medium]')) reactions.get(element)?.()
}

for (const medium of [print, narrow]) medium?.addEventListener('change', redrawAll)
for (const [event, isBefore] of [
  ['beforeprint', true],
  ['afterprint', false],
] as const)
  globalThis.window?.addEventListener(event, () => {
    isAboutToPrint = isBefore
    redrawAll()
  })
