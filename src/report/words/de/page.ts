import type { Words } from '../en/index.ts'
import { clicks, counted, counts, formats } from './figures.ts'

const header: Words['header'] = {
  overview: 'Überblick',
  skipToFigures: 'Zu den Zahlen springen',
  skipToKeywords: 'Zu den Keywords springen',
  print: 'Drucken',
  noDays: 'Noch kein Tag',
  lastChecked: (day) => `zuletzt geprüft am ${day}`,
  shown: 'Gezeigt',
  selected: (part, all) =>
    part === all ? counts.keywords(all) : `${formats.number(part)} von ${counts.keywords(all)}`,
  listed: (part) => `${formats.number(part)} aufgeführt`,
  notRun: 'Der Job ist noch nicht gelaufen.',
  noTarget: 'Der Job beobachtet keine Website, deshalb gibt es keine Positionen.',
  onlyGroup: (part, all, group) =>
    part === 0
      ? `Keines von ${counts.keywords(all)}: ${group}.`
      : `Nur ${formats.number(part)} von ${formats.number(all)}: ${group}.`,
  rankOn: (day, compared) => `Die Position jedes Keywords am ${day}, ${compared}.`,
  notShown: (queries) =>
    `Nicht gezeigt: ${counts.keywords(queries)}, ${queries === 1 ? 'der nicht mehr abgefragt wird' : 'die nicht mehr abgefragt werden'}.`,
}

const period: Words['period'] = {
  range: (from, until) => `${from} bis ${until}`,
  compared: (days) => `verglichen mit dem ${days}`,
  notCompared: 'kein Vergleichstag',
  nearest: 'oder dem nächsten geprüften Tag',
  askedFor: (day, tolerance) => `gewünscht: ${day}, ±${tolerance}`,
}

const filters: Words['filters'] = {
  label: 'Filter',
  reset: 'Zurücksetzen',
  all: 'Alle',
  target: 'Website',
  competitor: (name) => `${name} (Wettbewerber)`,
  view: 'Ansicht',
  views: 'Gespeicherte Ansichten',
  allKeywords: 'Alle Keywords',
  search: 'Suche',
  tag: 'Gruppe',
  engine: 'Suchmaschine',
  locale: 'Land, Sprache',
  figuresOf: 'Zahlen für',
  usualPart: 'Hauptergebnisse',
  listed: 'Aufgeführte Keywords',
  period: 'Zeitraum',
  lastDays: (days) => (days === 1 ? 'Letzter Tag' : `Letzte ${days} Tage`),
  quarter: (quarter, year) => `Q${quarter} ${year}`,
  wholeHistory: 'Gesamter Verlauf',
  freeDays: 'Tage wählen …',
  from: 'Von',
  until: 'Bis',
  comparedWith: 'Verglichen mit',
  beforePeriod: 'Vor dem Zeitraum',
  previousPeriod: 'Vorheriger Zeitraum',
  earlier: (days) => `${counted(days, 'Tag', 'Tage')} früher`,
  yearEarlier: 'Ein Jahr früher',
  freeDay: 'Tag wählen …',
  comparedDay: 'Vergleichstag',
}

const { dayBefore, list, number } = formats

