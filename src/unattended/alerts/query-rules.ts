import type { AlertKind, AlertRule } from '../../model/settings.ts'
import { pageAddress } from '../../model/url.ts'
import type { StoredAlert } from '../../store/sqlite/unattended/alerts.ts'
import type { QueryOfRun } from '../../store/sqlite/unattended/observations.ts'

// Alert rules judge plain values, which are read from the store once per run.

/** An answered observation of a query's target. Left out: what is unknown, or rests on an answer to another question. */
export interface AnsweredObservation {
  /** Null where the target was absent. */
  readonly rank: number | null
  /** Results that were checked without a gap; the planned number where all planned pages were checked. */
  readonly depth: number
  /** Pages that were checked without a gap; all planned ones where the results ended; null in old rows. */
  readonly pages: number | null
  /** Number of the link of the page that ranks; null where none does. */
  readonly link: number | null
}

export type WatchedQuery = QueryOfRun & {
  /** Parameters that tell it apart from another query of the same text; empty where there is none. */
  readonly variant: string
  /** As in `en-us Austin`; empty where it names none. */
  readonly locale: string
  /** Its answers cite pages, and do not rank them. */
  readonly cites: boolean
}

/** A target of a query that the run has an answer for. */
export interface WatchedPair {
  readonly query: WatchedQuery
  readonly target: {
    readonly site: string
    readonly match: string
    readonly label: string
    readonly own: boolean
  }
  /** The oldest first; the last one is the run's. */
  readonly observations: readonly AnsweredObservation[]
}

export interface WatchedSerp {
  readonly query: WatchedQuery
  /** The other sites among the first results of the query, a list for each run: the oldest first; the last one is the run's. */
  readonly lists: readonly {
    /** Best rank by site. */
    readonly ranks: ReadonlyMap<string, number>
    /** Results checked without a gap; infinite where the results ended there. */
    readonly depth: number
  }[]
}

type SiteList = WatchedSerp['lists'][number]

/** An alert that began and is not over. */
export type OpenAlert = Pick<StoredAlert, 'before' | 'now'>

/** What a rule says of one thing that it watches: it begins, or it is over. */
export interface RuleVerdict {
  readonly state: 'open' | 'over'
  readonly before: number | string | null
  readonly now: number | string | null
  /** One sentence for people. */
  readonly text: string
  /** Number of the link that ranks, or ranked before; missing where it is about no page. */
  readonly link?: number | null
  /** The rank of a page, where it is not what was and what is now. */
  readonly rank?: number | null
}

/*
 * Truth table of `confirm`. B is the observation before, x one that says what the rule watches compared with B, and - one that does
 * not. What cannot be compared with B is left out, wherever it stands.
 *
 *   confirm  begins with the last of   does not begin
 *   1        B x                       B -    B x x (has begun before)
 *   2        B x x    B x - x          B x    B x -    B x x x (has begun before)
 *   3        B x x x                   B x x  B x - x x (four observations)
 */

/** Whether an observation says it, compared with an earlier one; null where the two cannot be compared. */
type Says<T> = (before: T, now: T) => boolean | null

/** Observations within which a rule is confirmed. */
const within = 3

/**
 * The observation before and the last one, if an alert begins with the last one; null if none begins. It begins if, of at most three
 * observations that follow the one before, exactly `confirm` say it, among them the first and the last. The oldest comes first.
 */
export function confirmedStart<T>(
  observations: readonly T[],
  says: Says<T>,
  confirm: number,
): { readonly before: T; readonly now: T } | null {
  const now = observations.at(-1)
  if (now === undefined) return null
  for (let at = observations.length - 2; at >= 0; at--) {
    const before = observations[at] as T
    if (says(before, now) !== true) continue
    const said = observations.slice(at + 1).flatMap((observation) => says(before, observation) ?? [])
    if (said[0] !== true || said.length > within) continue
    if (said.filter(Boolean).length === confirm) return { before, now }
  }
  return null
}

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
 * `?` changes nothing: it begins nothing, ends nothing, and is no observation before; until none of the observations that are read, eight,
 * is deeper.
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

