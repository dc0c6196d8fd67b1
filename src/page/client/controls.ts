import { isDay, lengthIn, rangeIn, usualPeriod } from '../../model/settings.ts'
import { offeredComparisons, type PageData } from '../../report/data.ts'
import { partKey, partLabel, partsOf } from '../../report/history/filter-history.ts'
import { type Days, type ReportPeriod, reportPeriod } from '../../report/history/period.ts'
import type { Keyword } from '../../report/history/rank-history.ts'
import { hasTab, savedView, targetsOfView } from '../../report/presentation/presentation.ts'
import { daysInWords } from '../../report/words/period-text.ts'
import { type Attributes, button, html } from './dom.ts'
import {
  countSet,
  type FilterKey,
  type Filters,
  isComparable,
  lastBefore,
  noFilters,
  periodOf,
  periodsIn,
  rangeOf,
  rangeText,
  setLabels,
} from './filters.ts'
import { localeOf, say, tagName } from './text.ts'
import type { View } from './view.ts'

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
  const tags = field('tag', words.tag, [['', words.all], ...tagsOf(keywords).map(tagOption)])
  tags.select.addEventListener('change', () => choose({ tags: tagsIn(tags.select.value) }))
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
  const form = html('form', attributes, tabs?.element, line, outcome, fields)
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
      showTags(filters.tags)
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
        ...(data.history.days.length < 2 ? [] : [period.nameOf(filters)]),
      ].join(' · ')
      found.textContent = what
    },
  }

  /** Several tags, which an address can name, are a choice of their own. */
  function showTags(chosen: readonly string[]): void {
    const { select, element } = tags
    select.querySelector('[value=several]')?.remove()
    const [only = null] = chosen
    if (chosen.length > 1) select.append(...optionsOf([['several', chosen.map(tagName).join(', ')]]))
    select.value = only === null ? '' : chosen.length > 1 ? 'several' : tagOption(only)[0]
    element.classList.toggle('set', chosen.length > 0)
  }

  function toggle(): void {
    fields.hidden = line.getAttribute('aria-expanded') === 'true'
    line.setAttribute('aria-expanded', String(!fields.hidden))
    // The line may have its place above the window.
    if (!fields.hidden) form.scrollIntoView({ block: 'nearest' })
  }
}

/** The tags of keywords in their order; an empty one last, for those without any. */
function tagsOf(keywords: readonly Keyword[]): readonly string[] {
  const all = new Set(keywords.flatMap(({ tags }) => (tags.length === 0 ? [''] : tags)))
  const collator = new Intl.Collator(say.language, { numeric: true })
  return [...all].sort((a, b) => Number(a === '') - Number(b === '') || collator.compare(a, b))
}

/** An empty value is that of all keywords. */
function tagOption(tag: string): Option {
  return [`=${tag}`, tagName(tag)]
}

