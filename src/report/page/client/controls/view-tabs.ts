import type { PageData } from '../../data.ts'
import { button, html } from '../dom.ts'
import type { Filters } from '../filters.ts'
import { say } from '../language.ts'

/** The saved views of the job, one of which can be chosen; null if it has none. */
export function viewTabs(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { views } = data.presentation
  if (views.length === 0 || data.history.targets.length === 0) return null
  const tabs = ['', ...views.map(({ name }) => name)].map((view) => {
    const press = (): void => choose({ view, ...targetOf(view) })
    return { view, element: button('tab', press, {}, view === '' ? say.filters.all : html('bdi', '', view)) }
  })
  return {
    element: html(
      'div',
      { class: 'views', role: 'group', 'aria-label': say.filters.views },
      ...tabs.map(({ element }) => element),
    ),
    show: ({ view: chosen }: Filters): void => {
      for (const { view, element } of tabs) element.setAttribute('aria-pressed', String(view === chosen))
    },
  }

  /** The first target of a view that names targets: one of others has nothing in it. */
  function targetOf(view: string): Partial<Filters> {
    const { targets = [] } = views.find(({ name }) => name === view) ?? {}
    const first = data.history.targets.findIndex(
      ({ label, site }) => targets.includes(label) || targets.includes(site),
    )
    return first === -1 ? {} : { target: first }
  }
}
