import { type AskedDay, askedBack } from '../../baseline.ts'
import { type Standing, standingsOf } from '../../cohort.ts'
import { filterPage } from '../../filter-history.ts'
import type { PageData } from '../../page-data.ts'
import { type Part, partKey, partOf, partsOf } from '../../parts.ts'
import type { Keyword, RankHistory, TrackedTarget } from '../../rank-history.ts'
import type { Choice } from './choice.ts'
import { localeOf } from './keyword/keyword-text.ts'
import { movementOf } from './movement-text.ts'

/** What is in sight: the part of the data that the reader chose. */
export interface View {
  /** Only the keywords and days in sight; places of keywords, targets and links are those of the whole. */
  readonly data: PageData
  readonly choice: Choice
  readonly history: RankHistory
  readonly target: TrackedTarget
  readonly asked: AskedDay | null
  /** Where the chosen target stands for each keyword in sight that it is tracked for. */
  readonly standings: readonly Standing[]
  /** Those of them that moved as chosen: the rows of the table of keywords. Figures are not of these: they would speak of winners alone. */
  readonly listed: readonly Standing[]
  /** Where every target stands for the keywords in sight; found when it is first asked for. */
  everyone(): readonly Standing[]
  /** The kinds of results and engines in sight, the one that figures are of first. */
  readonly parts: readonly Part[]
}

export function viewOf(data: PageData, choice: Choice): View {
  const { text, tag, operation, locale, movement, from, to } = choice
  const filtered = filterPage(data, {
    text,
    tags: tag === '' ? [] : [tag],
    operations: operation === '' ? [] : [operation],
    from,
    until: to,
  })
  const asked = askedDay(data, filtered.history.days, choice)
  const isOfLocale = (keyword: Keyword): boolean => localeOf(keyword) === locale
  const shown = locale === '' ? filtered : keep(filtered, data.history.keywords.map(isOfLocale))
  const { history } = shown
  const own = { ...history, series: history.series.filter(({ target }) => target === choice.target) }
  const standings = standingsOf(own, asked)
  const parts = partsOf(history, data.measure.kind)
  const chosen = parts.find((part) => partKey(part) === choice.part)
  return {
    data: shown,
    choice,
    history,
    target: data.history.targets[choice.target] as TrackedTarget,
    asked,
    standings,
    listed: listedOf(standings, movement),
    everyone: once(() => standingsOf(history, asked)),
    parts: chosen === undefined ? parts : [chosen, ...parts.filter((part) => part !== chosen)],
  }
}

/** The same with the keywords listed that moved otherwise: nothing else of a view depends on that. */
export function withMovement(view: View, choice: Choice): View {
  return { ...view, choice, listed: listedOf(view.standings, choice.movement) }
}

function listedOf(standings: readonly Standing[], movement: string): readonly Standing[] {
  return movement === '' ? standings : standings.filter(({ change }) => movementOf(change) === movement)
}

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}

/** The same of what its figures are of: one kind of results of one engine, for others are no part of the same average. */
export function countedView(view: View): View {
  const [counted] = view.parts
  if (counted === undefined || view.parts.length === 1) return view
  const key = partKey(counted)
  const isCounted = view.history.keywords.map((keyword) => partKey(partOf(keyword)) === key)
  const data = keep(view.data, isCounted)
  const ofPart = (all: readonly Standing[]) => all.filter(({ series }) => isCounted[series.keyword])
  return {
    ...view,
    ...{ data, history: data.history },
    ...{
      standings: ofPart(view.standings),
      listed: ofPart(view.listed),
      everyone: once(() => ofPart(view.everyone())),
    },
  }
}

/**
 * The same of fewer keywords, which keep their places.
 *
 * @param fits by place in the keywords
 */
function keep(data: PageData, fits: readonly boolean[]): PageData {
  const { history, serps, citations } = data
  const isWanted = ({ keyword }: { readonly keyword: number }): boolean => fits[keyword] === true
  return {
    ...data,
    history: { ...history, series: history.series.filter(isWanted) },
    serps: serps.filter(isWanted),
    citations: citations.filter(isWanted),
  }
}

/** What was asked for on the command line, unless the reader asks for another day. */
function askedDay(
  { compare: given }: PageData,
  days: readonly string[],
  { compare }: Choice,
): AskedDay | null {
  return compare === '' ? given : (askedBack(compare, days) ?? given)
}
