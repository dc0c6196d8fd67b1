import type { PageData } from '../../../report/data.ts'
import { hasTab, savedView, targetsOfView } from '../../../report/presentation/presentation.ts'
import { button, html } from '../dom.ts'
import { type Filters, noFilters } from '../filters.ts'
import { say } from '../language.ts'

/** Tabs of the saved views of the job, all keywords first; null if there are none. */
export function viewTabs(data: PageData, choose: (change: Partial<Filters>) => void) {
  const views = data.presentation.views.filter((view) => hasTab(view, data.history))
  if (views.length === 0 || data.history.targets.length === 0) return null
  let period: Pick<Filters, 'period' | 'compare'> = noFilters
  const tabs = ['', ...views.map(({ name }) => name)].map((name) => {
    const [target = 0] = targetsOfView(data.history, savedView(data, name))
    const open = (): void => choose({ ...noFilters, ...period, view: name, target })
    const text = name === '' ? say.filters.allKeywords : name
    return { name, tab: button('tab', open, {}, html('bdi', '', text)) }
  })
  return {
    element: html(
      'div',
      { class: 'views', role: 'region', 'aria-label': say.filters.views },
      ...tabs.map(({ tab }) => tab),
    ),
    show: ({ view, period: days, compare }: Filters): void => {
      period = { period: days, compare }
      for (const { name, tab } of tabs) tab.setAttribute('aria-pressed', String(name === view))
    },
  }
}
