import { h, unsaid, unseen } from '../dom.ts'

/** A cell in which there is nothing, and why. */
export function noValue(why: string): HTMLElement {
  return h('span', { class: 'none' }, unsaid('–'), unseen(why))
}
