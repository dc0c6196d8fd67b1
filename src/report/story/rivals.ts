import { groupedBy, joined } from '../../model/text.ts'
import { hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { rateOf } from '../metrics/figure.ts'
import { distribution, top } from '../metrics/positions.ts'
import { firstResults } from '../metrics/serps.ts'
import { discoverCompetitors, serpShareOfVoice } from '../metrics/shares.ts'
import {
  asShown,
  checkedOf,
  isByClicks,
  leadMetricOf,
  leastKeywords,
  leastShown,
  measure,
  type StoryFacts,
  type StorySentence,
  trendOfMetric,
} from './facts.ts'

/** Of the clicks: smaller changes of a site are no news. */
const leastShare = 0.01

const rivals = { to: 'rivals' } as const

/** The rival that changed most, whether it is tracked or not. */
export function rivalSentence(facts: StoryFacts): readonly StorySentence[] {
  const { span, say, metric, of } = facts
  if (span === null || facts.own.length < leastKeywords) return []
  const site = isByClicks(metric) ? movedSite(facts) : undefined
  if (site !== undefined) {
    const { name, before, now, mine } = site
    const beside = mine === null ? '' : say.story.sameShare(of, mine)
    return [{ text: `${say.story.siteMoved(name, before, now)}${beside}.`, opens: rivals }]
  }
  const lead = leadMetricOf(facts)
  const [most] = facts.rivals
    .flatMap(({ label, statuses }) => {
      const { before, now, delta } = measure(facts, lead, statuses)
      return isMoved(facts, statuses) && before !== null && now !== null
        ? [{ label, before, now, delta: delta ?? 0 }]
        : []
    })
    .toSorted((a, b) => Math.abs(b.delta) - Math.abs(a.delta))
  if (most === undefined) return []
  const moved = say.story.rivalMoved[lead](most.before, most.now)
  return [{ text: `${facts.named(most.label)} ${moved}.`, opens: rivals }]
}

/** The site whose share of the clicks on the first results changed most. */
function movedSite(facts: StoryFacts) {
  const { history, measure: options, sites, target } = facts
  const pairs = [...facts.pages().values()].filter(({ keyword }) =>
    hasClicks(history.keywords[keyword]?.kind ?? 'reference'),
  )
  if (pairs.length === 0) return undefined
  const tracked = new Map(facts.rivals.map(({ place, statuses }) => [place, statuses]))
  const moved = discoverCompetitors(pairs, { history, curve: options.curve }).sites.flatMap((one) => {
    const { change, share, shareBefore, targets, site } = one
    if (Math.abs(change ?? 0) < leastShare || share === null || shareBefore === null) return []
    // What a site that is not tracked lost is no news.
    if (targets.length === 0 && share < shareBefore) return []
    if (facts.told.has(site)) return []
    if (targets.some((place) => history.targets[place]?.own === true || history.targets[place] === target))
      return []
    const place = targets.find((target) => tracked.has(target))
    if (place !== undefined && !isMoved(facts, tracked.get(place) ?? [])) return []
    const name =
      place === undefined
        ? facts.say.story.notTracked(facts.named(sites[site] ?? ''))
        : facts.named(history.targets[place]?.label ?? '')
    return { site, name, before: shareBefore, now: share }
  })
  const [most] = moved.toSorted((a, b) => Math.abs(b.now - b.before) - Math.abs(a.now - a.before))
  if (most === undefined) return undefined
  facts.told.add(most.site)
  // The share of the target is that of the same results: the share of voice of the cards is one of all searches.
  const same = pairs.flatMap(({ current, compared }) =>
    compared === null ? [] : { ...current, depth: Math.min(current.depth, compared.depth) },
  )
  const mine = serpShareOfVoice(same, facts.place, { history, curve: options.curve }).value
  return { ...most, mine }
}

function isMoved(facts: StoryFacts, statuses: readonly KeywordStatus[]): boolean {
  return trendOfMetric(facts, leadMetricOf(facts), statuses)?.isMoved === true
}

/** The rival that changed most, or who has the places. */
export function against(facts: StoryFacts): readonly StorySentence[] {
  const moved = rivalSentence(facts)
  if (moved.length > 0) return moved
  const leading = standSentences(facts).filter(({ opens }) => opens.to === 'rivals')
  return leading.length > 0 ? leading : holder(facts)
}

/** The site outside the job that has most of the first ten results, where no tracked site ranks or none is tracked. */
function holder({ say, sites, named, measure: { curve }, ...facts }: StoryFacts): readonly StorySentence[] {
  const pages = [...facts.pages().values()]
  const counts = new Map<number, { appearances: number; clicks: number }>()
  for (const { current } of pages) {
    const ranks = firstResults(current).flatMap(([rank, , , site, targets]) =>
      site === null || targets.length > 0 ? [] : [[site, rank] as const],
    )
    // The best rank of each site is the last one that is set.
    for (const [site, rank] of new Map(ranks.toReversed())) {
      const { appearances, clicks } = counts.get(site) ?? { appearances: 0, clicks: 0 }
      counts.set(site, { appearances: appearances + 1, clicks: clicks + rateOf(curve, rank) })
    }
  }
  const [most] = [...counts].toSorted(
    ([, one], [, other]) => other.appearances - one.appearances || other.clicks - one.clicks,
  )
  const name = most === undefined ? undefined : sites[most[0]]
  return most === undefined || name === undefined
    ? []
    : [
        {
          text: say.story.holder(named(name), most[1].appearances, pages.length),
          opens: rivals,
        },
      ]
}

/** The tag that moved most, if it moved more than the whole. */
export function tagSentence(facts: StoryFacts): readonly StorySentence[] {
  const { own, say, span } = facts
  const metric = leadMetricOf(facts)
  if (!isByClicks(metric) || span === null) return []
  const whole = Math.abs(measure(facts, metric, own).delta ?? 0)
  const tagged = own.flatMap((status) => [...new Set(status.keyword.tags)].map((tag) => ({ tag, status })))
  const [most] = [...groupedBy(tagged, ({ tag }) => tag)]
    .flatMap(([tag, those]) => {
      const statuses = those.map(({ status }) => status)
      if (statuses.length < leastKeywords || statuses.length === own.length) return []
      const { delta, before } = measure(facts, metric, statuses)
      const size = Math.abs(delta ?? 0)
      return delta !== null && before !== null && size > whole ? [{ tag, statuses, delta, before, size }] : []
    })
    .toSorted((a, b) => b.size - a.size)
    .slice(0, mostTags)
    .filter(({ statuses }) => trendOfMetric(facts, metric, statuses)?.isMoved)
  if (most === undefined) return []
  const { tag, statuses, delta, before } = most
  const changed = `${say.story.more[metric](delta, before)} ${say.story.tagFigure[metric]}`
  return [{ text: say.story.tagMoved(facts.named(tag), statuses.length, changed), opens: { to: 'tag', tag } }]
}

/** So many tags are looked at: behind them changes are smaller. */
const mostTags = 5

/**
 * What can be said although nothing happened: who is first, and where the keywords stand.
 *
 * @param told what is said before it, and need not be said again
 */
export function standSentences(
  facts: StoryFacts,
  told: readonly StorySentence[] = [],
): readonly StorySentence[] {
  const { say, own } = facts
  const metric = leadMetricOf(facts)
  const mine = measure(facts, metric, own).value
  const [best] = facts.rivals
    .map(({ label, statuses }) => ({
      name: facts.named(label),
      value: measure(facts, metric, statuses).value ?? 0,
    }))
    .filter(({ value }) => value >= leastShown)
    .toSorted((a, b) => b.value - a.value)
  const leading =
    best === undefined || mine === null || told.some(({ text }) => text.includes(best.name))
      ? []
      : [
          {
            text: say.story.leads(
              best.name,
              asShown(metric, best.value) > asShown(metric, mine),
              say.story.leading[metric](best.value),
            ),
            opens: rivals,
          },
        ]
  if (metric === 'cited') return leading
  const isAlone =
    !facts.history.targets.some(({ own }, place) => !own && place !== facts.place) &&
    facts.rivals.length === 0 &&
    !told.some(({ opens }) => opens.to === 'rivals')
  const others = isAlone ? holder(facts) : []
  const alone = isAlone ? say.story.noRivals : ''
  const against = [...leading, ...others.map(({ text, opens }) => ({ text: `${alone} ${text}`, opens }))]
  const counts = distribution(own.map(({ current }) => current))
  const ranks = isByClicks(metric)
    ? say.story.topRanks(top(counts, 3), top(counts, 10), checkedOf(own).observed)
    : ''
  const text = joined([ranks, others.length > 0 ? '' : alone], ' ')
  return text === '' ? against : [...against, { text, opens: { to: 'keywords' } }]
}
