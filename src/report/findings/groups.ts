import { isKnownOnBothDays } from '../headline.ts'
import { alignDepths, type KeywordStatus } from '../history/keyword-status.ts'
import type { KeywordGroup } from './finding.ts'

type StatusTest = (status: KeywordStatus) => boolean

/** The keywords of each group. */
const judges: Readonly<Record<KeywordGroup, StatusTest>> = {
  'into-top-3': (status) => crossing(status, 3) === 'entered',
  'out-of-top-3': (status) => crossing(status, 3) === 'left',
  'into-top-10': (status) => crossing(status, 10) === 'entered',
  'out-of-top-10': (status) => crossing(status, 10) === 'left',
  'not-checked': ({ current }) => current.state === 'unknown',
}

export const keywordGroups = Object.keys(judges) as readonly KeywordGroup[]

export function isInGroup(group: KeywordGroup, status: KeywordStatus): boolean {
  return judges[group](status)
}

/** Whether a keyword came among the first ranks or fell out of them, as far as both days looked; null if neither. */
export function crossing(status: KeywordStatus, top: 3 | 10): 'entered' | 'left' | null {
  if (!isKnownOnBothDays(status)) return null
  const [now, before] = alignDepths(status.current, status.baseline.value)
  const [isIn, wasIn] = [now, before].map(({ rank }) => rank !== null && rank <= top)
  return isIn === wasIn ? null : isIn ? 'entered' : 'left'
}
