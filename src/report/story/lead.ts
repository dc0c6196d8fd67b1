import { groupedBy, joined } from '../../model/text.ts'
import { daysBetween } from '../../model/time.ts'
import type { DailyFigures } from '../daily.ts'
import { isKnownOnBothDays } from '../headline.ts'
import { type Part, partLabel } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { Words } from '../words/words.ts'
import {
  asShown,
  checkedOf,
  isByClicks,
  leadMetricOf,
  leastKeywords,
  leastShown,
  levelOn,
  type MainMetric,
  measure,
  type StoryFacts,
  type StorySentence,
  spanOf,
  trendOfMetric,
  unitOf,
  withAbout,
} from './facts.ts'
import { type StoryMove, why } from './moves.ts'
import { against, rivalSentence, standSentences, tagSentence } from './rivals.ts'

/** Sentences at most. */
const most = 3
/** Fewer unknown keywords change no shown figure. */
const leastUnknown = 0.01
/** From here on every figure stands on what happened to be checked, which is said before them. */
const leastMany = 0.25
const leastAdded = 0.1
/** In percent of the figure of the compared day, as cards round it: a reader sees that it is another one. */
const leastNoticed = 5
/** Of visibility, of which some percent are nothing where it is small. */
const leastPoints = 0.005
/** A figure that swings by more of its height is not called steady. */
const mostCalm = 0.2
const mostCalmPoints = 0.01
const leastPartialDays = { days: 3, share: 0.1 }

const about = (
  text: string,
  to: Exclude<StorySentence['opens']['to'], 'keyword' | 'tag'> = 'keywords',
): StorySentence => ({
  text,
  opens: { to },
})

/** What is at stake, why it changed, against whom; then what stands, where there is less to say. */
export function sentencesOf(facts: StoryFacts, moved: () => readonly StoryMove[]): readonly StorySentence[] {
  const first = warnings(facts)
  const { own, metric } = facts
  const isFew = own.length > 0 && own.length < leastKeywords && metric !== 'cited'
  const instead = isFew ? fewKeywords(facts, most - first.length) : situation(facts)
  if (instead !== null) {
    const isNone = !isFew && own.length > 0 && checkedOf(own).observed > 0 && checkedOf(own).ranked === 0
    const rest = isNone ? against(facts) : []
    return [...first, ...instead, ...rest].slice(0, most)
  }
  const all = [...first, lead(facts), ...why(facts, moved()), ...rivalSentence(facts)]
  if (all.length < most) all.push(...tagSentence(facts))
  if (all.length < most) all.push(...standSentences(facts, all))
  return all.slice(0, most)
}

/** Why there are no figures at all, and what there is instead; null where there are figures. */
function situation(facts: StoryFacts): readonly StorySentence[] | null {
  const { history, own, say } = facts
  const last = history.days.at(-1)
  if (last === undefined) return [about(say.story.notRun)]
  if (history.targets.length === 0) return [about(say.story.noTargets)]
  if (own.length === 0) return [about(say.ranks.noMatch)]
  const { observed, ranked } = checkedOf(own)
  if (observed * 2 < own.length) {
    const now = say.story.fewChecked(observed, own.length, last)
    return [about(`${now} ${lastKnown(facts, last)}`)]
  }
  return ranked === 0 ? [about(nothingRanks(facts, observed))] : null
}

/** What was known on the last day on which enough was checked. */
function lastKnown(facts: StoryFacts, last: string): string {
  const { own, metric, say } = facts
  const before = facts.daily(own).findLast((day) => day.day !== last && levelOn(day, metric) !== null)
  if (before === undefined) return say.story.noLastDay
  const text = say.story.figure[metric](figureOn(before, metric), before.coverage.observed, 0, null)
  return say.story.lastKnown(text, before.day)
}

function nothingRanks({ own, span, metric, say, of }: StoryFacts, keywords: number): string {
  const depths = new Set(
    own.flatMap(({ current }) => (current.state === 'absent' ? [current.absentDepth ?? 0] : [])),
  )
  const [depth = 0] = depths
  const known = own.filter(isKnownOnBothDays)
  const before = known.filter(({ baseline }) => baseline.value.rank !== null).length
  const now =
    metric === 'cited'
      ? say.story.noneCited(of, keywords)
      : say.story.nothingRanks(of, keywords, depths.size === 1 && depth > 0 ? depth : null)
  return known.length === 0 || span === null
    ? now
    : `${now} ${say.story.rankedBefore(before, span, metric === 'cited')}`
}

