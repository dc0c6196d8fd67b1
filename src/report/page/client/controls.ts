import { partKey, partLabel, partsOf } from '../../history/parts.ts'
import type { PageData } from '../data.ts'
import { button, html } from './dom.ts'
import { comparisons, type FilterKey, type Filters, filterKeys, isDayAllowed, noFilters } from './filters.ts'
import { capitalised, mediumDay, shortDay } from './format.ts'
import { say } from './language.ts'
import { localeOf, movementGroups, movementLabels } from './text.ts'

type Option = readonly [value: string, text: string]

/** Milliseconds; long enough that typing does not wait for drawing. */
const typingPause = 120

/** The fields of the filters. */
export function controls(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { targets, keywords, days } = data.history
  const target = field(
    'target',
    'Target',
    targets.map(({ label, own }, place) => [String(place), own ? label : `${label} (competitor)`]),
  )
  target.select.addEventListener('change', () => choose({ target: Number(target.select.value) }))
  const text = html('input', {
    type: 'search',
    id: 'choose-text',
    placeholder: 'Query',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  let pause: ReturnType<typeof setTimeout> | undefined
  text.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(() => choose({ text: text.value.trim() }), typingPause)
  })
  const years = new Set(days.map((day) => day.slice(0, 4)))
  const dayText = years.size > 1 ? mediumDay : shortDay
  const dayOptions: readonly Option[] = days.map((day) => [day, dayText(day)] as const).toReversed()
  const selects: Readonly<Record<Exclude<FilterKey, 'text'>, Field>> = {
    tag: field('tag', 'Tag', any('All', distinct(keywords.flatMap(({ tags }) => tags)))),
    operation: field('operation', 'Engine', any('All', distinct(keywords.map((one) => one.operation)))),
    locale: field('locale', 'Locale', any('All', distinct(keywords.map(localeOf)))),
    part: field('part', 'Figures of', [
      ['', 'Headline'],
      ...partsOf(data.history).map((one): Option => [partKey(one), partLabel(one, say)]),
    ]),
    movement: field('movement', 'Movement', [
      ['', 'All'],
      ...movementGroups.map((name): Option => [name, capitalised(movementLabels[name])]),
    ]),
    from: field('from', 'From', [['', 'First'], ...dayOptions]),
    to: field('to', 'To', [['', 'Latest'], ...dayOptions]),
    compare: field('compare', 'Compared with', [
      ['', data.compare === null ? 'Nearest before' : shortDay(data.compare.day)],
      ...Object.entries(comparisons),
    ]),
  }
  for (const [key, { select }] of Object.entries(selects))
    select.addEventListener('change', () => choose({ [key]: select.value }))
  const found = html('p', { class: 'found', role: 'status' })
  const reset = button(
    'quiet',
    () => choose({ ...noFilters, target: Number(target.select.value) }),
    {},
    'Reset',
  )
  const more = button('quiet more', toggle, { 'aria-expanded': 'false', 'aria-controls': 'filters' })
  const shown = Object.values(selects).filter(({ useful }) => useful)
  const bar = html(
    'div',
    { class: `filters${years.size > 1 ? ' several-years' : ''}`, id: 'filters' },
    html('div', 'field choose-text', html('label', { for: 'choose-text' }, 'Search'), text),
    ...shown.map((one) => one.element),
  )
  const attributes = { class: 'controls', role: 'search', 'aria-label': 'Filters' }
  const outcome = html('div', 'outcome', found, reset)
  const form = html('form', attributes, target.element, more, bar, outcome)
  form.addEventListener('submit', (event) => event.preventDefault())
  return {
    element: form,
    /** Shows the filters in the fields, and how many keywords match. */
    show: (filters: Filters, what: string): void => {
      target.select.value = String(filters.target)
      if (text.value.trim() !== filters.text) text.value = filters.text
      for (const [key, { select }] of Object.entries(selects)) select.value = filters[key as FilterKey]
      for (const end of ['from', 'to'] as const)
        for (const option of selects[end].select.options)
          option.disabled = !isDayAllowed(end, option.value, filters)
      const chosen = filterKeys.filter((key) => filters[key] !== '')
      for (const [key, { element }] of Object.entries(selects))
        element.classList.toggle('set', filters[key as FilterKey] !== '')
      // It keeps its space, so that nothing next to it moves.
      reset.classList.toggle('away', chosen.length === 0)
      more.textContent = chosen.length === 0 ? 'Filters' : `Filters (${chosen.length})`
      found.textContent = what
    },
  }

  function toggle(): void {
    const open = more.getAttribute('aria-expanded') !== 'true'
    more.setAttribute('aria-expanded', String(open))
    bar.classList.toggle('open', open)
  }
}

interface Field {
  readonly element: HTMLElement
  readonly select: HTMLSelectElement
  /** Whether there is anything to choose. */
  readonly useful: boolean
}

function field(name: string, label: string, options: readonly Option[]): Field {
  const id = `choose-${name}`
  const select = html('select', { id }, ...options.map(([value, text]) => html('option', { value }, text)))
  const element = html('div', `field choose-${name}`, html('label', { for: id }, label), select)
  return { element, select, useful: options.length > 2 }
}

function any(all: string, values: readonly string[]): readonly Option[] {
  return [['', all], ...values.map((value): Option => [value, value])]
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort()
}