const charts: Words['charts'] = {
  chart: 'Diagramm',
  arrowKeys: 'Mit den Pfeiltasten geht es von Tag zu Tag.',
  byCurve: (curve) => `Klickkurve: ${curve}.`,
  clicksAreEstimates: 'Echte Klicks weichen ab: Sie hängen von allem ab, was auf der Ergebnisseite steht.',
  choose: 'Kennzahl des Diagramms',
  figures: {
    visibility: 'Sichtbarkeit',
    average_position: 'Durchschnittsposition',
    top_10: 'Top 10',
    clicks: 'Klicks',
  },
  topTitle: (rank) => `Keywords in den Top ${rank}`,
  ofEachTarget: (figure) => `${figure} jeder Website im Zeitverlauf.`,
  nothingChecked: 'An diesen Tagen wurde nichts geprüft.',
  notChecked: 'nicht geprüft',
  leftOut: (checked, asked) => `ausgelassen, ${number(checked)} von ${number(asked)} Keywords geprüft`,
  withCount: (value, count, checked) => `${value} (${number(count)} von ${number(checked)})`,
  ofChecked: (value, checked, asked) => `${value} (${number(checked)} von ${number(asked)} Keywords geprüft)`,
  incomplete: (days) =>
    `Nicht enthalten: ${days === 1 ? 'ein Tag, an dem' : `${formats.number(days)} Tage, an denen`} weniger als die Hälfte der Keywords geprüft wurde.`,
  comparedDay: 'Vergleichstag',
  notes: 'Anmerkungen im Diagramm',
  note: (place, text) => `Anmerkung ${place}: ${text}`,
  history: (target, query, days) =>
    `Position von ${target} für ${query} an ${days === 1 ? 'einem Tag' : `${number(days)} Tagen`}.`,
  best: (rank) => `Bestwert ${number(rank)}`,
  imported: (sources, countsAll) => `importiert (${sources}${countsAll ? ', alle Elemente' : ''})`,
  notFound: 'nicht gefunden',
  historyKey:
    'Eine Lücke ist ein Tag ohne Position. ×: in den geprüften Ergebnissen nicht gefunden. ?: nicht bekannt. Leerer Kreis: geschätzt.',
}

const tables: Words['tables'] = {
  more: (next, all) => `${formats.number(next)} weitere von ${formats.number(all)} zeigen`,
  printed: (first, all) => `Die ersten ${formats.number(first)} von ${counted(all, 'Zeile', 'Zeilen')}.`,
  mostChanged: (shown, all, { moved, hasVolume }) => {
    const others = hasVolume ? 'mit den meisten Suchen' : 'mit den besten Positionen'
    const keywords = (value: number): string => counted(value, 'Keyword', 'Keywords')
    const which =
      moved === shown
        ? `${keywords(shown)} mit der größten Änderung der Klicks`
        : moved === 0
          ? `${keywords(shown)} ${others}`
          : `${keywords(moved)} mit geänderten Klicks und ${formats.number(shown - moved)} weitere ${others}`
    return `${which}, von ${formats.number(all)}.`
  },
}

const keywords: Words['keywords'] = {
  label: 'Keywords',
  show: 'Keywords einzeln oder in Gruppen',
  signs: 'Was die Zeichen bedeuten',
  keyword: 'Keyword',
  rank: 'Position',
  change: 'Änderung',
  trend: 'Verlauf',
  volume: 'Volumen',
  noVolume: 'kein Suchvolumen angegeben',
  counted: 'Klicks, gezählt',
  notCounted: 'von der Search Console nicht genannt',
  clicks: 'Klicks',
  noClicks: 'nicht geschätzt',
  page: 'Seite',
  noPage: 'keine Seite platziert',
}

const scorecards: Words['scorecards'] = {
  by: { tag: 'Nach Gruppe', locale: 'Nach Land und Sprache', engine: 'Nach Suchmaschine' },
  group: { tag: 'Gruppe', locale: 'Land und Sprache', engine: 'Suchmaschine' },
  noTag: 'ohne Gruppe',
  noLocale: 'nicht angegeben',
  keywords: 'Begriffe',
  clicks: 'Klicks im Monat',
  unchecked: (unchecked) => `${counts.keywords(unchecked)} nicht geprüft`,
}