/** That the day is suspect as a whole, or that a large part of the keywords could not be checked. */
function warnings({ history, own, say }: StoryFacts): readonly StorySentence[] {
  const { suspect, days } = history
  const unknown = unknownOf(own)
  return [
    ...(suspect === undefined || suspect.day !== days.at(-1) ? [] : [about(doubts(suspect, say))]),
    ...(unknown * 2 > own.length || unknown < own.length * leastMany || unknown === 0
      ? []
      : [about(say.story.manyNotChecked(unknown, own.length))]),
  ]
}

function doubts({ gone, ranked, alike, audience }: NonNullable<RankHistory['suspect']>, say: Words): string {
  return joined(
    [
      gone === 0 ? '' : say.story.gone(gone, ranked),
      alike === 0 ? '' : say.story.alike(alike),
      say.story.suspect[audience],
    ],
    ' ',
  )
}

/** What the sentences leave out, and what the figures do not include, such as other parts of the job. */
export function limits(
  facts: StoryFacts,
  others: readonly { readonly part: Part; readonly facts: StoryFacts }[],
): readonly string[] {
  const { own, span, compare, say } = facts
  const asked = others.filter((one) => checkedOf(one.facts.own).observed > 0)
  const besides = asked.map((one) => ({
    name: partLabel(one.part, say),
    text: figureText(one.facts, leadMetricOf(one.facts)),
  }))
  const all = besides.length === 0 ? [] : [say.story.besides(besides)]
  const unknown = unknownOf(own)
  const oldVolumes = own
    .flatMap(({ keyword }) => keyword.oldVolume ?? [])
    .toSorted((a, b) => a.date.localeCompare(b.date))
  const [oldest] = oldVolumes
  if (oldest !== undefined)
    all.push(say.story.oldVolumes(oldVolumes.length, facts.named(oldest.source), oldest.date))
  all.push(...importedTexts(facts))
  if (unknown >= own.length * leastUnknown && unknown > 0 && unknown < own.length * leastMany)
    all.push(say.story.notChecked(unknown, own.length))
  if (span === null) return all
  const changed = askedOtherwise(own)
  if (changed !== null) all.push(say.story.someAskedOtherwise(changed.changed, own.length, changed.since))
  const added = own.filter(({ baseline, change }) => baseline === null && change.movement === 'new').length
  if (added > 0 && added >= own.length * leastAdded) all.push(say.story.added(added, own.length))
  const days = facts.daily(own).filter(({ day }) => day > span.day)
  const partial = days.filter(({ isPartial, coverage }) => isPartial || coverage.observed === 0).length
  if (partial >= leastPartialDays.days && partial >= days.length * leastPartialDays.share)
    all.push(say.story.partialDays(partial, days.length))
  if (compare !== null && daysBetween(compare.day, span.day) !== 0)
    all.push(say.story.otherDay(compare.day, span.day))
  return all
}

/** What was imported of these keywords of the target; nothing where that is none. */
function importedTexts({ own, place, history, named, say }: StoryFacts): readonly string[] {
  const { imported, days } = history
  const [first] = days
  if (imported === undefined || first === undefined) return []
  const { lines, sources, countsAll, pages } = imported
  const told = new Set(own.map(({ series }) => series.keyword))
  const keywords = lines.filter(({ keyword, target }) => target === place && told.has(keyword)).length
  if (keywords === 0) return []
  const ranks = say.story.imported(sources.map(named).join(', '), first, keywords, own.length)
  const text = joined([ranks, countsAll ? say.story.importedElements : ''], ' ')
  if (pages === undefined || pages.sites.length === 0) return [text]
  const sites = pages.sites.map((one) => withAbout(named(one.site), say.number(one.keywords)))
  return [text, say.story.importedSites(sites.join(', '), pages.asked)]
}

/** Keywords that are not compared because another query was asked then, and the last day on which one changed; null for none. */
function askedOtherwise(own: readonly KeywordStatus[]) {
  const days = own.flatMap(({ keyword: { since }, baseline, change }) =>
    since !== undefined && baseline === null && change.movement === 'unknown' ? since : [],
  )
  const since = days.toSorted().at(-1)
  return since === undefined ? null : { changed: days.length, since }
}

function unknownOf(own: readonly KeywordStatus[]): number {
  return own.filter(({ current }) => current.state === 'unknown').length
}

/**
 * Better or worse, then where a few keywords stand, each on its own, because their sums swing with each of them.
 *
 * @param room sentences at most; keywords that have none of their own share the last one
 */
