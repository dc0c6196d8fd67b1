/** Charts, and what stands beside them. */
export const charts = {
  /** In the meaning of a figure that is made by a click-through curve. */
  byCurve: (curve: string) => `Click-through curve: ${curve}.`,
  clicksAreEstimates: 'Real clicks differ: they depend on all that stands on the result page.',
}