const keyword: Words['keyword'] = {
  history: 'Position im Zeitverlauf',
  pages: 'Platzierte Seiten',
  nothingBefore: 'kein Vergleich möglich',
  since: (day) => `seit dem ${day}`,
  from: 'von ',
  best: 'Beste Position',
  neverRanked: 'nie platziert',
  volume: 'Suchvolumen',
  searches: 'Suchen im Monat',
  countedOf: (impressions, position) => `${impressions} Impressionen, Position ${position}`,
  firstChecked: 'Erstmals geprüft',
  targetPage: 'Zielseite',
  place: (place, all) => `${place} von ${counts.keywords(all)}`,
  previous: 'Voriges Keyword',
  next: 'Nächstes Keyword',
  close: 'Schließen',
  noPage: 'An den gewählten Tagen war keine Seite platziert.',
  onDays: (days, span) => `${counted(days, 'Tag', 'Tage')}, ${span}`,
  on: (day) => `am ${day}`,
  isTarget: 'die Zielseite',
  ranksNow: 'jetzt platziert',
  further: (day) => `Weitere Ergebnisse am ${day}: `,
  rank: (rank) => `Platz ${rank} `,
  targetNotRanked: 'Die Zielseite war nicht platziert: ',
  whichPage: 'Welche Seite an welchem Tag platziert war.',
  none: 'keine',
}

const competitors: Words['competitors'] = {
  now: 'Jetzt',
  before: 'Vorher',
  figuresLabel: 'Zahlen aller beobachteten Websites',
  site: 'Website',
  beatsYou: 'Vor Ihnen bei',
  beats: (name) => `Vor ${name} bei`,
  itself: 'eine eigene Website',
  beatsNote: (tied, neither, undecided) =>
    `${tied} mit demselben Ergebnis, ${neither} ohne Platzierung beider, ${undecided} nicht bekannt`,
  gaining: 'Weitere aufsteigende Websites',
  inTopTen: 'In den Top 10',
}

const serps: Words['serps'] = {
  firstTen: 'Die ersten zehn Ergebnisse',
  compareWith: 'Vergleichen mit',
  noEarlier: 'Es gibt keinen früheren Tag zum Vergleich.',
  notChecked: (day) => `Am ${day} wurden die Top 10 nicht geprüft.`,
  notIncluded: (day) => `Die Ergebnisse vom ${day} sind nicht in diesem Bericht.`,
  included: (days) => `Enthalten sind ${days}.`,
  moreDays: 'Weitere Tage kommen mit --serps hinzu, zum Beispiel --serps 30d.',
  brokenDepth: (depth) => `Nur die ersten ${depth} wurden lückenlos geprüft.`,
  noTitle: 'Ohne Titel',
  target: 'gewählt',
  own: 'eigene',
  competitor: 'Wettbewerber',
  linkOf: (rank) => `, Adresse von Ergebnis ${rank}`,
  features: {
    overTime: 'SERP-Features',
    chart: 'Was Tag für Tag auf der Ergebnisseite stand.',
    there: 'vorhanden',
    notThere: 'nicht vorhanden',
    key: 'Gefüllt: vorhanden. Leer: nicht vorhanden. Ohne Zeichen: nicht bekannt.',
    names: {
      knowledge: 'Knowledge Panel',
      related: 'Verwandte Suchanfragen',
    },
  },
}

const blocks: Words['blocks'] = {
  moves: {
    all: 'Alle',
    winners: 'Gestiegen',
    losers: 'Gefallen',
    entered: 'Neu',
    left: 'Heraus',
    passed: 'Überholt',
  },
  nothingMoved: 'Kein Keyword hat sich bewegt.',
  clicks: (curve, isOld) =>
    `Klicks sind Schätzungen nach der Klickkurve ${curve}${isOld ? ', gemessen vor der Zeit der KI-Antworten' : ''}.`,
}

const brand: Words['brand'] = {
  kind: 'Ranking-Bericht',
  for: (client) => `für ${client}`,
  by: (agency) => `von ${agency}`,
  comment: 'Kommentar',
}

