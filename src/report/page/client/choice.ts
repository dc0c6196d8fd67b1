import type { offeredBack } from '../../baseline.ts'
import type { PageData } from '../../page-data.ts'
import { partKey, partOf, partsOf, partWords } from '../../parts.ts'
import { mediumDay } from './format.ts'
import { localeOf } from './keyword/keyword-text.ts'
import { type Moved, movedNames, movedWords } from './movement-text.ts'

/** What the reader chose to see. Empty text is no choice. */
export interface Choice {
  /** Place in the list of targets. */
  readonly target: number
  readonly text: string
  readonly tag: string
  readonly operation: string
  readonly locale: string
  /** Kind of results and engine that the figures are of; those of the headline where nothing is chosen. */
  readonly part: string
  readonly movement: string
  /** First and last day, YYYY-MM-DD. */
  readonly from: string
  readonly to: string
  /** How far back is compared: a number of days, or `first` for the first day in sight. */
  readonly compare: string
}

export type ChoiceKey = Exclude<keyof Choice, 'target'>

export const choiceKeys: readonly ChoiceKey[] = [
  'text',
  'tag',
  'operation',
  'locale',
  'part',
  'movement',
  'from',
  'to',
  'compare',
]

export const noChoice: Choice = {
  target: 0,
  text: '',
  tag: '',
  operation: '',
  locale: '',
  part: '',
  movement: '',
  from: '',
  to: '',
  compare: '',
}

/** How far back can be compared, in words. */
export const comparisons: Readonly<Record<(typeof offeredBack)[number], string>> = {
  '1': 'Day before',
  '7': '7 days before',
  '28': '28 days before',
  first: 'First day in sight',
}

/** What the part of the address behind `#` says; what it names that is not there is as if it were not said. */
export function choiceIn(hash: string, { history }: PageData): Choice {
  const { keywords, targets, days } = history
  const said = new URLSearchParams(hash.replace(/^#/, ''))
  const oneOf = (key: ChoiceKey, known: readonly string[]): string =>
    known.find((one) => one === said.get(key)) ?? ''
  const target = targets.findIndex(({ label }) => label === said.get('target'))
  return inOrder({
    target: Math.max(0, target),
    text: said.get('text') ?? '',
    tag: oneOf(
      'tag',
      keywords.flatMap(({ tags }) => tags),
    ),
    operation: oneOf(
      'operation',
      keywords.map(({ operation }) => operation),
    ),
    locale: oneOf('locale', keywords.map(localeOf)),
    part: oneOf('part', keywords.map(partOf).map(partKey)),
    movement: oneOf('movement', movedNames),
    from: oneOf('from', days),
    to: oneOf('to', days),
    compare: oneOf('compare', Object.keys(comparisons)),
  })
}

/** The same with its days in their order: a range that is named from its end is the same range. */
export function inOrder(choice: Choice): Choice {
  const { from, to } = choice
  return from !== '' && to !== '' && from > to ? { ...choice, from: to, to: from } : choice
}

/** Whether a day can be chosen for one end of the range, as the other end stands. */
export function canBe(end: 'from' | 'to', day: string, { from, to }: Choice): boolean {
  if (day === '') return true
  return end === 'from' ? to === '' || day <= to : day >= from
}

/** The choice as the part of the address behind `#`, empty where nothing was chosen. */
export function hashOf(choice: Choice, { history }: PageData): string {
  const said = new URLSearchParams()
  if (choice.target !== 0) said.set('target', history.targets[choice.target]?.label ?? '')
  for (const key of choiceKeys) if (choice[key] !== '') said.set(key, choice[key])
  return said.toString()
}

/** What was chosen, in words: on paper there are no fields that say it. */
export function chosenWords(
  { target, text, tag, operation, locale, part, movement, from, to, compare }: Choice,
  { history }: PageData,
): readonly (readonly [name: string, value: string])[] {
  const { targets, days } = history
  const parts = part === '' ? [] : partsOf(history).filter((one) => partKey(one) === part)
  const range = [from === '' ? days[0] : from, to === '' ? days.at(-1) : to].flatMap((day) =>
    day === undefined ? [] : [mediumDay(day)],
  )
  const all: readonly (readonly [name: string, value: string])[] = [
    ['Target', targets[target]?.label ?? ''],
    ['Search', text],
    ['Tag', tag],
    ['Engine', operation],
    ['Locale', locale],
    ['Figures of', parts.map(partWords).join()],
    ['Listed keywords', movement === '' ? '' : movedWords[movement as Moved]],
    ['Days', from === '' && to === '' ? '' : range.join(' to ')],
    ['Compared with', compare === '' ? '' : comparisons[compare as keyof typeof comparisons]],
  ]
  return all.filter(([, value]) => value !== '')
}
