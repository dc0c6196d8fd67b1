import { findOperation } from '../../catalog/index.ts'
import { groupedBy } from '../../model/groups.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { kindCodes } from '../../model/result.ts'
import { endOf, isOver, type Run } from '../../model/run.ts'
import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import type { Target } from '../../model/target.ts'
import { compileTarget, matcherOf } from '../../rank/match.ts'
import { localeText } from '../../report/cells.ts'
import { defaultCurve } from '../../report/ctr.ts'
import { rateOf } from '../../report/metrics/figure.ts'
import type { QueryOfRun, ResultList, RunToJudge, TargetOfRun } from '../../store/alerts.ts'
import type { Store } from '../../store/store.ts'
import { daysLeft } from '../status/judge.ts'
import { recentSpending } from '../status/spending.ts'
import { causeOfRun } from './causes.ts'
import type { AlertChange, AlertFacts } from './evaluate.ts'
import type {
  AnsweredObservation,
  RunHealth,
  SiteList,
  WatchedPair,
  WatchedQuery,
  WatchedSerp,
} from './facts.ts'
import type { Described } from './judgement.ts'

/** What the store does not hold of the end of a run. */
export type EndOfRun = Pick<RunHealth, 'unexplained' | 'balance'>

type Watching = Pick<AlertFacts, 'suspicion' | 'pairs' | 'serps' | 'linkText'>

/** How a run went as a whole. */
export async function healthOf(
  store: Store,
  run: Run,
  rules: readonly AlertRule[],
  end: EndOfRun,
): Promise<RunHealth> {
  const now = endOf(run)
  const balance = end.balance === null ? null : { credits: end.balance, readAt: now }
  const isAsked = (kind: AlertKind): boolean => rules.some(({ when }) => when === kind)
  return {
    finishReason: run.finishReason ?? 'crashed',
    hasCause: causeOfRun(run.finishReason ?? 'crashed', false) !== null,
    tasks: await store.taskCounts(run.id),
    mismatched: isAsked('suspect') ? (store.runQuality(run.id).mismatched ?? 0) : 0,
    ...end,
    daysLeft: isAsked('days-left')
      ? daysLeft({ balance, spent: await recentSpending(store, now) }, now)
      : null,
  }
}

const ofPairs: readonly AlertKind[] = [
  ...(['drop', 'gain', 'entered', 'left', 'lost'] as const),
  ...(['url-changed', 'citation-lost', 'citation-won'] as const),
]

/** What a run observed, with what was observed before: nothing for a run that may still go on, and what no rule watches is not read. */
export async function observedFacts(
  store: Store,
  { run }: Pick<RunToJudge, 'run'>,
  rules: readonly AlertRule[],
): Promise<Watching> {
  const linkText = (id: number): string => store.links([id])[0] ?? ''
  const ofQueries = rules.filter(({ when }) => ofPairs.includes(when) || when === 'new-competitor')
  const isAsked = ofQueries.length > 0 || rules.some(({ when }) => when === 'suspect')
  const suspicion = isAsked && isOver(run) ? store.suspicionOf(run.id) : null
  if (ofQueries.length === 0 || !isOver(run)) return { suspicion, pairs: [], serps: [], linkText }
  const watched = watchedQueries(store.queriesOfRun(run.id))
  return {
    suspicion,
    pairs: await watchedPairs(store, run, { rules: ofQueries, watched }),
    serps: [...watchedSerps(store, run, { rules: ofQueries, watched })],
    linkText,
  }
}

type Queries = ReadonlyMap<number, WatchedQuery>

interface Watch {
  readonly rules: readonly AlertRule[]
  readonly watched: Queries
}

function watchedQueries(queries: readonly QueryOfRun[]): Queries {
  const sameText = groupedBy(queries, ({ text }) => text)
  return new Map(
    queries.map(({ params, ...query }) => {
      const variant = variantOf({ ...query, params }, sameText.get(query.text) ?? [])
      const cites = kindOf(query.operation) === 'reference'
      return [query.id, { ...query, variant, locale: localeText(params), cites }]
    }),
  )
}

/** What tells a query apart from others of the same text: its operation and parameters, where they differ. */
function variantOf({ operation, params }: QueryOfRun, same: readonly QueryOfRun[]): string {
  const differs = (value: (query: QueryOfRun) => unknown): boolean => new Set(same.map(value)).size > 1
  const names = [...new Set(same.flatMap((query) => Object.keys(query.params)))]
  const told = names.filter((name) => name in params && differs((query) => query.params[name]))
  return [
    ...(differs((query) => query.operation) ? [operation] : []),
    ...told.map((name) => `${name}=${params[name]}`),
  ].join(', ')
}

function kindOf(operation: string) {
  const found = findOperation(operation)
  return found?.billable === true ? found.kind : null
}

async function watchedPairs(
  store: Store,
  run: Run,
  { rules, watched }: Watch,
): Promise<readonly WatchedPair[]> {
  const named = new Set(rules.flatMap((rule) => rule.for.targets ?? []))
  const isNew = await newTargets(store, run)
  const targets = store
    .targetsOfRun(run.id)
    .filter((target) => target.own || named.has(target.site) || named.has(target.label))
    .filter((target) => !isNew(target))
  const byId = new Map(targets.map((target) => [target.id, target]))
  const pairs: WatchedPair[] = []
  for (const { query: queryId, target: targetId, looks } of store.lastLooks(run, [...byId.keys()])) {
    const [query, target] = [watched.get(queryId), byId.get(targetId)]
    if (query === undefined || target === undefined || looks.length < 2) continue
    pairs.push({ query, target, looks: looks.map(lookFrom).reverse() })
  }
  return inOrder(pairs, watched)
}

