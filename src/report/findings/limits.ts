import { daysBetween } from '../../model/time.ts'
import type { FindingFacts } from './facts.ts'
import type { Finding } from './finding.ts'

/** Fewer unknown keywords change no shown figure. */
const leastUnknown = 0.01
/** From here on every figure stands on what happened to be checked, which is said before them. */
const leastMany = 0.25
const leastAdded = 0.1
const leastPartialDays = { days: 3, share: 0.1 }

/** What the figures do not include, the gravest first. */
export function limits(facts: FindingFacts): readonly Finding[] {
  const { own, span, compare } = facts
  const all: Finding[] = []
  const unknown = unknownOf(facts)
  if (unknown >= own.length * leastUnknown && unknown > 0 && manyUnknown(facts).length === 0)
    all.push({ kind: 'not checked', unknown, keywords: own.length })
  if (span === null) return all
  const changed = askedOtherwise(own)
  if (changed !== null) all.push({ kind: 'asked otherwise', ...changed, keywords: own.length })
  const added = own.filter(({ baseline, change }) => baseline === null && change.movement === 'new').length
  if (added > 0 && added >= own.length * leastAdded) all.push({ kind: 'added', added, keywords: own.length })
  const days = facts.daily(facts.target).filter(({ day }) => day > span.day)
  const partial = days.filter(({ isPartial, coverage }) => isPartial || coverage.observed === 0).length
  if (partial >= leastPartialDays.days && partial >= days.length * leastPartialDays.share)
    all.push({ kind: 'partial days', partial, days: days.length })
  if (compare !== null && daysBetween(compare.day, span.day) !== 0)
    all.push({ kind: 'other day', asked: compare.day, day: span.day })
  return all
}

/** Keywords that are not compared because another query was asked then, and the last day on which one changed; null for none. */
export function askedOtherwise(own: FindingFacts['own']) {
  const days = own.flatMap(({ keyword: { since }, baseline, change }) =>
    since !== undefined && baseline === null && change.movement === 'unknown' ? since : [],
  )
  const since = days.toSorted().at(-1)
  return since === undefined ? null : { changed: days.length, since }
}

/** That a large part of the keywords could not be checked; empty if it is not. */
export function manyUnknown(facts: FindingFacts): readonly Finding[] {
  const [unknown, keywords] = [unknownOf(facts), facts.own.length]
  return unknown < keywords * leastMany ? [] : [{ kind: 'many not checked', unknown, keywords }]
}

function unknownOf({ own }: FindingFacts): number {
  return own.filter(({ current }) => current.state === 'unknown').length
}
