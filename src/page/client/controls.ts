import { isDay, lengthIn, rangeIn, usualPeriod } from '../../model/settings.ts'
import { addDays } from '../../model/time.ts'
import {
  comparisonsIn,
  countSet,
  type Filters,
  localeOf,
  noFilters,
  periodOf,
  periodsIn,
  rangeOf,
  rangeText,
} from '../../report/choice.ts'
import type { PageData } from '../../report/data.ts'
import { partKey, partLabel, partsOf } from '../../report/history/filter-history.ts'
import { type Days, type ReportPeriod, reportPeriod } from '../../report/history/period.ts'
import type { Keyword } from '../../report/history/rank-history.ts'
import { hasTab, savedView, targetsOfView } from '../../report/presentation/presentation.ts'
import { daysInWords } from '../../report/words/words.ts'
import { type Attributes, button, html } from './dom.ts'
import { setLabels } from './filters.ts'
import { say, tagName } from './text.ts'
import type { View } from './view.ts'

/** Milliseconds; long enough that typing does not wait for drawing. */
const typingPause = 120

type Select = 'operation' | 'locale' | 'part'

/** One line that says what is shown. It opens the fields that choose it. */
export function controls(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { targets, keywords } = data.history
  const words = say.filters
  const target = field(
    'target',
    words.target,
    targets.map(({ label, own }, place) => [String(place), own ? label : words.competitor(label)]),
    (place) => choose({ target: Number(place) }),
  )
  let pause: ReturnType<typeof setTimeout> | undefined
  const text = inputField('text', words.search, {
    type: 'search',
    placeholder: say.keywords.keyword,
    autocomplete: 'off',
    spellcheck: 'false',
    on: {
      input: () => {
        clearTimeout(pause)
        pause = setTimeout(() => choose({ text: text.value.trim() }), typingPause)
      },
    },
  })
  // An empty value is that of all keywords.
  const tagOption = (tag: string): Option => [`=${tag}`, tagName(tag)]
  const tags = field('tag', words.tag, [['', words.all], ...tagsOf(keywords).map(tagOption)], (value) =>
    choose({ tags: value === '' ? [] : [value.slice(1)] }),
  )
  const ofText = (key: Select, label: string, options: readonly Option[]) =>
    field(key, label, options, (value) => choose({ [key]: value }))
  const selects: Readonly<Record<Select, HTMLSelectElement>> = {
    operation: ofText('operation', words.engine, any(keywords.map((one) => one.operation))),
    locale: ofText('locale', words.locale, any(keywords.map(localeOf))),
    part: ofText('part', words.figuresOf, [
      ['', words.usualPart],
      ...partsOf(data.history).map((one): Option => [partKey(one), partLabel(one, say)]),
    ]),
  }
  const period = periodFields(data, choose)
  const tabs = viewTabs(data, choose)
  let view = noFilters.view
  const found = html('p', { class: 'found', role: 'status' })
  const clear = (): void => choose({ ...noFilters, target: Number(target.value), view })
  const reset = button('quiet', clear, {}, words.reset)
  const shown = html('bdi')
  const line = button('shown', toggle, { 'aria-expanded': 'false', 'aria-controls': 'filters' }, shown)
  const useful = [tags, ...Object.values(selects)].filter(({ options }) => options.length > 2)
  const fields = html(
    'div',
    { class: 'filters', id: 'filters', hidden: true },
    ...[text, ...useful, ...(targets.length > 1 ? [target] : []), ...period.fields].map(boxOf),
  )
  const attributes = { class: 'controls', role: 'search', 'aria-label': words.label, on: { submit: stay } }
  const outcome = html('div', 'outcome', found, reset)
  const form = html('form', attributes, tabs?.element, line, outcome, fields)
  return {
    element: form,
    /** Shows the filters in the fields, and how many keywords match. */
    show: ({ filters, parts }: View, what: string): void => {
      view = filters.view
      tabs?.show(filters)
      const offered = targetsOfView(data.history, savedView(data, view))
      for (const [place, option] of [...target.options].entries())
        option.hidden = option.disabled = !offered.includes(place)
      target.value = String(filters.target)
      if (text.value.trim() !== filters.text) text.value = filters.text
      boxOf(text).classList.toggle('set', filters.text !== '')
      showTags(filters.tags)
      const there = ['', ...parts.map(partKey)]
      for (const option of selects.part.options) option.disabled = !there.includes(option.value)
      for (const [key, one] of Object.entries(selects)) setField(one, filters[key as Select])
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
    tags.querySelector('[value=several]')?.remove()
    const [only = null] = chosen
    if (chosen.length > 1) tags.append(...optionsOf([['several', chosen.map(tagName).join(', ')]]))
    setField(tags, only === null ? '' : chosen.length > 1 ? 'several' : tagOption(only)[0])
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
  const attributes = { class: 'views', role: 'group', 'aria-label': say.filters.views }
  return {
    element: html('div', attributes, ...tabs.map(({ tab }) => tab)),
    show: ({ view, period: days, compare }: Filters): void => {
      period = { period: days, compare }
      for (const { name, tab } of tabs) tab.setAttribute('aria-pressed', String(name === view))
    },
  }
}

/** All, or one of these. */
function any(values: readonly string[]): readonly Option[] {
  const distinct = [...new Set(values)].sort()
  return [['', say.filters.all], ...distinct.map((value): Option => [value, value])]
}

function stay(event: Event): void {
  event.preventDefault()
}

/** The choice in a list that shows the fields of free days. */
const free = 'free'

/** The fields of the period and of the day that it is compared with. */
function periodFields(data: PageData, choose: (change: Partial<Filters>) => void) {
  const { days } = data.history
  const bounds = { min: days[0] ?? '', max: days.at(-1) ?? '' }
  const words = say.filters
  const options: readonly Option[] = [
    ['', nameOfOwn(data)],
    ...periodsIn(days)
      .map((one): Option => [one, periodName(one, data)])
      .filter(([, name]) => name !== nameOfOwn(data)),
    [free, words.freeDays],
  ]
  const period = field('period', words.period, options, (value) => {
    isFreePeriod = value === free
    if (!isFreePeriod) choose({ period: value })
    else if (shown !== null) showEnds(shown)
    reveal()
    if (isFreePeriod) from.focus()
  })
  const from = dayField('from', words.from, bounds, chooseRange)
  const until = dayField('until', words.until, bounds, chooseRange)
  const compare = field('compare', words.comparedWith, [], (value) => {
    isFreeDay = value === free
    if (!isFreeDay) choose({ compare: value })
    // The day that stands in the field is chosen, too, unless it is before the first one.
    else if (day.validity.valid) choose({ compare: day.value })
    reveal()
    if (isFreeDay) day.focus()
  })
  const day = dayField('compared-day', words.comparedDay, bounds, () => choose({ compare: day.value }))
  let shown: ReportPeriod | null = null
  let isFreePeriod = false
  let isFreeDay = false
  return {
    /** The period in words. */
    nameOf: ({ period: chosen }: Filters): string =>
      chosen === '' ? nameOfOwn(data) : periodName(chosen, data),
    fields: days.length < 2 ? [] : [period, from, until, compare, day],
    show: (filters: Filters): void => {
      shown = periodOf(data, filters)
      if (shown === null) return
      isFreePeriod = rangeIn(filters.period) !== null
      isFreeDay = isDay(filters.compare)
      setField(period, filters.period, isFreePeriod ? free : filters.period)
      // A period of the address that is not on the list, such as 90d.
      if (period.selectedIndex === -1) {
        period.append(...optionsOf([[filters.period, periodName(filters.period, data)]]))
        period.value = filters.period
      }
      showEnds(shown)
      const before = lastBefore(days, shown)
      day.max = before
      setDay(day, isFreeDay ? filters.compare : (shown.compare?.day ?? before))
      compare.replaceChildren(...optionsOf(comparisonOptions(data, filters)))
      setField(compare, filters.compare, isFreeDay ? free : filters.compare)
      reveal()
    },
  }

  function showEnds(ends: Days): void {
    setDay(from, ends.from)
    setDay(until, ends.until)
  }

  function chooseRange(): void {
    const range = shown && rangeOf(days, from.value, until.value)
    if (range !== null) choose({ period: rangeText(range) })
  }

  function reveal(): void {
    for (const one of [from, until]) boxOf(one).hidden = !isFreePeriod
    boxOf(day).hidden = !isFreeDay
  }
}

/** The last day that a period can be compared with: that before the last one of it on which something was checked. */
function lastBefore(days: readonly string[], { until }: Days): string {
  return addDays(days.findLast((day) => day <= until) ?? until, -1)
}

/** A comparison with a day of the reader's own choice is the last one. */
function comparisonOptions(data: PageData, filters: Filters): readonly Option[] {
  const own = comparisonName(data.requestedPeriod.compare)
  const offered = comparisonsIn(data, filters).map((one): Option => [one, comparisonName(one)])
  return [['', own], ...offered, [free, say.filters.freeDay]]
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
 * A field that tells of each day that is chosen in it and that it allows. A day that is typed is another day after each digit, so it is
 * taken after a pause, with Enter, or when the field is left.
 */
function dayField(name: string, label: string, bounds: Attributes, react: () => void): HTMLInputElement {
  let isTyped = false
  // A field that is hidden loses the focus, too, with a day that the reader did not enter.
  let isEdited = false
  let pause: ReturnType<typeof setTimeout> | undefined
  const take = (): void => {
    clearTimeout(pause)
    const { value, validity, defaultValue } = input
    if (value === '' || !validity.valid || value === defaultValue) return
    isEdited = false
    react()
  }
  const on: Attributes['on'] = {
    input: () => {
      isEdited = true
    },
    keydown: ({ key }) => {
      isTyped = true
      if (key === 'Enter') take()
    },
    pointerdown: () => {
      isTyped = false
    },
    change: () => {
      clearTimeout(pause)
      if (isTyped) pause = setTimeout(take, dayPause)
      else take()
    },
    blur: () => {
      if (!isEdited) return
      take()
      isEdited = false
      if (input.value === '' || !input.validity.valid) setDay(input, input.defaultValue)
    },
  }
  const input = inputField(name, label, { type: 'date', ...bounds, on })
  return input
}

/** Shows a day, which the field has until another one is taken. The same day again would undo what is being typed. */
function setDay(input: HTMLInputElement, day: string): void {
  if (input.value !== day) input.value = day
  if (input.defaultValue !== day) input.defaultValue = day
}

type Option = readonly [value: string, text: string]

function field(
  name: string,
  label: string,
  options: readonly Option[],
  choose: (value: string) => void,
): HTMLSelectElement {
  const on = { change: () => choose(select.value) }
  const select = html('select', { id: `choose-${name}`, on }, ...optionsOf(options))
  return labelled(label, select)
}

function optionsOf(options: readonly Option[]): readonly HTMLOptionElement[] {
  return options.map(([value, text]) => html('option', { value }, text))
}

function inputField(name: string, label: string, attributes: Attributes): HTMLInputElement {
  return labelled(label, html('input', { id: `choose-${name}`, ...attributes }))
}

/** Puts a control in a box of its own, below its name; gives the control back. */
function labelled<Control extends HTMLElement>(label: string, control: Control): Control {
  html('div', `field ${control.id}`, html('label', { for: control.id }, label), control)
  return control
}

function boxOf(control: HTMLElement): HTMLElement {
  return control.parentElement as HTMLElement
}

/** Shows what is chosen; a field that chooses something looks otherwise. */
function setField(select: HTMLSelectElement, chosen: string, option = chosen): void {
  select.value = option
  boxOf(select).classList.toggle('set', chosen !== '')
}
