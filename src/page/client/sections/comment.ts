import type { Comment } from '../../../report/presentation/presentation.ts'
import { html } from '../dom.ts'
import { say } from '../language.ts'

/** The words of the analyst, on top of the page. */
export function comment({ html: harmless }: Comment): HTMLElement {
  const text = html('div', 'comment-text')
  // The one HTML that is not made of elements here: `commentOf` has made it harmless, and the policy of the page runs nothing in it.
  text.innerHTML = harmless
  return html('section', { class: 'comment', 'aria-label': say.brand.comment }, text)
}
