import type { PageData } from '../../page-data.ts'

/** What the reader chose to see. Empty text is no choice. */
export interface Choice {
  /** Place in the list of targets. */
  readonly target: number
  readonly text: string
  readonly tag: string
  readonly operation: string
  readonly locale: string
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
  movement: '',
  from: '',
  to: '',
  compare: '',
}

/** What the part of the address behind `#` says; what it names that is not there is as if it were not said. */
export function choiceIn(hash: string, { history }: PageData): Choice {
  const said = new URLSearchParams(hash.replace(/^#/, ''))
  const texts = Object.fromEntries(choiceKeys.map((key) => [key, said.get(key) ?? '']))
  const target = history.targets.findIndex(({ label }) => label === said.get('target'))
  const choice = { ...noChoice, ...texts, target: Math.max(0, target) }
  const day = (text: string): string => (history.days.includes(text) ? text : '')
  return { ...choice, from: day(choice.from), to: day(choice.to) }
}

/** The choice as the part of the address behind `#`, empty where nothing was chosen. */
export function hashOf(choice: Choice, { history }: PageData): string {
  const said = new URLSearchParams()
  if (choice.target !== 0) said.set('target', history.targets[choice.target]?.label ?? '')
  for (const key of choiceKeys) if (choice[key] !== '') said.set(key, choice[key])
  return said.toString()
}