function lookFrom([rank, depth, pages, link]: readonly [
  number | null,
  number,
  number | null,
  number | null,
]): AnsweredObservation {
  return { rank, depth, pages, link }
}

/** In the order of the queries' texts. */
function inOrder(pairs: readonly WatchedPair[], watched: Queries): readonly WatchedPair[] {
  const place = new Map([...watched.keys()].map((id, index) => [id, index]))
  return [...pairs].sort((a, b) => (place.get(a.query.id) ?? 0) - (place.get(b.query.id) ?? 0))
}

/** Runs that may be judged late are few: the run before one of them is among so many. */
const lateRuns = 10

/**
 * Targets of the whole job that the run before did not have. Their earlier ranks were looked up in stored answers later: compared
 * with those, alerts would tell of changes from before the target was watched.
 */
async function newTargets(store: Store, run: Run): Promise<(target: TargetOfRun) => boolean> {
  const leftOut = new Set(store.notComparedWith(run))
  const newest = await store.runs({ job: run.job, limit: lateRuns })
  const before = newest.find(({ id }) => id < run.id && !leftOut.has(id))
  const keyOf = ({ site, match }: Pick<TargetOfRun, 'site' | 'match'>): string => `${match}:${site}`
  const keysOf = (one: Run): ReadonlySet<string> => new Set(one.settings.targets.map(keyOf))
  if (before === undefined) return () => false
  const [now, earlier] = [keysOf(run), keysOf(before)]
  return (target) => {
    const key = keyOf(target)
    return now.has(key) && !earlier.has(key)
  }
}

/** Lists of results before the run's that tell whether a site is new. */
const listsBefore = 3

function* watchedSerps(store: Store, run: Run, { rules, watched }: Watch): Generator<WatchedSerp> {
  const sites = rules.filter(({ when }) => when === 'new-competitor')
  if (sites.length === 0) return
  const top = Math.max(...sites.map((rule) => rule.top ?? 0))
  const isAsked = ({ tags }: WatchedQuery): boolean =>
    sites.some(({ for: only }) => only.tags?.some((tag) => tags.includes(tag)) ?? true)
  const isOwn = ownResults(run.settings.targets)
  const leftOut = new Set(store.notComparedWith(run))
  const needsAll = sites.some(({ confirm }) => confirm > 1)
  for (const query of watched.values()) {
    const kind = kindOf(query.operation)
    if (kind === null || query.cites || !isAsked(query)) continue
    const runs = store.runsWithResults(run, query.id, listsBefore).filter((id) => !leftOut.has(id))
    if (runs[0] !== run.id) continue
    const listOf = (id: number): SiteList =>
      siteList(store.resultList({ run: id, query: query.id, kind: kindCodes[kind], top }), isOwn)
    const now = listOf(run.id)
    const [last, ...earlier] = runs.slice(1)
    const before = last === undefined ? [] : [listOf(last)]
    // On most days the same sites are there, and nothing is new.
    const isQuiet = before.every(({ ranks }) => [...now.ranks.keys()].every((site) => ranks.has(site)))
    yield { query, lists: [now, ...before, ...(isQuiet && !needsAll ? [] : earlier.map(listOf))].reverse() }
  }
}

function siteList({ results, depth }: ResultList, isOwn: (site: string, link: string) => boolean): SiteList {
  const ranks = new Map<string, number>()
  for (const { rank, site, link } of results)
    if (!ranks.has(site) && !isOwn(site, link)) ranks.set(site, rank)
  return { ranks, depth }
}

/** Whether a result is an own target's. Only links of their sites are compared. */
function ownResults(targets: readonly Target[]): (site: string, link: string) => boolean {
  const own = targets.filter((target) => target.own)
  const matchers = groupedBy(
    own.map((target) => ({ target, matches: matcherOf(target) })),
    ({ target }) => {
      const host = compileTarget(target)?.site.host ?? target.site
      return siteOf(host) ?? host
    },
  )
  return (site, link) => matchers.get(site)?.some(({ matches }) => matches(link)) ?? false
}

/** Alerts of a rank that someone else has now. */
const ofLosses: readonly AlertKind[] = ['drop', 'left', 'lost']

/** What messages say of an alert beside its sentence. */
export function describing(
  store: Pick<Store, 'links' | 'resultList'>,
  { id: run }: Pick<Run, 'id'>,
): (change: AlertChange, query: WatchedQuery) => Described {
  const resultAt = (
    { id, operation }: WatchedQuery,
    rank: number,
  ): ResultList['results'][number] | undefined => {
    const kind = kindOf(operation)
    if (kind === null) return undefined
    const { results } = store.resultList({ run, query: id, kind: kindCodes[kind], top: rank })
    return results.find((one) => one.rank === rank)
  }
  return ({ rule: { when }, state, before, now, link, rank }, query) => {
    const { locale, tags, volume } = query
    const [was, is] = [rankIn(before), rank ?? rankIn(now)]
    const share = Math.abs(rateOf(defaultCurve, is) - rateOf(defaultCurve, was))
    const rival = when === 'new-competitor' && is !== null ? resultAt(query, is) : undefined
    const successor =
      ofLosses.includes(when) && state === 'open' && was !== null ? resultAt(query, was) : undefined
    const own = link == null ? null : (store.links([link])[0] ?? null)
    return {
      share,
      details: {
        tags,
        volume,
        locale: locale === '' ? null : locale,
        url: rival?.link ?? own,
        clicks: volume === null ? null : Math.round(volume * share),
        there_now: successor?.site ?? null,
      },
    }
  }
}

/** What is told of a page has addresses there. */
function rankIn(value: AlertChange['now']): number | null {
  return typeof value === 'number' ? value : null
}