const overview: Words['overview'] = {
  quoted,
  notFound: (depth) => (depth === null ? 'nicht gefunden' : `nicht in den Top ${number(depth)}`),
  cited: 'zitiert',
  notCitedYet: 'nicht zitiert',
  labels: {
    clicks: 'Klicks im Monat, geschätzt',
    visibility: 'Sichtbarkeit',
    share_of_voice: 'Share of Voice',
    top_ten: 'Top 10',
    top_three: 'Top 3',
    ranked: 'Rankende Keywords',
    cited: 'In KI-Antworten zitiert',
  },
  ofChecked: (some, all) => `${number(some)} von ${number(all)}`,
  alsoCited: (others) =>
    `auch zitiert: ${list(others.map(({ name, answers }) => `${name} in ${number(answers)}`))}`,
  countedIn: (sum, days) => `${clicks(sum)} in ${counted(days, 'Tag', 'Tagen')} gezählt`,
  sinceDay: (day, until) => `seit dem ${dayBefore(day, until)}`,
  passed: {
    ahead: (rival) => `${rival} liegt jetzt davor`,
    behind: (rival) => `${rival} liegt jetzt dahinter`,
  },
  blocks: {
    moved: 'Was sich bewegt hat',
    next: 'Nächste Schritte',
    rivals: 'Wettbewerber',
    keywords: 'Keywords',
    notes: 'Anmerkungen',
  },
  untold:
    'Zu dieser Auswahl gibt es Diagramm, Zahlen und Listen, aber keine Sätze und keine nächsten Schritte.',
  toWhole: 'Zum ganzen Bericht',
  inShort: 'Auf einen Blick',
  grey: 'Grau: nicht mehr als die übliche Schwankung, oder zu wenige Tage, um sie zu kennen.',
  checked: (observed, expected) => `${number(observed)} von ${counts.keywords(expected)} geprüft`,
  notCounted: (uncounted) => `${number(uncounted)} ohne Suchvolumen`,
  clicksMoreOrFewer: (clicks) =>
    `etwa ${counted(Math.round(Math.abs(clicks)), 'Klick', 'Klicks')} im Monat ${clicks > 0 ? 'mehr' : 'weniger'}`,
}

function quoted(text: string): string {
  return `„${text}“`
}

const runs: Words['runs'] = {
  spent: (all, credits, ambiguous) =>
    `${counted(all, 'Lauf', 'Läufe')}: ${counted(credits, 'Credit', 'Credits')} verbraucht${ambiguous === 0 ? '' : `, möglicherweise ${number(ambiguous)} weitere berechnet`}.`,
  failed: (failed, planned) =>
    `${number(failed)} von ${counted(planned, 'Aufgabe', 'Aufgaben')} ${failed === 1 ? 'schlug' : 'schlugen'} fehl.`,
  mismatched: (answers) =>
    answers === 1
      ? '1 Antwort nennt eine andere Anfrage als die gesendete. Ihre Positionen können falsch sein.'
      : `${number(answers)} Antworten nennen eine andere Anfrage als die gesendete. Ihre Positionen können falsch sein.`,
}

const definitions: Words['definitions'] = {
  lead: 'Keywords, die nicht geprüft werden konnten, gehen in keine Kennzahl ein.',
  signs: [
    [
      '7',
      'Position',
      'Die Anzahl der verschiedenen Treffer davor, plus eins, über alle geprüften Ergebnisseiten.',
    ],
    [
      '~7',
      'Geschätzte Position',
      'Eine Ergebnisseite davor wurde nicht geprüft und zählt mit der üblichen Zahl an Treffern.',
    ],
    [
      '>30',
      'Nicht in den Top 30',
      'Unter den ersten 30 Treffern war die Website nicht. Sie kann weiter hinten stehen.',
    ],
    ['?', 'Nicht bekannt', 'Eine Ergebnisseite konnte nicht abgerufen werden oder wurde nicht abgerufen.'],
    [
      '▲ ▼',
      'Besser, schlechter',
      'Grau: nicht mehr als die übliche Schwankung von Tag zu Tag, oder diese ist nicht bekannt. Zwei Tage werden nur so weit verglichen, wie beide geprüft wurden; sonst ist die Veränderung nicht bekannt.',
    ],
  ],
}

/** The words of the page. */
export const page = {
  blocks,
  brand,
  charts,
  competitors,
  definitions,
  filters,
  header,
  keyword,
  keywords,
  overview,
  period,
  runs,
  scorecards,
  serps,
  tables,
}
