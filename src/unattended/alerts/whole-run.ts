import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import { type Suspicion, suspicionText } from '../../model/suspicion.ts'
import type { OpenAlert, RuleVerdict } from './facts.ts'

/*
 * A run that is suspect as a whole: most of its ranks are gone at once, or many queries got one list. That is one alert in place of
 * all that the rules on queries would say of it, and its observations are left out when later runs are judged: the next one says what
 * is true.
 *
 *   open  suspect  the run ended
 *   -     x        -               begins; nothing else is told of its queries
 *   x     x        -               goes on; the same
 *   x     -        x               over; its queries are judged against what was before
 */

/** Rules that watch how a run went, or what was spent, and no queries. */
const ofRuns: readonly AlertKind[] = [
  'coverage',
  'run-failed',
  'run-skipped',
  'balance',
  'days-left',
  'unexplained',
]

/** The rule that tells of a suspect run, to whom the others tell of queries; null where none does. */
export function wholeRunRule(rules: readonly AlertRule[]): AlertRule | null {
  const watching = rules.filter(({ when }) => !ofRuns.includes(when))
  if (watching.length === 0) return null
  const channels = watching.flatMap(({ to }) => to ?? [])
  return {
    when: 'suspect',
    by: null,
    top: null,
    below: null,
    for: { tags: null, targets: null },
    confirm: 1,
    to: watching.some(({ to }) => to === null) ? null : [...new Set(channels)],
  }
}

/** What is told of a suspect run; null where nothing begins and nothing is over. */
export function judgeWholeRun(
  {
    job,
    suspicion,
    hasEnded,
  }: { readonly job: string; readonly suspicion: Suspicion | null; readonly hasEnded: boolean },
  open: OpenAlert | null,
): RuleVerdict | null {
  if (suspicion === null)
    return open === null || !hasEnded
      ? null
      : {
          state: 'over',
          before: open.now,
          now: null,
          text: `${job} is no longer suspect: its last run was judged as usual`,
        }
  if (open !== null) return null
  const { ranked, gone, alike } = suspicion
  return {
    state: 'open',
    before: gone === 0 ? null : ranked,
    now: gone === 0 ? alike : ranked - gone,
    text: `Check before you tell anyone: ${job} is suspect, ${suspicionText(suspicion)}`,
  }
}
