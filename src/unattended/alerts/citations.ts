import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import { confirmedBeginning } from './confirm.ts'
import type { AnsweredObservation, OpenAlert, RuleVerdict, WatchedPair } from './facts.ts'
import { queryName, withoutShallow } from './ranks.ts'

/*
 * An AI answer cites pages: a target is cited, or it is not.
 *
 *   before     now        citation-lost  citation-won
 *   cited      cited      -              -
 *   cited      not cited  x              -
 *   not cited  cited      -              x
 *   not cited  not cited  -              -
 */

export type CitationKind = Extract<AlertKind, 'citation-lost' | 'citation-won'>

const isCited = ({ rank }: AnsweredObservation): boolean => rank !== null

/** What a citation rule says of a target of a query; null where nothing begins and nothing is over. */
export function judgeCitation(
  kind: CitationKind,
  rule: AlertRule,
  { looks, query, target }: WatchedPair,
  open: OpenAlert | null,
): RuleVerdict | null {
  const deep = withoutShallow(looks)
  const now = looks.at(-1)
  if (now === undefined || deep.at(-1) !== now) return null
  const wanted = kind === 'citation-won'
  const is = isCited(now)
  const sentence = (again: '' | ' again'): string =>
    is
      ? `${target.label} is cited${again} in the AI answer to ${queryName(query)}`
      : `${target.label} is no longer cited in the AI answer to ${queryName(query)}`
  if (open !== null)
    return is === wanted
      ? null
      : { state: 'over', before: open.before, now: now.rank, text: sentence(' again') }
  const says = (before: AnsweredObservation, after: AnsweredObservation): boolean =>
    isCited(before) !== wanted && isCited(after) === wanted
  const beginning = confirmedBeginning(deep, says, rule.confirm)
  return beginning === null
    ? null
    : { state: 'open', before: beginning.before.rank, now: now.rank, text: sentence('') }
}
