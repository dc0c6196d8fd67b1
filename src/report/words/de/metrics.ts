import type { MovementGroup } from '../../history/movement.ts'
import type { AbsentAs } from '../../metrics/figure.ts'
import type { ShownMetric } from '../../metrics/index.ts'
import type { Words } from '../en/index.ts'
import { formats } from './figures.ts'

const { number } = formats

const groups: Readonly<Record<MovementGroup, (depth: number | null) => string>> = {
  improved: () => 'verbessert',
  declined: () => 'verschlechtert',
  same: () => 'unverändert',
  unranked: (depth) =>
    depth === null ? 'weiterhin ohne Position' : `weiterhin nicht in den Top ${number(depth)}`,
  entered: (depth) => (depth === null ? 'neu platziert' : `neu in den Top ${number(depth)}`),
  left: (depth) => (depth === null ? 'herausgefallen' : `aus den Top ${number(depth)} gefallen`),
  new: () => 'erstmals geprüft',
  unknown: () => 'nicht bekannt',
}

const shortGroups: Partial<Record<MovementGroup, string>> = { entered: 'neu', left: 'weg', new: 'erstmals' }

const ranks: Words['ranks'] = {
  rank: (rank) => `Position ${number(rank)}`,
  notInTop: (depth) => `nicht in den Top ${number(depth)}`,
  estimated: (text) => `${text} (geschätzt)`,
  notKnown: 'nicht bekannt',
  noMatch: 'Kein Keyword passt zu den Filtern.',
  up: (places) => `um ${number(places)} gestiegen`,
  down: (places) => `um ${number(places)} gefallen`,
  unchanged: 'unverändert',
  usual: 'nicht mehr als die übliche Schwankung',
  missing: (keywords) => `(${number(keywords)} nicht gefunden)`,
  changeNotKnown: 'Veränderung nicht bekannt',
  group: (group, depth) => groups[group](depth),
  shortGroup: (group) => shortGroups[group] ?? groups[group](null),
  better: (size) => `um ${size} besser`,
  worse: (size) => `um ${size} schlechter`,
}

type MetricText = ReturnType<Words['metric']>

const own = 'eigene Definition'

const words: Readonly<Record<Exclude<ShownMetric, 'average_position'>, MetricText>> = {
  visibility: {
    label: 'Sichtbarkeit',
    definition:
      'Der Anteil aller möglichen Klicks, den die Positionen bringen; 100 % ist Position 1 bei jedem Keyword.',
    formula: 'Summe CTR(Position) / (CTR(1) x geprüfte Keywords)',
    source: 'die nach Klicks gewichtete Sichtbarkeit der Ranking-Werkzeuge; Position 1 bei allen ist 100 %',
  },
  share_of_voice: {
    label: 'Share of Voice',
    definition:
      'Der Anteil der Suchen nach den Keywords, die nach der Klickkurve mit einem Klick auf die Website enden.',
    formula: 'Summe Suchvolumen x CTR(Position) aller Treffer der Website / Summe der Suchvolumen',
    source: 'STAT, Hilfeseite „Share of voice“',
  },
  clicks: {
    label: 'geschätzte Klicks im Monat',
    shortLabel: 'Klicks/Monat',
    definition:
      'Die Klicks im Monat, die die besten Positionen nach der Klickkurve bringen; eine Schätzung, keine gezählten Besuche.',
    formula: 'Summe Suchvolumen x CTR(Position)',
    source: 'eigene Definition, nach dem Share of Voice von STAT',
  },
  distribution: {
    label: 'Verteilung der Positionen',
    definition:
      'Die Keywords auf Position 1, 2–3, 4–10, 11–20, 21–50, 51–100 oder tiefer, die nicht gefundenen und die nicht bekannten.',
    formula: 'Keywords je Bereich',
    source: 'die Bereiche der Ranking-Werkzeuge, ohne Überschneidung',
  },
  top_ranks: {
    label: 'Top 3 und Top 10',
    definition: 'Die Keywords auf Position 3 oder besser und die auf Position 10 oder besser.',
    formula: 'Keywords auf Position 1 bis 3; Keywords auf Position 1 bis 10',
    source: 'die Verteilung der Positionen, zusammengezählt',
  },
  site_share: {
    label: 'Anteil einer Website',
    definition:
      'Der Anteil der Klicks auf die ersten zehn Treffer, der auf eine Website entfällt, beobachtet oder nicht.',
    formula: 'Suchvolumen x CTR ihrer Treffer / Suchvolumen x CTR aller Treffer, unter den ersten zehn',
    source: 'der Share of Voice unter den ersten zehn Treffern, für jede Website',
  },
  cited_answers: {
    label: 'Antworten mit Quelle',
    definition: 'Der Anteil der KI-Antworten, die die Website mindestens einmal als Quelle nennen.',
    formula: 'KI-Antworten mit der Website als Quelle / geprüfte KI-Antworten',
    source: own,
  },
}

const metric: Words['metric'] = (name, { absent = 'depth' }) =>
  name === 'average_position' ? averagePosition(absent) : words[name]

function averagePosition(absent: AbsentAs): MetricText {
  const counted = absent === 'left out' ? 'Keywords mit Position' : 'geprüfte Keywords'
  return {
    label: 'Durchschnittsposition',
    shortLabel: 'Ø Position',
    definition:
      absent === 'left out'
        ? 'Die mittlere Position der Keywords, die eine haben.'
        : `Die mittlere Position der geprüften Keywords; ein nicht gefundenes zählt wie ${placeOf(absent)}.`,
    formula: `Summe der Positionen / ${counted}`,
    source: 'Advanced Web Ranking, Hilfeseite „Average Rank (AWR metric)“',
  }
}

function placeOf(absent: Exclude<AbsentAs, 'left out'>): string {
  if (absent === 'depth') return 'der Platz nach dem letzten abgefragten'
  return absent === 'looked at' ? 'der Platz nach dem letzten geprüften' : `Position ${absent}`
}

/** The words of metrics and of ranks. */
export const metrics = { metric, ranks }
