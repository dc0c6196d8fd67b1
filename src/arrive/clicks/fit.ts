/** What Search Console counted of keywords on days on which we know their rank. */
export interface RankSample {
  readonly rank: number
  readonly clicks: number
  readonly impressions: number
}

/** Ranks that an own curve has. */
export const fittedRanks = 20
/** With fewer impressions a rank has the default rate, scaled to the own ones. */
const leastImpressions = 500
/** 95 of 100. */
const z = 1.959964

/**
 * Fits click-through rates by rank: of each rank the clicks by the impressions, made monotone by isotonic regression, weighed by impressions.
 * A rank with too few impressions falls back to the default curve, scaled by what the other ranks have of it.
 */
export function fitCurve(samples: Iterable<RankSample>, defaultRates: readonly number[]) {
  const sums = Array.from({ length: fittedRanks }, () => ({
    clicks: 0,
    impressions: 0,
    samples: 0,
    spread: 0,
  }))
  const kept: RankSample[] = []
  for (const one of samples) {
    const sum = sums[one.rank - 1]
    if (sum === undefined || one.impressions <= 0) continue
    kept.push(one)
    sum.clicks += one.clicks
    sum.impressions += one.impressions
    sum.samples++
  }
  for (const { rank, clicks, impressions } of kept) {
    const sum = sums[rank - 1] as (typeof sums)[number]
    sum.spread += (clicks - impressions * (sum.clicks / sum.impressions)) ** 2
  }
  const enough = sums.map(({ impressions }) => impressions >= leastImpressions)
  const monotone = decreasing(
    sums.map(({ clicks, impressions }, place) => ({
      value: impressions === 0 ? 0 : clicks / impressions,
      weight: enough[place] ? impressions : 0,
    })),
  )
  const expected = sums.reduce(
    (sum, { impressions }, place) => sum + (enough[place] ? impressions * (defaultRates[place] ?? 0) : 0),
    0,
  )
  const got = sums.reduce((sum, { clicks }, place) => sum + (enough[place] ? clicks : 0), 0)
  const scale = expected > 0 && got > 0 ? got / expected : 1
  const rates = sums.map((_, place) => (enough[place] ? (monotone[place] as number) : null))
  return sums.map((sum, place) => {
    const before = rates.slice(0, place).findLast((rate) => rate !== null) ?? 1
    const after = rates.slice(place + 1).find((rate) => rate !== null) ?? 0
    const fallback = Math.min(before, Math.max(after, (defaultRates[place] ?? 0) * scale))
    const { clicks, impressions, samples: count } = sum
    return {
      rank: place + 1,
      /** Clicks by impressions, between 0 and 1; null where nothing was counted. */
      measured: impressions === 0 ? null : clicks / impressions,
      /** The rate of the curve: monotone, and that of the default curve where too little was counted. */
      rate: rates[place] ?? fallback,
      /** Interval that covers the true rate 95 times in 100; null where nothing was counted. */
      interval: impressions === 0 ? null : interval(sum),
      clicks,
      impressions,
      /** Samples with that rank. */
      samples: count,
      isDefault: rates[place] === null,
    }
  })
}

/**
 * Wilson's interval of the rate. Impressions of one keyword are not independent of each other: where the keywords differ by more than chance
 * does, as many impressions count as if they were.
 */
function interval({
  clicks,
  impressions,
  samples,
  spread,
}: {
  readonly clicks: number
  readonly impressions: number
  readonly samples: number
  readonly spread: number
}): readonly [number, number] {
  const rate = clicks / impressions
  const chance = impressions * rate * (1 - rate)
  const excess = samples > 1 && chance > 0 ? (spread / chance) * (samples / (samples - 1)) : 1
  const n = impressions / Math.max(1, excess)
  const middle = (rate + z ** 2 / (2 * n)) / (1 + z ** 2 / n)
  const half = (z / (1 + z ** 2 / n)) * Math.sqrt((rate * (1 - rate)) / n + z ** 2 / (4 * n ** 2))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}

/** The nearest values that never rise, by weighed squares (pool adjacent violators). What weighs nothing has the value of its neighbour. */
export function decreasing(
  all: readonly { readonly value: number; readonly weight: number }[],
): readonly number[] {
  const blocks: { value: number; weight: number; size: number }[] = []
  for (const { value, weight } of all) {
    let block = { value, weight, size: 1 }
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      if (last.weight > 0 && block.weight > 0 && last.value >= block.value) break
      const both = last.weight + block.weight
      block = {
        value: both === 0 ? 0 : (last.value * last.weight + block.value * block.weight) / both,
        weight: both,
        size: last.size + block.size,
      }
      blocks.pop()
    }
    blocks.push(block)
  }
  return blocks.flatMap(({ value, size }) => Array<number>(size).fill(value))
}

/** Samples of one keyword. */
export interface KeywordSamples {
  readonly keyword: string
  readonly samples: readonly RankSample[]
}

/** Every fifth keyword is held out, by its text: the same ones each time. */
export function isHeldOut(keyword: string): boolean {
  let hash = 0x811c9dc5
  for (let at = 0; at < keyword.length; at++) hash = Math.imul(hash ^ keyword.charCodeAt(at), 0x01000193)
  return (hash >>> 8) % 5 === 0
}

/** Foretells the clicks of held-out keywords by their impressions and ranks, with a curve that was fitted to the others. */
export function heldOut(
  all: readonly KeywordSamples[],
  defaultRates: readonly number[],
): {
  readonly keywords: number
  readonly clicks: number
  readonly foretold: number
  /** What the default curve foretells of the same. */
  readonly byDefault: number
} {
  const others = all.filter(({ keyword }) => !isHeldOut(keyword))
  const curve = fitCurve(
    others.flatMap(({ samples }) => samples),
    defaultRates,
  )
  const held = all.filter(({ keyword }) => isHeldOut(keyword))
  const sums = { clicks: 0, foretold: 0, byDefault: 0 }
  for (const { samples } of held)
    for (const { rank, clicks, impressions } of samples) {
      sums.clicks += clicks
      sums.foretold += impressions * (curve[rank - 1]?.rate ?? 0)
      sums.byDefault += impressions * (defaultRates[rank - 1] ?? 0)
    }
  return { keywords: held.length, ...sums }
}