function fewKeywords(facts: StoryFacts, room: number): readonly StorySentence[] {
  const { own, span } = facts
  const { observed, ranked } = checkedOf(own)
  if (observed === 0 && own.length > 1) return situation(facts) ?? []
  const none = span === null && observed > 0 ? [about(whyNone(facts))] : []
  if (ranked === 0 && observed > 1) return [about(nothingRanks(facts, observed)), ...none]
  const first = own.length > 1 ? verdict(facts) : []
  const last = [...none, ...(own.length === 1 ? bestRival(facts) : [])]
  const inOrder = own.toSorted((a, b) => wayOf(facts, b) - wayOf(facts, a) || orderOf(a) - orderOf(b))
  const each = inOrder.map((status) => keywordSentence(status, facts))
  const alone = Math.max(0, room - first.length - last.length - 1)
  const rest = each.slice(alone)
  const shared = rest.length > 1 ? [about(`${rest.map(({ text }) => text.slice(0, -1)).join('; ')}.`)] : rest
  const [begin, ...others] = [...first, ...each.slice(0, alone), ...shared]
  if (begin === undefined) return none
  const text = facts.of === null ? begin.text : facts.say.story.begun(facts.of, begin.text)
  return [{ ...begin, text }, ...others, ...last]
}

/** Whether few keywords are better or worse in all, by the figure that leads. */
function verdict(facts: StoryFacts): readonly StorySentence[] {
  const { own, span, say } = facts
  const metric = leadMetricOf(facts)
  const { value, delta } = measure(facts, metric, own)
  if (span === null || delta === null || value === null) return []
  const isSame = isNothing(metric, delta)
  const changed = isSame ? say.story.asBefore(span) : changeText(facts, metric)
  const text = `${figureText(facts, metric)}, ${changed}${placeText(facts, metric)}.`
  return [about(isSame ? text : say.story.verdict(delta > 0 ? 'better' : 'worse', text), 'chart')]
}

/** Whether the shown digits of a change are zero. */
function isNothing(metric: MainMetric, delta: number): boolean {
  return Math.abs(delta) < (metric === 'visibility' ? leastShown : metric === 'clicks' ? 0.5 : 1)
}

/** The figure that leads as it is now. */
function figureText(facts: StoryFacts, metric: MainMetric): string {
  const { observed, ranked } = checkedOf(facts.own)
  return facts.say.story.figure[metric](
    measure(facts, metric, facts.own).value ?? 0,
    observed,
    ranked,
    facts.of,
  )
}

/** How much more or less it is than on the compared day. */
function changeText(facts: StoryFacts, metric: MainMetric): string {
  const { say, span, own } = facts
  const { delta, before } = measure(facts, metric, own)
  return span === null ? '' : `${say.story.more[metric](delta ?? 0, before ?? 0)} ${say.story.than(span)}`
}

/** How much a keyword moved, by clicks. */
function wayOf(facts: StoryFacts, status: KeywordStatus): number {
  if (!isKnownOnBothDays(status)) return 0
  const { current, baseline } = status
  return Math.abs(facts.worthOf(status, current.rank) - facts.worthOf(status, baseline.value.rank))
}

/** The competitor with the best rank for the only keyword. */
function bestRival(facts: StoryFacts): readonly StorySentence[] {
  const [best] = facts.rivals
    .flatMap(({ label, statuses }) =>
      statuses.flatMap(({ current: { rank } }) => (rank === null ? [] : [{ label, rank }])),
    )
    .toSorted((a, b) => a.rank - b.rank)
  return best === undefined
    ? []
    : [about(facts.say.story.bestRival(facts.named(best.label), best.rank), 'rivals')]
}

/** Ranked ones first, unknown ones last. */
function orderOf({ current: { state, rank } }: KeywordStatus): number {
  return rank ?? (state === 'absent' ? 1e6 : 1e7)
}

function keywordSentence(status: KeywordStatus, { say, history, nameOf }: StoryFacts): StorySentence {
  const { current, baseline, change, keyword, series } = status
  const [name, span] = [nameOf(keyword), spanOf([status], history.days)]
  const before = baseline?.value.rank ?? null
  const now =
    current.state === 'unknown'
      ? say.story.keywordNotChecked(name)
      : say.story.keywordAt(name, current.rank, current.absentDepth || null)
  const moved =
    span === null || change.movement === 'unknown' ? '' : say.story.keywordMoved(before, current.rank, span)
  return { text: `${now}${moved}.`, opens: { to: 'keyword', keyword: series.keyword } }
}