type RankRuleKind = Extract<AlertKind, 'drop' | 'gain' | 'entered' | 'left' | 'lost'>

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
function withoutShallow(observations: readonly AnsweredObservation[]): readonly AnsweredObservation[] {
  if (observations.every(({ rank }) => rank !== null)) return observations
  const kept: AnsweredObservation[] = []
  for (const observation of observations) {
    const last = kept.at(-1)
    if (observation.rank !== null || last === undefined || !isShallower(observation, last))
      kept.push(observation)
  }
  return kept
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
) {
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

/** A target and a query as sentences name them, and the top that the rule watches. */
function named({ target, query }: WatchedPair, { top }: AlertRule) {
  return { target: target.label, query: queryName(query), top }
}

type NamedPair = ReturnType<typeof named>

const rankRules: Readonly<
  Record<
    RankRuleKind,
    {
      /** Whether absences after a shallower observation are left out. */
      readonly needsDepth: boolean
      readonly says: (rule: AlertRule) => Says<AnsweredObservation>
      readonly isOver: (
        now: AnsweredObservation,
        rule: AlertRule,
        since: {
          /** The rank before it began; null where the target was absent. */
          readonly reference: number | null
          /** The observation checked no fewer results than the one before. */
          readonly isDeep: boolean
        },
      ) => boolean
      /** The sentence for an alert that begins, with ranks as texts. */
      readonly open: (about: NamedPair, ranks: { readonly before: string; readonly now: string }) => string
      /** The sentence for one that is over; `before` is the rank before it began. */
      readonly over: (
        about: NamedPair,
        ranks: { readonly before: number | null; readonly now: string; readonly back: string },
      ) => string
    }
  >
> = {
  drop: {
    needsDepth: false,
    says: (rule) => (before, now) =>
      before.rank === null || before.rank > (rule.top ?? before.rank)
        ? false
        : fell(before, now, atLeast(rule)),
    isOver: (now, rule, { reference }) =>
      reference !== null && fell(observedAt(reference), now, atLeast(rule)) === false,
    open: ({ target, query }, { before, now }) => `${target} dropped from ${before} to ${now} for ${query}`,
    over: ({ target, query }, { before, back }) =>
      `${target} is back ${back} for ${query}; it had dropped from ${before}`,
  },
  gain: {
    needsDepth: false,
    says: (rule) => (before, now) =>
      now.rank === null || now.rank > (rule.top ?? now.rank) ? false : fell(now, before, atLeast(rule)),
    isOver: (now, rule, { reference, isDeep }) =>
      reference === null
        ? now.rank === null && isDeep
        : fell(now, observedAt(reference), atLeast(rule)) === false,
    open: ({ target, query }, { before, now }) => `${target} rose from ${before} to ${now} for ${query}`,
    over: ({ target, query }, { before, back }) =>
      `${target} is back ${back} for ${query}; it had risen from ${before ?? 'outside the results'}`,
  },
  entered: {
    needsDepth: true,
    says: ({ top }) => crosses((observation) => isAtMost(observation, top), { from: false, to: true }),
    isOver: (now, { top }) => isAtMost(now, top) === false,
    open: ({ target, query, top }, { before, now }) =>
      `${target} entered the top ${top} for ${query}: from ${before} to ${now}`,
    over: ({ target, query, top }, { now }) =>
      `${target} is no longer in the top ${top} for ${query}: now ${now}`,
  },
  left: {
    needsDepth: true,
    says: ({ top }) => crosses((observation) => isAtMost(observation, top), { from: true, to: false }),
    isOver: (now, { top }) => isAtMost(now, top) === true,
    open: ({ target, query, top }, { before, now }) =>
      `${target} left the top ${top} for ${query}: from ${before} to ${now}`,
    over: ({ target, query, top }, { now }) =>
      `${target} is in the top ${top} again for ${query}: now ${now}`,
  },
  lost: {
    needsDepth: true,
    says: ({ top }) => {
      const wasIn = (observation: AnsweredObservation) =>
        observation.rank !== null && observation.rank <= (top ?? observation.rank)
      return (before, now) => wasIn(before) && now.rank === null
    },
    isOver: (now) => now.rank !== null,
    open: ({ target, query }, { before, now }) => `${target} is lost for ${query}: from ${before} to ${now}`,
    over: ({ target, query }, { now }) => `${target} is found again for ${query}: now ${now}`,
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

/** What a rule on ranks, pages or citations says of a target of a query; null where nothing begins and nothing is over. */
export function judgePair(
  rule: AlertRule,
  pair: WatchedPair,
  open: OpenAlert | null,
  linkText: (id: number) => string,
): RuleVerdict | null {
  const isOfCitations = rule.when === 'citation-lost' || rule.when === 'citation-won'
  if (isOfCitations !== pair.query.cites) return null
  if (isOfCitations) return judgeCitation(rule, pair, open)
  return rule.when === 'url-changed' ? judgePage(rule, pair, open, linkText) : judgeRank(rule, pair, open)
}

/** What a rank rule says of a target of a query; null where nothing begins and nothing is over. */
function judgeRank(rule: AlertRule, pair: WatchedPair, open: OpenAlert | null): RuleVerdict | null {
  const { observations } = pair
  const { needsDepth, says, isOver, ...sentences } = rankRules[rule.when as RankRuleKind]
  const deep = withoutShallow(observations)
  const now = observations.at(-1)
  const isDeep = deep.at(-1) === now
  if (now === undefined || (needsDepth && !isDeep)) return null
  const about = named(pair, rule)
  if (open !== null) {
    const reference = typeof open.before === 'number' ? open.before : null
    if (!isOver(now, rule, { reference, isDeep })) return null
    const text = sentences.over(about, { before: reference, now: rankText(now), back: backText(now) })
    return { state: 'over', before: open.before, now: now.rank, text, link: now.link }
  }
  const start = startOf(rule, needsDepth ? deep : observations, says(rule))
  if (start === null) return null
  const { before } = start
  const text = sentences.open(about, { before: rankText(before), now: rankText(now) })
  return { state: 'open', before: before.rank, now: now.rank, text, link: now.link ?? before.link }
}

function rankText({ rank, depth }: AnsweredObservation): string {
  return rank === null ? `outside the top ${depth}` : String(rank)
}

function backText(observation: AnsweredObservation): string {
  return observation.rank === null ? rankText(observation) : `at ${observation.rank}`
}

/** A query as sentences name it. */
function queryName({ text, variant }: WatchedPair['query']): string {
  return `"${text}"${variant === '' ? '' : ` (${variant})`}`
}

/*
 * Sites among the first N results of a query, own ones left out. S is in the list, - it is not, ? the list has a gap in its first
 * N results and S is not in it.
 *
 *   before     now  new-competitor
 *   - (all)    S    begins
 *   S          S    -
 *   S -        S    -: it was there lately
 *   ?          S    -: it may have been there
 *   (open)     -    over
 *   (open)     ?    changes nothing
 *   no list    S    -: a new query
 */

/** What `new-competitor` says of the sites of a query: one verdict for each site. */
export function judgeSites(
  rule: AlertRule,
  { query, lists }: WatchedSerp,
  open: ReadonlyMap<string, OpenAlert>,
): readonly (RuleVerdict & { readonly site: string })[] {
  const now = lists.at(-1)
  const top = rule.top ?? 0
  if (now === undefined) return []
  const rankIn = ({ ranks }: SiteList, site: string): number | null => {
    const rank = ranks.get(site)
    return rank === undefined || rank > top ? null : rank
  }
  const isIn = (list: SiteList, site: string): boolean | null =>
    rankIn(list, site) !== null ? true : list.depth >= top ? false : null
  const verdicts: (RuleVerdict & { readonly site: string })[] = []
  for (const [site, { before }] of open)
    if (isIn(now, site) === false) {
      const text = `${site} is no longer in the top ${top} for ${queryName(query)}`
      verdicts.push({ site, state: 'over', before, now: null, text })
    }
  for (const [site, rank] of now.ranks) {
    if (open.has(site) || rank > top) continue
    const says = (before: SiteList, after: SiteList): boolean | null => {
      const [was, is] = [isIn(before, site), isIn(after, site)]
      return was === null || is === null ? null : !was && is
    }
    const start = confirmedStart(lists, says, rule.confirm)
    if (start === null) continue
    const earlier = lists.slice(0, lists.indexOf(start.before))
    if (earlier.some((list) => isIn(list, site) === true)) continue
    const text = `${site} is new in the top ${top} for ${queryName(query)}: rank ${rank}`
    verdicts.push({ site, state: 'open', before: null, now: rank, text })
  }
  return verdicts
}

/*
 * An AI answer cites pages: a target is cited, or it is not.
 *
 *   before     now        citation-lost  citation-won
 *   cited      cited      -              -
 *   cited      not cited  x              -
 *   not cited  cited      -              x
 *   not cited  not cited  -              -
 */

const isCited = ({ rank }: AnsweredObservation): boolean => rank !== null

/** What a citation rule says of a target of a query; null where nothing begins and nothing is over. */
function judgeCitation(
  rule: AlertRule,
  { observations, query, target }: WatchedPair,
  open: OpenAlert | null,
): RuleVerdict | null {
  const deep = withoutShallow(observations)
  const now = observations.at(-1)
  if (now === undefined || deep.at(-1) !== now) return null
  const wanted = rule.when === 'citation-won'
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
  const start = confirmedStart(deep, says, rule.confirm)
  return start === null
    ? null
    : { state: 'open', before: start.before.rank, now: now.rank, text: sentence('') }
}

/*
 * Which page of a target ranks. A and B are pages, - is an absence, which changes nothing.
 *
 *   before  now         url-changed
 *   A       A           -
 *   A       B           begins
 *   A       -           ?
 *   (A) B   B           goes on: B is the page that it began with
 *   (A) B   A           over
 *   A B     A           -: it ranked lately
 *   (A) B   C           over, and begins anew from B to C
 */

/** Two pages that take turns are told once: a page that ranked in one of these last observations is no other page. */
const lateLooks = 3

/** What `url-changed` says of a target of a query; null where nothing begins and nothing is over. */
function judgePage(
  rule: AlertRule,
  { observations, query, target }: WatchedPair,
  open: OpenAlert | null,
  linkText: (id: number) => string,
): RuleVerdict | null {
  const page = ({ rank, link }: AnsweredObservation): number | null =>
    rank === null || rank > (rule.top ?? rank) ? null : link
  const ranking = observations.filter((observation) => page(observation) !== null)
  const now = observations.at(-1)
  if (now === undefined || ranking.at(-1) !== now) return null
  const address = linkText(now.link as number)
  const ranksNow = (page: OpenAlert['now']): boolean =>
    typeof page === 'string' && pageAddress(page) === pageAddress(address)
  if (open !== null) {
    if (ranksNow(open.now)) return null
    const back = ranksNow(open.before) ? 'again' : 'now'
    const text = `${target.label} ranks for ${queryName(query)} with ${address} ${back}, not with ${open.now}`
    return { state: 'over', before: open.before, now: address, text, link: now.link, rank: now.rank }
  }
  // Links that an older version stored have different numbers for one page.
  const isSame = ({ link }: AnsweredObservation): boolean =>
    link === now.link || ranksNow(linkText(link as number))
  const says = (earlier: AnsweredObservation, observation: AnsweredObservation): boolean =>
    !isSame(earlier) && isSame(observation)
  const start = confirmedStart(ranking, says, rule.confirm)
  if (start === null) return null
  const lately = ranking.slice(0, ranking.indexOf(start.before)).slice(-lateLooks)
  if (lately.some(isSame)) return null
  const before = linkText(start.before.link as number)
  const text = `${target.label} ranks for ${queryName(query)} with another page: ${address}, before ${before}`
  return { state: 'open', before, now: address, text, link: now.link, rank: now.rank }
}
