import type { Words } from '../en/index.ts'

export const charts: Words['charts'] = {
  byCurve: (curve) => `Klickkurve: ${curve}.`,
  clicksAreEstimates: 'Echte Klicks weichen ab: Sie hängen von allem ab, was auf der Ergebnisseite steht.',
}
