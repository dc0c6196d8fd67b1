import type { PageData } from '../../../report/data.ts'
import { partKey, partLabel, partsOf } from '../../../report/history/filter-history.ts'
import { hasTab, savedView, targetsOfView } from '../../../report/presentation/presentation.ts'
import { button, html } from '../dom.ts'
import { countSet, type FilterKey, type Filters, noFilters, setLabels } from '../filters.ts'
import { localeOf, say } from '../text.ts'
import type { View } from '../view.ts'
import { field, inputField, type Option, periodFields } from './period-fields.ts'
import { tagPicker } from './tag-picker.ts'

/** Milliseconds; long enough that typing does not wait for drawing. */
const typingPause = 120

type Select = Exclude<FilterKey, 'text' | 'view' | 'movement' | 'period' | 'compare'>

/** One line that says what is shown. It opens the fields that choose it. */
export function controls(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { targets, keywords } = data.history
  const words = say.filters
  const target = field(
    'target',
    words.target,
    targets.map(({ label, own }, place) => [String(place), own ? label : words.competitor(label)]),
  )
  target.select.addEventListener('change', () => choose({ target: Number(target.select.value) }))
  const text = inputField('text', words.search, {
    type: 'search',
    placeholder: words.keyword,
    autocomplete: 'off',
    spellcheck: 'false',
  })
  let pause: ReturnType<typeof setTimeout> | undefined
  text.input.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => choose({ text: text.input.value.trim() }), typingPause)
  })
  const tags = tagPicker(data, choose)
  const selects: Readonly<Record<Select, ReturnType<typeof field>>> = {
    operation: field('operation', words.engine, any(distinct(keywords.map((one) => one.operation)))),
    locale: field('locale', words.locale, any(distinct(keywords.map(localeOf)))),
    part: field('part', words.figuresOf, [
      ['', words.usualPart],
      ...partsOf(data.history).map((one): Option => [partKey(one), partLabel(one, say)]),
    ]),
  }
  for (const [key, { select }] of Object.entries(selects))
    select.addEventListener('change', () => choose({ [key]: select.value }))
  const period = periodFields(data, choose)
  const tabs = viewTabs(data, choose)
  let view = noFilters.view
  const found = html('p', { class: 'found', role: 'status' })
  const reset = button(
    'quiet',
    () => choose({ ...noFilters, target: Number(target.select.value), view }),
    {},
    words.reset,
  )
  const shown = html('bdi')
  const line = button('shown', toggle, { 'aria-expanded': 'false', 'aria-controls': 'filters' }, shown)
  const useful = [tags, ...Object.values(selects)].filter((one) => one.useful)
  const fields = html(
    'div',
    { class: 'filters', id: 'filters', hidden: true },
    text.element,
    ...useful.map(({ element }) => element),
    ...(targets.length > 1 ? [target.element] : []),
    ...period.elements,
  )
  const attributes = { class: 'controls', role: 'search', 'aria-label': words.label }
  const outcome = html('div', 'outcome', found, reset)
  const form = html('form', attributes, tabs?.element, line, outcome, fields, tags.chips)
  form.addEventListener('submit', (event) => event.preventDefault())
  return {
    element: form,
    /** Shows the filters in the fields, and how many keywords match. */
    show: ({ filters, parts }: View, what: string): void => {
      view = filters.view
      tabs?.show(filters)
      const offered = targetsOfView(data.history, savedView(data, view))
      for (const [place, option] of [...target.select.options].entries())
        option.hidden = option.disabled = !offered.includes(place)
      target.select.value = String(filters.target)
      if (text.input.value.trim() !== filters.text) text.input.value = filters.text
      text.element.classList.toggle('set', filters.text !== '')
      tags.show(filters)
      const there = ['', ...parts.map(partKey)]
      for (const option of selects.part.select.options) option.disabled = !there.includes(option.value)
      for (const [key, { select, element }] of Object.entries(selects)) {
        select.value = filters[key as Select]
        element.classList.toggle('set', select.value !== '')
      }
      period.show(filters)
      reset.hidden = countSet(filters) === 0
      const set = setLabels(filters, data)
      shown.textContent = [
        ...(set.length === 0 ? [words.allKeywords] : set),
        ...(data.history.days.length === 0 ? [] : [period.nameOf(filters)]),
      ].join(' · ')
      found.textContent = what
    },
  }

  function toggle(): void {
    fields.hidden = line.getAttribute('aria-expanded') === 'true'
    line.setAttribute('aria-expanded', String(!fields.hidden))
    // The line may have its place above the window.
    if (!fields.hidden) form.scrollIntoView({ block: 'nearest' })
  }
}

/** Tabs of the saved views of the job, all keywords first; null if there are none. */
function viewTabs(data: PageData, choose: (change: Partial<Filters>) => void) {
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
      { class: 'views', role: 'group', 'aria-label': say.filters.views },
      ...tabs.map(({ tab }) => tab),
    ),
    show: ({ view, period: days, compare }: Filters): void => {
      period = { period: days, compare }
      for (const { name, tab } of tabs) tab.setAttribute('aria-pressed', String(name === view))
    },
  }
}

function any(values: readonly string[]): readonly Option[] {
  return [['', say.filters.all], ...values.map((value): Option => [value, value])]
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort()
}
