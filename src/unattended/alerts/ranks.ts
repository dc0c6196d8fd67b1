import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import {
  type AlertStart,
  type AnsweredObservation,
  confirmedStart,
  type OpenAlert,
  type RuleVerdict,
  type Says,
  type WatchedPair,
} from './facts.ts'

/*
 * Truth table of the rank rules. 5 is a rank, -30 an absence after thirty results; `by: 3`, `top: 10`.
 *
 *   before  now   drop  gain  entered  left  lost
 *   5       7     -     -     -        -     -
 *   5       8     x     -     -        -     -
 *   8       5     -     x     -        -     -
 *   8       15    x     -     -        x     -
 *   15      8     -     x     x        -     -
 *   5       -30   x     -     -        x     x
 *   -30     5     -     x     x        -     -
 *   5       -10   x     -     -        ?     ?     where the observation before had thirty results: a shallower one
 *   9       -10   ?     -     -        ?     ?     it is 11 or worse
 *   -10     5     -     x     x        -     -
 *   -30     -30   -     -     -        -     -
 *
 * `?` changes nothing: it begins nothing, ends nothing, and is no observation before.
 *
 * At an edge `left` and `lost` flicker: a fall that may be of fewer than `by` ranks is told when two observations say it. `lost` without
 * `by` is so of rank 10 with ten results: the target may be at 11.
 *
 *   observed   lost  lost, by: 3  left, by: 3
 *   9 -10      x     -            -
 *   10 -10     -     -            -
 *   10 -10 -10 x     x            x
 *   8 -10      x     x            x
 *   9 11       -     -            -
 *   9 11 11    -     -            x
 *   9 12       -     -            x
 */

export type RankKind = Extract<AlertKind, 'drop' | 'gain' | 'entered' | 'left' | 'lost'>

/** The best and the worst rank that an observation allows. */
function rangeOf({ rank, depth }: AnsweredObservation): readonly [best: number, worst: number] {
  return rank === null ? [depth + 1, Number.POSITIVE_INFINITY] : [rank, rank]
}

function isAtMost(observation: AnsweredObservation, top: number | null): boolean | null {
  if (top === null) return observation.rank !== null
  const [best, worst] = rangeOf(observation)
  if (worst <= top) return true
  return best > top ? false : null
}

/** True or false only where every rank that the two observations allow says so. */
function fell(before: AnsweredObservation, now: AnsweredObservation, by: number): boolean | null {
  const [[bestBefore, worstBefore], [bestNow, worstNow]] = [rangeOf(before), rangeOf(now)]
  if (bestNow - worstBefore >= by) return true
  return worstNow - bestBefore < by ? false : null
}

/** Fewer results and fewer pages than the observation before: what is missing may have been there. */
function isShallower(now: AnsweredObservation, before: AnsweredObservation): boolean {
  if (now.depth >= before.depth) return false
  return now.pages === null || before.pages === null || now.pages < before.pages
}

/** Leaves out absences that were checked less deeply than the observation before. */
export function withoutShallow(observations: readonly AnsweredObservation[]): readonly AnsweredObservation[] {
  if (observations.every(({ rank }) => rank !== null)) return observations
  const kept: AnsweredObservation[] = []
  for (const observation of observations) {
    const last = kept.at(-1)
    if (observation.rank !== null || last === undefined || !isShallower(observation, last))
      kept.push(observation)
  }
  return kept
}

interface RankRule {
  /** Whether absences after a shallower observation are left out. */
  readonly needsDepth: boolean
  readonly says: (rule: AlertRule) => Says<AnsweredObservation>
  readonly isOver: (now: AnsweredObservation, rule: AlertRule, since: Since) => boolean
}

interface Since {
  /** The rank before it began; null where the target was absent. */
  readonly reference: number | null
  /** The observation looked no less deep than the one before. */
  readonly isDeep: boolean
}

const atLeast = ({ by }: AlertRule): number => by ?? 1

/** Ranks that a fall must have so that one observation is enough; null where one always is. */
function leastAtOnce({ when, by }: AlertRule): number | null {
  if (when === 'left') return by
  return when === 'lost' ? (by ?? 2) : null
}

/** What a rule begins with: what was confirmed as often as it asks, and what falls too little once more. */
function startOf(
  rule: AlertRule,
  observations: readonly AnsweredObservation[],
  says: Says<AnsweredObservation>,
): AlertStart<AnsweredObservation> | null {
  const least = leastAtOnce(rule)
  if (least === null) return confirmedStart(observations, says, rule.confirm)
  const saysClearly: Says<AnsweredObservation> = (before, now) => {
    const said = says(before, now)
    return said === true ? fell(before, now, least) : said
  }
  return (
    confirmedStart(observations, saysClearly, rule.confirm) ??
    confirmedStart(observations, says, Math.max(2, rule.confirm))
  )
}

/** An observation before at any rank, where the rank is known. */
function observedAt(rank: number): AnsweredObservation {
  return { rank, depth: rank, pages: null, link: null }
}