/** The figure that is at stake, how it changed, on what way, and the place among the sites. */
function lead(facts: StoryFacts): StorySentence {
  const { say, of, span, own } = facts
  const metric = leadMetricOf(facts)
  const { value, delta } = measure(facts, metric, own)
  const begun = (text: string): string =>
    of === null || metric === 'cited' ? text : say.story.begun(of, text)
  const figure = begun(figureText(facts, metric))
  const trend = trendOfMetric(facts, metric, own)
  const where = placeText(facts, metric)
  if (trend === null || span === null) return about(`${figure}${where}. ${whyNone(facts)}`, 'chart')
  const changed = changeText(facts, metric)
  const { turned, between } = pathTexts(facts, metric, trend)
  if (trend.isMoved) return about(`${figure}, ${changed}${turned}${where}.`, 'chart')
  if (isNoticed(facts, metric, trend.isNews)) {
    const how = trend.last === null ? between : say.story.onLast(trend.last === 'all')
    return about(`${figure}, ${changed}${how}${where}.`, 'chart')
  }
  const [low, high] = [trend.range?.low.level ?? 0, trend.range?.high.level ?? 0]
  const isCalm = high - low <= Math.max(high * mostCalm, metric === 'visibility' ? mostCalmPoints : 0)
  if (isByClicks(metric) && isCalm && turned === '') {
    const steady = begun(say.story.steadyFigure[metric](value ?? 0))
    return about(`${steady} ${say.story.since(span)}${where}.`, 'chart')
  }
  const same = isByClicks(metric) ? say.story.asBefore(span) : say.story.asMany(delta === 0, span)
  return about(`${figure}, ${same}${turned || (isCalm ? '' : between)}${where}.`, 'chart')
}

/** What lies between the two days: the farthest day, and the least and the most; empty where they are of other keywords than the figure. */
function pathTexts(
  facts: StoryFacts,
  metric: MainMetric,
  { turn, range }: NonNullable<ReturnType<typeof trendOfMetric>>,
) {
  const { say, span, own } = facts
  const { now, before, value } = measure(facts, metric, own)
  const shown = (figure: number | null): string => say.figure(figure, unitOf(metric))
  if (span === null || shown(now) !== shown(value)) return { turned: '', between: '' }
  const [most, low, high] = [turn?.on, range?.low, range?.high].map((day) =>
    day === undefined ? null : figureOn(day.figures, metric),
  )
  const sign = turn?.way === 'up' ? 1 : -1
  const isBeyond = most != null && [now, before].every((end) => (most - (end ?? 0)) * sign > 0)
  return {
    turned:
      turn === null || !isBeyond
        ? ''
        : say.story.turned(turn.way, shown(most), say.dayBefore(turn.on.day, span.until)),
    between:
      low == null || high == null || shown(low) === shown(high)
        ? ''
        : say.story.between(shown(low), shown(high)),
  }
}

/** Whether a difference has to be told although the days beside both ends do not differ: a card shows it, and "steady" would look wrong. */
function isNoticed(facts: StoryFacts, metric: MainMetric, isNews: boolean): boolean {
  const { delta, before } = measure(facts, metric, facts.own)
  const change = Math.abs(delta ?? 0)
  const isShown = !isNothing(metric, change) && (metric !== 'visibility' || change >= leastPoints)
  return isNews || (isShown && Math.round((change * 100) / (before || change)) >= leastNoticed)
}

/** A figure that leads, on one of the days. */
function figureOn(day: DailyFigures, metric: MainMetric): number {
  return isByClicks(metric)
    ? (day.figures[metric].value ?? 0)
    : Math.round((levelOn(day, metric) ?? 0) * day.coverage.observed)
}

/** Why nothing is compared. */
export function whyNone({ own, history, compare, span, say }: StoryFacts): string {
  const [first, last] = [firstDay(own, history.days), history.days.at(-1)]
  const common = own.filter(isKnownOnBothDays).length
  if (span !== null) return say.story.fewInCommon(common, checkedOf(own).observed, span)
  const changed = askedOtherwise(own)
  if (changed !== null) return say.story.askedOtherwise(changed.since)
  if (first === undefined || first === last) return say.story.firstDay
  if (compare === null) return say.story.notCheckedThen(history.days.at(-2) ?? first)
  return daysBetween(first, compare.day) < 0
    ? say.story.beginsLater(first)
    : say.story.notCheckedThen(compare.day)
}

/** The first day on which one of the keywords was checked. */
function firstDay(statuses: readonly KeywordStatus[], days: readonly string[]): string | undefined {
  const first = statuses.reduce((least, { series }) => {
    const day = series.cells.findIndex((cell) => cell !== null && cell !== 0)
    return day === -1 ? least : Math.min(least, day)
  }, days.length)
  return days[first]
}

