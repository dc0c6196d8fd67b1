/** What a page of web results may have beside its results, as far as the service tells it. Each has a bit, in this order. */
export const serpFeatures = ['knowledge', 'related'] as const

export type SerpFeature = (typeof serpFeatures)[number]

/** The number that stands for a set of features. */
export function featureBits(features: readonly SerpFeature[]): number {
  return features.reduce((bits, one) => bits | (1 << serpFeatures.indexOf(one)), 0)
}

export function hasFeature(bits: number, feature: SerpFeature): boolean {
  return (bits & featureBits([feature])) !== 0
}
