import type { Words } from '../en/index.ts'
import { counted, formats } from './formats.ts'

const { number } = formats

export const charts: Words['charts'] = {
  chart: 'Diagramm',
  arrowKeys: 'Mit den Pfeiltasten geht es von Tag zu Tag.',
  byCurve: (curve) => `Klickkurve: ${curve}.`,
  clicksAreEstimates: 'Echte Klicks weichen ab: Sie hängen von allem ab, was auf der Ergebnisseite steht.',
  choose: 'Kennzahl des Diagramms',
  figures: {
    visibility: 'Sichtbarkeit',
    share_of_voice: 'Share of Voice',
    average_position: 'Durchschnittsposition',
    top_3: 'Top 3',
    top_10: 'Top 10',
    clicks: 'Klicks',
  },
  topTitle: (rank) => `Suchbegriffe in den Top ${rank}`,
  ofEachTarget: (figure) => `${figure} jeder Website im Zeitverlauf.`,
  lines: 'Linien des Diagramms',
  noLine: 'Keine Linie ist eingeblendet. Ein Klick auf einen Namen zeigt seine Linie.',
  nothingChecked: 'An diesen Tagen wurde nichts geprüft.',
  notChecked: 'nicht geprüft',
  leftOut: (checked, asked) => `ausgelassen, ${number(checked)} von ${number(asked)} Suchbegriffen geprüft`,
  withCount: (value, count, checked) => `${value} (${number(count)} von ${number(checked)})`,
  ofChecked: (value, checked, asked) =>
    `${value} (${number(checked)} von ${number(asked)} Suchbegriffen geprüft)`,
  striped: (days) =>
    days === 1
      ? 'Gestreift: ein Tag, an dem weniger als die Hälfte der Suchbegriffe geprüft wurde. Er fehlt in den Linien.'
      : `Gestreift: ${counted(days, 'Tag', 'Tage')}, an denen weniger als die Hälfte der Suchbegriffe geprüft wurde. Sie fehlen in den Linien.`,
  sharesOfChecked: 'Anteil an den Suchbegriffen, die an dem Tag geprüft wurden.',
  clicksOfChecked: (curve) =>
    `Eine Schätzung nach der Klickkurve ${curve}, für geprüfte Suchbegriffe mit Suchvolumen. An Tagen, an denen weniger geprüft wurde, ist sie niedriger.`,
  comparedDay: 'Vergleichstag',
  comparedBefore: (day) => `Der Vergleichstag, der ${day}, liegt vor diesen Tagen.`,
  notes: 'Anmerkungen im Diagramm',
  note: (place, text) => `Anmerkung ${place}: ${text}`,
  ranksOverTime: 'Suchbegriffe nach Position im Zeitverlauf.',
  ranges: { over: 'über 100', absent: 'nicht gefunden', unknown: 'nicht bekannt' },
  history: (target, query, days) =>
    `Position von ${target} für ${query} an ${days === 1 ? 'einem Tag' : `${number(days)} Tagen`}.`,
  best: (rank) => `Bestwert ${number(rank)}`,
  notFound: 'nicht gefunden',
  notKnown: 'nicht bekannt',
  historyKey:
    'Eine Lücke ist ein Tag ohne Position. ×: in den geprüften Ergebnissen nicht gefunden. ?: nicht bekannt. Leerer Kreis: geschätzt.',
}