/** A figure of a site that is so near to the first one that it may be first tomorrow. */
const near = 0.1
/** Sites that are named as those who passed. */
const mostPassed = 2

/** The place among the sites that are tracked for the same keywords, and who is first or passed; null where there are none. */
function standing(facts: StoryFacts, metric: MainMetric) {
  const { own, say, named } = facts
  const keywords = new Set(own.map(({ series }) => series.keyword))
  const rivals = facts.rivals.filter(
    ({ statuses }) =>
      statuses.length === own.length && statuses.every(({ series }) => keywords.has(series.keyword)),
  )
  const shown = (value: number | null): number => asShown(metric, value)
  /** Null where one of them has no figure. */
  const placeIn = (mine: number | null, theirs: readonly (number | null)[]): number | null =>
    mine === null || theirs.includes(null)
      ? null
      : 1 + theirs.filter((value) => shown(value) > shown(mine)).length
  const mineNow = measure(facts, metric, own).value
  const values = rivals.map(({ statuses }) => measure(facts, metric, statuses).value)
  const now = placeIn(mineNow, values)
  if (rivals.length === 0 || now === null) return null
  const [mine, ...theirs] = commonOf([own, ...rivals.map(({ statuses }) => statuses)]).map((statuses) =>
    measure(facts, metric, statuses),
  )
  const isEnough = (mine?.common.length ?? 0) >= leastKeywords
  const [then, again] = (['before', 'now'] as const).map((day) =>
    placeIn(
      mine?.[day] ?? null,
      theirs.map((one) => one[day]),
    ),
  )
  // The figures that readers see are of all keywords, and must not say the contrary.
  const before = isEnough && again === now ? (then ?? null) : null
  const text = (place: number): string =>
    withAbout(named(rivals[place]?.label ?? ''), say.figure(values[place] ?? 0, unitOf(metric)))
  const inOrder = rivals.map((_, place) => place).toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
  const isAhead = (day: 'before' | 'now', place: number): boolean =>
    shown(theirs[place]?.[day] ?? null) > shown(mine?.[day] ?? null)
  const changedSides = (isNow: boolean): readonly string[] =>
    before === null || before === now
      ? []
      : inOrder
          .filter((place) => isAhead('now', place) === isNow && isAhead('before', place) !== isNow)
          // Readers see the figures of all keywords.
          .filter((place) => (shown(values[place] ?? null) - shown(mineNow)) * (isNow ? 1 : -1) > 0)
          .map(text)
  const [first = 0] = inOrder
  return {
    now,
    before,
    sites: rivals.length + 1,
    /** Who is first, where that is another site, and whether it is hardly ahead. */
    first: now === 1 ? null : text(first),
    isNear: shown(mineNow) >= shown(values[first] ?? null) * (1 - near),
    /** Who went ahead of the target and who fell behind it, where its place changed. */
    ahead: changedSides(true),
    behind: changedSides(false),
  }
}

/** The place by the figure that leads, who changed sides with the target, and who is first. */
function placeText(facts: StoryFacts, metric: MainMetric): string {
  const place = standing(facts, metric)
  if (place === null) return ''
  const { now, before, sites, first, isNear, ahead, behind } = place
  const words = facts.say.story
  const ofSites = words.ofSites(sites)
  if (before === null || before === now)
    return `, ${words.place(now)} ${ofSites}${first === null ? '' : words.behind(first, isNear)}`
  const named = (all: readonly string[]): string => {
    const more = all.length - mostPassed
    return facts.say.list([...all.slice(0, mostPassed), ...(more > 0 ? [words.moreSites(more)] : [])])
  }
  const sides = [
    ahead.length === 0 ? '' : words.passedBy(named(ahead)),
    behind.length === 0 ? '' : words.past(named(behind)),
  ]
  const isTold = first === null || ahead.slice(0, mostPassed).includes(first)
  return joined(
    [
      `: ${words.placeFrom(before, now)} ${ofSites}`,
      ...(now > before ? sides : sides.toReversed()),
      isTold ? '' : words.isFirst(first),
    ],
    ', ',
  )
}

/** The keywords that all of these were checked for on both days; the same lists where that is all. */
function commonOf(all: readonly (readonly KeywordStatus[])[]): readonly (readonly KeywordStatus[])[] {
  const known = groupedBy(all.flat().filter(isKnownOnBothDays), ({ series }) => series.keyword)
  const isCommon = ({ series }: KeywordStatus) => known.get(series.keyword)?.length === all.length
  return all.every((statuses) => statuses.every(isCommon))
    ? all
    : all.map((statuses) => statuses.filter(isCommon))
}
