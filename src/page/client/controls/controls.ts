import type { PageData } from '../../../report/data.ts'
import { partKey, partLabel, partsOf } from '../../../report/history/filter-history.ts'
import { savedView, targetsOfView } from '../../../report/presentation/presentation.ts'
import { button, html } from '../dom.ts'
import { countSet, type FilterKey, type Filters, noFilters } from '../filters.ts'
import { say } from '../language.ts'
import { localeOf } from '../text.ts'
import type { View } from '../view.ts'
import { field, inputField, type Option, type SelectField } from './field.ts'
import { periodFields } from './period-fields.ts'
import { tagPicker } from './tag-picker.ts'

/** Milliseconds; long enough that typing does not wait for drawing. */
const typingPause = 120

type Select = Exclude<FilterKey, 'text' | 'view' | 'movement' | 'period' | 'compare'>

/** The fields of the filters. */
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
  const selects: Readonly<Record<Select, SelectField>> = {
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
  let view = noFilters.view
  const found = html('p', { class: 'found', role: 'status' })
  const reset = button(
    'quiet',
    () => choose({ ...noFilters, target: Number(target.select.value), view }),
    {},
    words.reset,
  )
  const more = button('quiet more', toggle, { 'aria-expanded': 'false', 'aria-controls': 'filters' })
  const useful = [tags, ...Object.values(selects)].filter((one) => one.useful)
  const bar = html(
    'div',
    { class: 'filters', id: 'filters' },
    text.element,
    ...useful.map(({ element }) => element),
    ...period.elements,
  )
  const attributes = { class: 'controls', role: 'search', 'aria-label': words.label }
  const outcome = html('div', 'outcome', found, reset)
  const form = html('form', attributes, target.element, more, bar, outcome, tags.chips)
  form.addEventListener('submit', (event) => event.preventDefault())
  return {
    element: form,
    /** Shows the filters in the fields, and how many keywords match. */
    show: ({ filters, parts }: View, what: string): void => {
      view = filters.view
      const shown = targetsOfView(data.history, savedView(data, view))
      for (const [place, option] of [...target.select.options].entries())
        option.hidden = option.disabled = !shown.includes(place)
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
      const set = countSet(filters)
      // It keeps its space, so that nothing next to it moves.
      reset.classList.toggle('away', set === 0)
      more.textContent = words.set(set)
      found.textContent = what
    },
  }

  function toggle(): void {
    const open = more.getAttribute('aria-expanded') !== 'true'
    more.setAttribute('aria-expanded', String(open))
    bar.classList.toggle('open', open)
    // The bar may have its place above the window.
    if (open) form.scrollIntoView({ block: 'nearest' })
  }
}

function any(values: readonly string[]): readonly Option[] {
  return [['', say.filters.all], ...values.map((value): Option => [value, value])]
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort()
}
