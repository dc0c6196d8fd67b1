import type { Standing } from '../../../cohort.ts'
import { h } from '../dom.ts'
import { count } from '../format.ts'
import type { View } from '../view.ts'
import { keywordDetail } from './detail.ts'

export interface Sheet {
  readonly element: HTMLDialogElement
  open(view: View, standing: Standing, all: readonly Standing[]): void
}

/** The dialog with everything about one keyword. It gives the focus back to where it was. */
export function keywordSheet(): Sheet {
  const title = h('h2', { id: 'sheet-title', tabindex: -1 })
  const place = h('p', { class: 'place' })
  const body = h('div', { class: 'sheet-body' })
  const dialog = h('dialog', { class: 'sheet', 'aria-labelledby': 'sheet-title' })
  const before = step('Previous keyword', '↑', -1)
  const after = step('Next keyword', '↓', 1)
  const close = h(
    'button',
    { type: 'button', class: 'icon', 'aria-label': 'Close', on: { click: () => dialog.close() } },
    '✕',
  )
  dialog.append(
    h(
      'header',
      { class: 'sheet-head' },
      title,
      h('div', { class: 'sheet-tools' }, place, before, after, close),
    ),
    body,
  )
  let show: (index: number) => void = () => {}
  let index = 0
  // What lies beside the sheet is the dialog itself: its backdrop.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  return {
    element: dialog,
    open: (view, standing, all) => {
      show = (next) => {
        const one = all[next]
        if (one === undefined) return
        index = next
        title.replaceChildren(h('bdi', {}, one.keyword.query))
        place.textContent = `${next + 1} of ${count(all.length, 'keyword')}`
        before.disabled = next === 0
        after.disabled = next === all.length - 1
        body.replaceChildren(keywordDetail(view, one))
        body.scrollTop = 0
      }
      show(Math.max(0, all.indexOf(standing)))
      dialog.showModal()
      title.focus()
    },
  }

  function step(label: string, sign: string, by: number): HTMLButtonElement {
    return h(
      'button',
      { type: 'button', class: 'icon', 'aria-label': label, on: { click: () => show(index + by) } },
      sign,
    )
  }
}
