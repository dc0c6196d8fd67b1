import type { AskedDay } from './baseline.ts'
import { type Standing, standingsOf } from './cohort.ts'
import type { Measure } from './headline.ts'
import { partsOf } from './parts.ts'
import type { RankHistory } from './rank-history.ts'
import { type PartSummary, partSummaries, standingsByTarget } from './summary.ts'

/** The keywords of one tag. */
export interface Segment {
  /** Null for keywords without any. */
  readonly tag: string | null
  readonly keywords: number
  /** Place in the targets of the history, and its figures, those of the headline kind first. */
  readonly targets: readonly (readonly [target: number, readonly PartSummary[]])[]
}

/** The headline figures per tag, in the order of the tags, those without one last. A keyword counts in each of its tags. */
export function segments(
  history: RankHistory,
  { compare = null, ...measure }: Measure & { readonly compare?: AskedDay | null },
): readonly Segment[] {
  const byTag = new Map<string | null, Standing[]>()
  const parts = partsOf(history, measure.kind)
  for (const standing of standingsOf(history, compare)) {
    const { tags } = standing.keyword
    for (const tag of tags.length === 0 ? [null] : new Set(tags)) {
      const those = byTag.get(tag)
      if (those === undefined) byTag.set(tag, [standing])
      else those.push(standing)
    }
  }
  return [...byTag]
    .sort(([a], [b]) => compareTags(a, b))
    .map(([tag, standings]) => ({
      tag,
      keywords: new Set(standings.map(({ series }) => series.keyword)).size,
      targets: [...standingsByTarget(standings)]
        .sort(([a], [b]) => a - b)
        .map(([target, own]) => [target, partSummaries(own, parts, measure)]),
    }))
}

/** By code units, the same everywhere; no tag comes twice. */
function compareTags(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}
