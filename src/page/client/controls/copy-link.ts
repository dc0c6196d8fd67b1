import { copyText } from '../clipboard.ts'
import { button, html } from '../dom.ts'
import { say } from '../language.ts'

/** Milliseconds for which the button says that it did it. */
const shownFor = 2_500

/** Copies the address of what is shown. Where the browser refuses that, it shows the address, selected. */
export function copyLink(): {
  readonly element: HTMLElement
  /** Takes away the address, which is an old one when something else is shown. */
  readonly close: () => void
} {
  const words = say.header
  const said = html('span', { class: 'sr-only', role: 'status' })
  const field = html('input', { class: 'link-field', readonly: true, 'aria-label': words.linkToCopy })
  field.hidden = true
  const copy = button('quiet copy-link', press, {}, words.copyLink)
  return {
    element: html('span', 'copying', copy, field, said),
    close: () => {
      field.hidden = true
    },
  }

  async function press(): Promise<void> {
    const link = location.href
    if (await copyText(link)) tell()
    else {
      field.hidden = false
      field.value = link
      field.select()
    }
  }

  function tell(): void {
    copy.textContent = words.linkCopied
    said.textContent = words.linkCopied
    setTimeout(() => {
      copy.textContent = words.copyLink
      said.textContent = ''
    }, shownFor)
  }
}