function tagsIn(value: string): readonly string[] {
  return value === '' ? [] : [value.slice(1)]
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

/** The choice in a list that shows the fields of free days. */
const free = 'free'

/** The fields of the period and of the day that it is compared with. */
function periodFields(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { days } = data.history
  const bounds = { type: 'date', min: days[0] ?? '', max: days.at(-1) ?? '' }
  const period = field('period', say.filters.period, [
    ['', nameOfOwn(data)],
    ...periodsIn(days)
      .filter((one) => periodName(one, data) !== nameOfOwn(data))
      .map((one): Option => [one, periodName(one, data)]),
    [free, say.filters.freeDays],
  ])
  const from = inputField('from', say.filters.from, bounds)
  const until = inputField('until', say.filters.until, bounds)
  const compare = field('compare', say.filters.comparedWith, [])
  const day = inputField('compared-day', say.filters.comparedDay, bounds)
  let shown: ReportPeriod | null = null
  let isFreePeriod = false
  let isFreeDay = false

  period.select.addEventListener('change', () => {
    isFreePeriod = period.select.value === free
    if (!isFreePeriod) choose({ period: period.select.value })
    else if (shown !== null) showEnds(shown)
    reveal()
    if (isFreePeriod) from.input.focus()
  })
  onDay(from.input, (start) => shown !== null && chooseRange(start, until.input.value))
  onDay(until.input, (end) => shown !== null && chooseRange(from.input.value, end))
  compare.select.addEventListener('change', () => {
    isFreeDay = compare.select.value === free
    if (!isFreeDay) choose({ compare: compare.select.value })
    // The day that stands in the field is chosen, too, unless it is before the first one.
    else if (day.input.validity.valid) choose({ compare: day.input.value })
    reveal()
    if (isFreeDay) day.input.focus()
  })
  onDay(day.input, (one) => choose({ compare: one }))
  return {
    /** The period in words. */
    nameOf: ({ period: chosen }: Filters): string =>
      chosen === '' ? nameOfOwn(data) : periodName(chosen, data),
    elements: days.length < 2 ? [] : [period, from, until, compare, day].map(({ element }) => element),
    show: (filters: Filters): void => {
      shown = periodOf(data, filters)
      if (shown === null) return
      isFreePeriod = rangeIn(filters.period) !== null
      isFreeDay = isDay(filters.compare)
      period.select.value = isFreePeriod ? free : filters.period
      // A period of the address that is not on the list, such as 90d.
      if (period.select.selectedIndex === -1) {
        period.select.append(...optionsOf([[filters.period, periodName(filters.period, data)]]))
        period.select.value = filters.period
      }
      showEnds(shown)
      const before = lastBefore(days, shown)
      day.input.max = before
      setDay(day.input, isFreeDay ? filters.compare : (shown.compare?.day ?? before))
      compare.select.replaceChildren(...optionsOf(comparisonsOf(data, filters)))
      compare.select.value = isFreeDay ? free : filters.compare
      period.element.classList.toggle('set', filters.period !== '')
      compare.element.classList.toggle('set', filters.compare !== '')
      reveal()
    },
  }

  function showEnds(ends: Days): void {
    setDay(from.input, ends.from)
    setDay(until.input, ends.until)
  }

  function chooseRange(start: string, end: string): void {
    const range = rangeOf(days, start, end)
    if (range !== null) choose({ period: rangeText(range) })
  }

  function reveal(): void {
    for (const one of [from, until]) one.element.hidden = !isFreePeriod
    day.element.hidden = !isFreeDay
  }
}

/** The comparisons that are offered for a period: those that have something to compare with, each day once. */
function comparisonsOf(data: PageData, filters: Filters): readonly Option[] {
  const { days } = data.history
  const options: Option[] = [['', comparisonName(data.requestedPeriod.compare)]]
  const known = new Set([periodOf(data, { ...filters, compare: '' })?.compare?.day])
  for (const compare of new Set([...offeredComparisons, filters.compare])) {
    if (compare === '' || isDay(compare)) continue
    const found = periodOf(data, { ...filters, compare })
    const isChosen = compare === filters.compare
    if (found === null || (!isChosen && (known.has(found.compare?.day) || !isComparable(days, found))))
      continue
    known.add(found.compare?.day)
    options.push([compare, comparisonName(compare)])
  }
  return [...options, [free, say.filters.freeDay]]
}

function comparisonName(compare: string | null): string {
  if (compare === null) return say.filters.beforePeriod
  if (compare === 'previous-period') return say.filters.previousPeriod
  if (compare === 'year') return say.filters.yearEarlier
  return isDay(compare) ? say.mediumDay(compare) : say.filters.earlier(lengthIn(compare) as number)
}

function nameOfOwn(data: PageData): string {
  const { requestedPeriod, period, history } = data
  if (period === null) return say.filters.period
  if (requestedPeriod.period === 'last-month') return say.month(period.from)
  if (requestedPeriod.period !== null) return periodName(requestedPeriod.period, data)
  const usual = reportPeriod(history.days, { period: usualPeriod, compare: null })
  return periodName(usual?.from === period.from ? usualPeriod : 'all', data)
}

/** A period in words. Months have their names: a report may be read long after its last day. */
function periodName(period: string, { history: { days } }: PageData): string {
  const found = reportPeriod(days, { period, compare: null })
  const length = lengthIn(period)
  if (length !== null) return say.filters.lastDays(length)
  if (period === 'all' || found === null) return say.filters.wholeHistory
  if (period === 'month' || period === 'last-month') return say.month(found.from)
  if (period === 'quarter')
    return say.filters.quarter(Math.ceil(Number(found.from.slice(5, 7)) / 3), found.from.slice(0, 4))
  return daysInWords(say, found)
}

/** Milliseconds after which a typed day is taken. A day of the browser's calendar is taken at once. */
const dayPause = 900

/**
 * Calls back with a day that is chosen in a field. A day that is typed is another day after each digit, so it is taken after a
 * pause, with Enter, or when the field is left. Days that the field does not allow
 * are not taken.
 */
function onDay(input: HTMLInputElement, react: (day: string) => void): void {
  let isTyped = false
  // A field that is hidden loses the focus, too, with a day that the reader did not enter.
  let isEdited = false
  let pause: ReturnType<typeof setTimeout> | undefined
  input.addEventListener('input', () => {
    isEdited = true
  })
  input.addEventListener('keydown', ({ key }) => {
    isTyped = true
    if (key === 'Enter') take()
  })
  input.addEventListener('pointerdown', () => {
    isTyped = false
  })
  input.addEventListener('change', () => {
    clearTimeout(pause)
    if (isTyped) pause = setTimeout(take, dayPause)
    else take()
  })
  input.addEventListener('blur', () => {
    if (!isEdited) return
    take()
    isEdited = false
    if (input.value === '' || !input.validity.valid) setDay(input, input.defaultValue)
  })

  function take(): void {
    clearTimeout(pause)
    const { value, validity } = input
    if (value === '' || !validity.valid || value === input.defaultValue) return
    isEdited = false
    react(value)
  }
}

/** Shows a day, which the field has until another one is taken. The same day again would undo what is being typed. */
function setDay(input: HTMLInputElement, day: string): void {
  if (input.value !== day) input.value = day
  if (input.defaultValue !== day) input.defaultValue = day
}

type Option = readonly [value: string, text: string]

/** A select with its name above it; useful where there is anything to choose. */
function field(name: string, label: string, options: readonly Option[]) {
  const id = `choose-${name}`
  const select = html('select', { id }, ...optionsOf(options))
  const element = html('div', `field choose-${name}`, html('label', { for: id }, label), select)
  return { element, select, useful: options.length > 2 }
}

function optionsOf(options: readonly Option[]): readonly HTMLOptionElement[] {
  return options.map(([value, text]) => html('option', { value }, text))
}

/** An input with its name above it. */
function inputField(name: string, label: string, attributes: Attributes) {
  const id = `choose-${name}`
  const input = html('input', { id, ...attributes })
  return { element: html('div', `field choose-${name}`, html('label', { for: id }, label), input), input }
}
