import type { ResultKind } from '../model/result.ts'
import type { Run } from '../model/run.ts'
import type { Target } from '../model/target.ts'
import type { AskedRun, QueryText, TrackingStore } from '../store/tracking.ts'
import type { RankHistory, RemovedKeyword } from './rank-history.ts'
import { type SeriesDraft, seriesDraft } from './series-draft.ts'

/** Where a history comes from. */
export interface HistorySource {
  readonly job: string
  /** Runs of the job, in any order; what the newest of them asks is reported. */
  readonly runs: readonly Pick<Run, 'id' | 'date'>[]
  /** Targets of the whole job that are reported. */
  readonly targets: readonly Target[]
  readonly store: Pick<TrackingStore, 'askedIn' | 'observedIn' | 'queries' | 'links'>
  /** Kind of the results that an operation ranks. */
  readonly kindOf: (operation: string) => ResultKind
  /** Whether absence counts with what was looked at, however deep was asked. */
  readonly lookedAtOnly?: boolean
}

/** A history with the numbers that its queries and links have in the store. */
export interface BuiltHistory {
  readonly history: RankHistory
  /** Numbers of the queries that stand in `keywords`, place by place. */
  readonly queryIds: readonly number[]
  /** Targets that are no longer asked of queries that still are. */
  readonly removedTargets: number
}

/** Puts together what the runs of a job observed of what its newest run asks. */
export function buildHistory({
  job,
  runs,
  targets,
  store,
  kindOf,
  lookedAtOnly = false,
}: HistorySource): BuiltHistory {
  const inOrder = [...runs].sort((a, b) => (a.date === b.date ? a.id - b.id : a.date < b.date ? -1 : 1))
  const days = [...new Set(inOrder.map(({ date }) => date))]
  const newest = runs.reduce((newest, { id }) => Math.max(newest, id), 0)
  const asked = store.askedIn(newest, targets)
  const { place: linkPlace, ids: linkIds } = places()
  const { drafts, others } = gather(inOrder, { asked, days, store, linkPlace })
  const series = drafts.map((draft) => draft.finish(lookedAtOnly))
  return {
    history: {
      job,
      days,
      keywords: asked.queries.map(({ id: _, ...keyword }) => ({
        ...keyword,
        kind: kindOf(keyword.operation),
      })),
      targets: asked.targets.map(({ id: _, ...target }) => target),
      series,
      links: store.links(linkIds),
      removed: removedKeywords(others.queries, store.queries([...others.queries.keys()]), days),
    },
    queryIds: asked.queries.map(({ id }) => id),
    removedTargets: others.targets.size,
  }
}

interface Gathering {
  readonly asked: AskedRun
  readonly days: readonly string[]
  readonly store: HistorySource['store']
  /** Place of a link among those of the history. */
  readonly linkPlace: (id: number) => number
}

/** What is asked, with all its days; and of what else was observed, which queries on which day last, which targets. */
function gather(runs: HistorySource['runs'], { asked, days, store, linkPlace }: Gathering) {
  const keywordOf = new Map(asked.queries.map(({ id }, place) => [id, place]))
  const targetOf = new Map(asked.targets.map(({ id }, place) => [id, place]))
  const byQuery = new Map(asked.queries.map(({ id }) => [id, new Map<number, SeriesDraft>()]))
  const drafts = asked.pairs.map(([query, target]) => {
    const [keyword, place] = [keywordOf.get(query) as number, targetOf.get(target) as number]
    const draft = seriesDraft({ keyword, target: place, days: days.length, linkPlace })
    byQuery.get(query)?.set(target, draft)
    return draft
  })
  const others = { queries: new Map<number, number>(), targets: new Set<number>() }
  for (const { id, date } of runs) {
    const day = days.indexOf(date)
    for (const row of store.observedIn(id)) {
      const [query, target] = row
      const ofQuery = byQuery.get(query)
      const draft = ofQuery?.get(target)
      if (draft !== undefined) draft.add(day, row)
      else if (ofQuery !== undefined) others.targets.add(target)
      else others.queries.set(query, day)
    }
  }
  return { drafts, others }
}

/** Numbers in the order in which they were first asked for. */
function places() {
  const known = new Map<number, number>()
  const ids: number[] = []
  const place = (id: number): number => {
    const before = known.get(id)
    if (before !== undefined) return before
    known.set(id, ids.length)
    return ids.push(id) - 1
  }
  return { place, ids }
}

function removedKeywords(
  lastDays: ReadonlyMap<number, number>,
  texts: readonly QueryText[],
  days: readonly string[],
): readonly RemovedKeyword[] {
  return texts
    .map(({ id, ...text }) => ({ ...text, last: days[lastDays.get(id) as number] as string }))
    .sort((a, b) => compareTexts(a.query, b.query) || compareTexts(a.operation, b.operation))
}

/** The same order on every machine. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
