import type { PageData } from '../../page-data.ts'
import { partKey, partsOf, partWords } from '../../parts.ts'
import { type Choice, type ChoiceKey, canBe, choiceKeys, comparisons, noChoice } from './choice.ts'
import { h } from './dom.ts'
import { mediumDay, shortDay } from './format.ts'
import { localeOf } from './keyword/keyword-text.ts'
import { movedNames, movedWords } from './movement-text.ts'

export interface Controls {
  readonly element: HTMLElement
  /** Makes the fields say what is chosen, and what that comes to. */
  show(choice: Choice, found: string): void
}

type Option = readonly [value: string, text: string]

/** Long enough that typing does not wait for drawing. */
const typingPause = 120

/** The fields that choose what is in sight. */
export function controls(data: PageData, choose: (change: Partial<Choice>) => void): Controls {
  const { targets, keywords, days } = data.history
  const target = field(
    'target',
    'Target',
    targets.map(({ label, own }, place) => [String(place), own ? label : `${label} (competitor)`]),
  )
  target.select.addEventListener('change', () => choose({ target: Number(target.select.value) }))
  const text = h('input', {
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
  const selects: Readonly<Record<Exclude<ChoiceKey, 'text'>, Field>> = {
    tag: field('tag', 'Tag', any('All', distinct(keywords.flatMap(({ tags }) => tags)))),
    operation: field('operation', 'Engine', any('All', distinct(keywords.map((one) => one.operation)))),
    locale: field('locale', 'Locale', any('All', distinct(keywords.map(localeOf)))),
    part: field('part', 'Figures of', [
      ['', 'Headline'],
      ...partsOf(data.history).map((one): Option => [partKey(one), partWords(one)]),
    ]),
    movement: field('movement', 'Movement', [
      ['', 'All'],
      ...movedNames.map((name): Option => [name, capital(movedWords[name])]),
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
  const found = h('p', { class: 'found', role: 'status' })
  const reset = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      on: { click: () => choose({ ...noChoice, target: Number(target.select.value) }) },
    },
    'Reset',
  )
  const more = h('button', {
    type: 'button',
    class: 'quiet more',
    'aria-expanded': 'false',
    'aria-controls': 'filters',
  })
  const shown = Object.values(selects).filter(({ useful }) => useful)
  const filters = h(
    'div',
    { class: `filters${years.size > 1 ? ' several-years' : ''}`, id: 'filters' },
    h('div', { class: 'field choose-text' }, h('label', { for: 'choose-text' }, 'Search'), text),
    ...shown.map((one) => one.element),
  )
  more.addEventListener('click', () => {
    const open = more.getAttribute('aria-expanded') !== 'true'
    more.setAttribute('aria-expanded', String(open))
    filters.classList.toggle('open', open)
  })
  return {
    element: h(
      'form',
      {
        class: 'controls',
        role: 'search',
        'aria-label': 'What is in sight',
        on: { submit: (event) => event.preventDefault() },
      },
      target.element,
      more,
      filters,
      h('div', { class: 'outcome' }, found, reset),
    ),
    show: (choice, what) => {
      target.select.value = String(choice.target)
      if (text.value.trim() !== choice.text) text.value = choice.text
      for (const [key, { select }] of Object.entries(selects)) select.value = choice[key as ChoiceKey]
      for (const end of ['from', 'to'] as const)
        for (const option of selects[end].select.options) option.disabled = !canBe(end, option.value, choice)
      const chosen = choiceKeys.filter((key) => choice[key] !== '')
      for (const [key, { element }] of Object.entries(selects))
        element.classList.toggle('set', choice[key as ChoiceKey] !== '')
      // It keeps its room, so that nothing beside it moves.
      reset.classList.toggle('away', chosen.length === 0)
      more.textContent = chosen.length === 0 ? 'Filters' : `Filters (${chosen.length})`
      found.textContent = what
    },
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
  const select = h('select', { id }, ...options.map(([value, text]) => h('option', { value }, text)))
  const element = h('div', { class: `field choose-${name}` }, h('label', { for: id }, label), select)
  return { element, select, useful: options.length > 2 }
}

function any(all: string, values: readonly string[]): readonly Option[] {
  return [['', all], ...values.map((value): Option => [value, value])]
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort()
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