const rankRules: Readonly<Record<RankKind, RankRule>> = {
  drop: {
    needsDepth: false,
    says: (rule) => (before, now) =>
      before.rank === null || before.rank > (rule.top ?? before.rank)
        ? false
        : fell(before, now, atLeast(rule)),
    isOver: (now, rule, { reference }) =>
      reference !== null && fell(observedAt(reference), now, atLeast(rule)) === false,
  },
  gain: {
    needsDepth: false,
    says: (rule) => (before, now) =>
      now.rank === null || now.rank > (rule.top ?? now.rank) ? false : fell(now, before, atLeast(rule)),
    isOver: (now, rule, { reference, isDeep }) =>
      reference === null
        ? now.rank === null && isDeep
        : fell(now, observedAt(reference), atLeast(rule)) === false,
  },
  entered: {
    needsDepth: true,
    says: ({ top }) => crosses((observation) => isAtMost(observation, top), { from: false, to: true }),
    isOver: (now, { top }) => isAtMost(now, top) === false,
  },
  left: {
    needsDepth: true,
    says: ({ top }) => crosses((observation) => isAtMost(observation, top), { from: true, to: false }),
    isOver: (now, { top }) => isAtMost(now, top) === true,
  },
  lost: {
    needsDepth: true,
    says: ({ top }) => {
      const wasIn = (observation: AnsweredObservation) =>
        observation.rank !== null && observation.rank <= (top ?? observation.rank)
      return (before, now) => wasIn(before) && now.rank === null
    },
    isOver: (now) => now.rank !== null,
  },
}

/** From one side of a line to the other; null where one of the two may be on either side. */
function crosses(
  isIn: (observation: AnsweredObservation) => boolean | null,
  { from, to }: { readonly from: boolean; readonly to: boolean },
): Says<AnsweredObservation> {
  return (before, now) => {
    const [was, is] = [isIn(before), isIn(now)]
    return was === null || is === null ? null : was === from && is === to
  }
}

/** What a rank rule says of a target of a query; null where nothing begins and nothing is over. */
export function judgeRank(
  kind: RankKind,
  rule: AlertRule,
  { observations, ...pair }: WatchedPair,
  open: OpenAlert | null,
): RuleVerdict | null {
  const { needsDepth, says, isOver } = rankRules[kind]
  const deep = withoutShallow(observations)
  const now = observations.at(-1)
  const isDeep = deep.at(-1) === now
  if (now === undefined || (needsDepth && !isDeep)) return null
  const told = { target: pair.target.label, query: queryName(pair.query), rule }
  if (open !== null) {
    const reference = typeof open.before === 'number' ? open.before : null
    if (!isOver(now, rule, { reference, isDeep })) return null
    const text = sentences[kind].over(told, { before: reference, now: rankText(now), back: backText(now) })
    return { state: 'over', before: open.before, now: now.rank, text, link: now.link }
  }
  const start = startOf(rule, needsDepth ? deep : observations, says(rule))
  if (start === null) return null
  const { before } = start
  const text = sentences[kind].open(told, { before: rankText(before), now: rankText(now) })
  return { state: 'open', before: before.rank, now: now.rank, text, link: now.link ?? before.link }
}

interface Told {
  readonly target: string
  readonly query: string
  readonly rule: AlertRule
}

interface RankSentences {
  readonly open: (told: Told, ranks: { readonly before: string; readonly now: string }) => string
  readonly over: (
    told: Told,
    ranks: { readonly before: number | null; readonly now: string; readonly back: string },
  ) => string
}

const sentences: Readonly<Record<RankKind, RankSentences>> = {
  drop: {
    open: ({ target, query }, { before, now }) => `${target} dropped from ${before} to ${now} for ${query}`,
    over: ({ target, query }, { before, back }) =>
      `${target} is back ${back} for ${query}; it had dropped from ${before}`,
  },
  gain: {
    open: ({ target, query }, { before, now }) => `${target} rose from ${before} to ${now} for ${query}`,
    over: ({ target, query }, { before, back }) =>
      `${target} is back ${back} for ${query}; it had risen from ${before ?? 'outside the results'}`,
  },
  entered: {
    open: ({ target, query, rule }, { before, now }) =>
      `${target} entered the top ${rule.top} for ${query}: from ${before} to ${now}`,
    over: ({ target, query, rule }, { now }) =>
      `${target} is no longer in the top ${rule.top} for ${query}: now ${now}`,
  },
  left: {
    open: ({ target, query, rule }, { before, now }) =>
      `${target} left the top ${rule.top} for ${query}: from ${before} to ${now}`,
    over: ({ target, query, rule }, { now }) =>
      `${target} is in the top ${rule.top} again for ${query}: now ${now}`,
  },
  lost: {
    open: ({ target, query }, { before, now }) => `${target} is lost for ${query}: from ${before} to ${now}`,
    over: ({ target, query }, { now }) => `${target} is found again for ${query}: now ${now}`,
  },
}

function rankText({ rank, depth }: AnsweredObservation): string {
  return rank === null ? `outside the top ${depth}` : String(rank)
}

function backText(observation: AnsweredObservation): string {
  return observation.rank === null ? rankText(observation) : `at ${observation.rank}`
}

/** A query as sentences name it. */
export function queryName({ text, variant }: WatchedPair['query']): string {
  return `"${text}"${variant === '' ? '' : ` (${variant})`}`
}
