import type { LeadMetric } from '../../findings/finding.ts'
import { begun, threeDigits, withMore } from '../en/findings.ts'
import type { Words } from '../en/index.ts'
import { minus } from '../formats.ts'
import { counts, formats } from './figures.ts'

const { decimal, list, longDay, number, percent } = formats

const points = (share: number) => `${decimal(Math.abs(share) * 100)} Prozentpunkte`
const places = (ranks: number) =>
  Math.abs(ranks) === 1 ? 'einen Platz' : `${number(Math.abs(ranks))} Plätze`
const countedDays = 60
const since = (days: number, day: string) =>
  days === 1 ? 'seit dem Vortag' : days <= countedDays ? `in ${days} Tagen` : `seit dem ${longDay(day)}`
const than = (days: number, day: string) =>
  days === 1 ? 'als am Vortag' : days <= countedDays ? `als vor ${days} Tagen` : `als am ${longDay(day)}`
const you = (of: string | null) => of ?? 'Ihnen'
const to = (share: number | null) => (share === null ? '' : ` auf ${percent(share)}`)
const leading: Readonly<Record<LeadMetric, string>> = {
  visibility: 'Bei der Sichtbarkeit',
  cited: 'Bei den KI-Antworten',
}
const quoted = (text: string) => `„${text}“`
/** `80 Suchbegriffen`. */
const keywordsDative = (keywords: number) => `${number(keywords)} Suchbegriff${keywords === 1 ? '' : 'en'}`
const isAre = (some: number) => (some === 1 ? 'ist' : 'sind')
const couldBe = (some: number) => (some === 1 ? 'konnte' : 'konnten')

export const findings: Words['findings'] = {
  quoted,
  notRun: () => 'Der Job ist noch nicht gelaufen, deshalb gibt es keine Zahlen.',
  noTargets: () => 'Es wird keine Website beobachtet, deshalb gibt es keine Positionen.',
  noKeywords: () => 'Kein Suchbegriff passt zu den Filtern.',
  manyGone: (gone, ranked) =>
    `Verdächtig: ${number(gone)} von ${number(ranked)} Positionen sind auf einmal weg.`,
  manyAlike: (queries) =>
    `Verdächtig: ${number(queries)} verschiedene Suchanfragen bekamen ein und dieselbe Ergebnisliste.`,
  checkFirst: () => 'Bitte prüfen, bevor jemand davon erfährt.',
  inDoubt: () => 'Diese Zahlen sind bis zur nächsten Prüfung zweifelhaft.',
  noneChecked: (keywords, day) =>
    `Am ${longDay(day)} konnte ${keywords === 1 ? 'der Suchbegriff nicht' : `keiner der ${counts.keywords(keywords)}`} geprüft werden.`,
  fewChecked: (checked, keywords, day) =>
    `Am ${longDay(day)} ${couldBe(checked)} nur ${number(checked)} von ${keywordsDative(keywords)} geprüft werden, zu wenige für einen Trend.`,
  lastVisibility: (share, day) =>
    `Am ${longDay(day)}, dem letzten Tag mit genügend Prüfungen, lag die Sichtbarkeit bei ${percent(share)}.`,
  lastCited: (share, day) =>
    `Am ${longDay(day)}, dem letzten Tag mit genügend Prüfungen, zitierten ${percent(share, 0)} der KI-Antworten die Website.`,
  noLastDay: () => 'Auch davor gibt es keinen Tag mit genügend Prüfungen.',
  nothingRanks: (keywords, depth) =>
    keywords === 1
      ? `Der Suchbegriff ist nicht ${depth === null ? 'unter den geprüften Ergebnissen' : `in den Top ${depth}`}.`
      : `Keiner der ${counts.keywords(keywords)} ist ${depth === null ? 'unter den geprüften Ergebnissen' : `in den Top ${depth}`}.`,
  rankedBefore: (before, days, day) => {
    const then = days === 1 ? 'Am Vortag' : `Am ${longDay(day)}`
    return before === 0
      ? `${then} war es auch keiner.`
      : `${then} ${before === 1 ? 'war es einer' : `waren es ${number(before)}`}.`
  },
  noneCited: (of, answers) =>
    answers === 1
      ? `Die KI-Antwort zitiert ${of ?? 'Sie'} nicht.`
      : `Keine der ${number(answers)} KI-Antworten zitiert ${of ?? 'Sie'}.`,
  citedBefore: (before, day) =>
    before === 0
      ? `Am ${longDay(day)} war es auch keine.`
      : `Am ${longDay(day)} ${before === 1 ? 'war es eine' : `waren es ${number(before)}`}.`,
  keywordAt: (keyword, rank) => `${keyword} steht auf Platz ${rank}`,
  keywordOut: (keyword, depth) =>
    `${keyword} ist nicht ${depth === null ? 'unter den geprüften Ergebnissen' : `in den Top ${depth}`}`,
  keywordNotChecked: (keyword) => `${keyword} konnte nicht geprüft werden.`,
  keywordUp: (ranks, days, day) => `${places(ranks)} besser ${than(days, day)}`,
  keywordDown: (ranks, days, day) => `${places(ranks)} schlechter ${than(days, day)}`,
  keywordSame: (days, day) =>
    days === 1 ? 'wie am Vortag' : days <= countedDays ? `wie vor ${days} Tagen` : `wie am ${longDay(day)}`,
  keywordEntered: (day) => `; am ${longDay(day)} war die Website dort nicht zu finden`,
  keywordLeft: (rank, day) => `; am ${longDay(day)} war es Platz ${rank}`,
  visibility: (of, share) =>
    of === null ? `Sichtbarkeit ${percent(share)}` : `${of}: Sichtbarkeit ${percent(share)}`,
  cited: (of, cited, answers) =>
    answers === 1
      ? `Die KI-Antwort zitiert ${of ?? 'Sie'}`
      : `${number(cited)} von ${number(answers)} KI-Antworten ${cited === 1 ? 'zitiert' : 'zitieren'} ${of ?? 'Sie'}`,
  clicks: (clicks) => `Etwa ${counts.clicks(threeDigits(clicks))} im Monat`,
  lowRanks: (of, topTen, ranked, keywords) =>
    begun(
      of,
      `${topTen === 0 ? 'Kein Suchbegriff' : `${number(topTen)} von ${keywordsDative(keywords)}`} in den Top 10, ${number(ranked - topTen)} von ${number(keywords)} dahinter.`,
    ),
  average: (rank) => `Durchschnittsposition ${decimal(rank)}`,
  topRanks: (of, three, ten, keywords) => {
    const isAll = (some: number) => some === keywords && keywords > 2
    if (ten === 0) return begun(of, `Keiner der ${counts.keywords(keywords)} ist in den Top 10.`)
    const inTen = isAll(ten)
      ? `Alle ${counts.keywords(keywords)}`
      : `${number(ten)} von ${keywordsDative(keywords)}`
    const inThree = three === 0 ? 'keiner' : isAll(three) ? 'und alle' : number(three)
    return begun(of, `${inTen} in den Top 10, ${inThree} in den Top 3.`)
  },
  up: (share, days, day) => `plus ${points(share)} ${since(days, day)}`,
  down: (share, days, day) => `minus ${points(share)} ${since(days, day)}`,
  better: (ranks, days, day) => `um ${decimal(Math.abs(ranks))} besser ${than(days, day)}`,
  worse: (ranks, days, day) => `um ${decimal(Math.abs(ranks))} schlechter ${than(days, day)}`,
  more: (some, days, day) => `${number(threeDigits(some))} mehr ${than(days, day)}`,
  fewer: (some, days, day) => `${number(threeDigits(some))} weniger ${than(days, day)}`,
  steady: (days, day) => `kaum anders ${than(days, day)}`,
  firstDay: () => 'Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
  beginsLater: (first) => `Es gibt keinen Vergleich: Die ersten Zahlen sind vom ${longDay(first)}.`,
  notCheckedThen: (day) => `Es gibt keinen Vergleich: Um den ${longDay(day)} wurde kein Suchbegriff geprüft.`,
  askedOtherwise: (since) =>
    `Es gibt keinen Vergleich: Die Suchbegriffe werden seit dem ${longDay(since)} anders abgefragt.`,
  fewInCommon: (common, keywords, day) =>
    `Nur ${number(common)} von ${keywordsDative(keywords)} ${common === 1 ? 'lässt' : 'lassen'} sich mit dem ${longDay(day)} vergleichen, zu wenige für einen Trend.`,
  rivalRose: (rival, delta, share) => `${rival} ist um ${points(delta)}${to(share)} gestiegen`,
  rivalFell: (rival, delta, share) => `${rival} ist um ${points(delta)}${to(share)} gefallen`,
  rivalAt: (rival, share) => `${rival}, stabil bei ${percent(share)},`,
  isNowAhead: (of) => `liegt jetzt vor ${you(of)}`,
  staysAhead: (of) => `liegt weiterhin vor ${you(of)}`,
  isNowBehind: (of) => `liegt jetzt hinter ${you(of)}`,
  staysBehind: (of) => `liegt weiterhin hinter ${you(of)}`,
  isNowLevel: (of) => `liegt jetzt gleichauf mit ${you(of)}`,
  staysLevel: (of) => `liegt weiterhin gleichauf mit ${you(of)}`,
  and: ' und ',
  areLevel: (of, rival, share, metric) =>
    `${leading[metric]} liegt ${rival} mit ${percent(share)} gleichauf mit ${you(of)}.`,
  rivalLeads: (_, rival, share, metric) => `${leading[metric]} liegt ${rival} mit ${percent(share)} vorn.`,
  bestRival: (rival, rank) => `Bester Wettbewerber: ${rival} auf Platz ${rank}.`,
  leads: (of, rival, share, metric) =>
    `${leading[metric]} ${of === null ? 'liegen Sie' : `liegt ${of}`} vorn; ${rival} folgt mit ${percent(share)}.`,
  tagFell: (tag, delta, share) =>
    `Am stärksten gefallen ist die Gruppe ${tag}: minus ${points(delta)}${to(share)}.`,
  tagRose: (tag, delta, share) =>
    `Am stärksten gestiegen ist die Gruppe ${tag}: plus ${points(delta)}${to(share)}.`,
  lowestTag: (tag, share) => `Die geringste Sichtbarkeit hat die Gruppe ${tag}: ${percent(share)}.`,
  cameIn: (top, keyword) => `${keyword} ist neu in den Top ${top}.`,
  fellOut: (top, keyword) => `${keyword} ist aus den Top ${top} gefallen.`,
  crossed: (top, entered, left) =>
    left === 0
      ? `${counts.keywords(entered)} ${isAre(entered)} neu in den Top ${top}.`
      : entered === 0
        ? `${counts.keywords(left)} ${isAre(left)} aus den Top ${top} gefallen.`
        : `${counts.keywords(entered)} ${isAre(entered)} neu in den Top ${top}, ${number(left)} ${isAre(left)} herausgefallen.`,
  notChecked: (unknown, keywords) =>
    `${number(unknown)} von ${keywordsDative(keywords)} ${couldBe(unknown)} nicht geprüft werden.`,
  manyNotChecked: (unknown, keywords) =>
    `${number(unknown)} von ${keywordsDative(keywords)} ${couldBe(unknown)} nicht geprüft werden: Alle Zahlen gelten für die übrigen.`,
  added: (added, keywords) =>
    `${number(added)} von ${keywordsDative(keywords)} ${isAre(added)} neu und nicht Teil der Veränderungen.`,
  someAskedOtherwise: (changed, keywords, since) =>
    `${number(changed)} von ${keywordsDative(keywords)} ${changed === 1 ? 'wird' : 'werden'} seit dem ${longDay(since)} anders abgefragt und ${isAre(changed)} nicht Teil der Veränderungen.`,
  askedOtherwiseFrom: (changed) =>
    `Ab hier ${changed === 1 ? 'wird' : 'werden'} ${counts.keywords(changed)} anders abgefragt: kein Vergleich mit vorher`,
  partialDays: (partial, days) =>
    `An ${number(partial)} von ${number(days)} Tagen konnte weniger als die Hälfte der Suchbegriffe geprüft werden.`,
  otherDay: (asked, day) =>
    `Verglichen wird mit dem ${longDay(day)}, weil es vom ${longDay(asked)} keine vergleichbaren Zahlen gibt.`,
}

const withClicks = (ofClicks: boolean) =>
  ofClicks ? ', jeweils ab einem Klick im Monat, um den es geht' : ''

export const nextActions: Words['nextActions'] = {
  title: 'Was als Nächstes zu tun ist',
  lead: 'Bis zu acht Suchbegriffe; zuerst die, bei denen es um die meisten Klicks im Monat geht.',
  none: (ofClicks) =>
    `Nichts fällt auf: Kein Suchbegriff ist aus den Top 3 oder 10 gefallen, und keiner steht knapp hinter den Top 3${withClicks(ofClicks)}.`,
  notCompared: (ofClicks) =>
    `Kein Suchbegriff steht knapp hinter den Top 3${withClicks(ofClicks)}. Was gefallen ist, steht hier, sobald es einen Tag zum Vergleichen gibt.`,
  noneOfAnswers: 'Nichts fällt auf: Keine KI-Antwort zitiert einen Wettbewerber und Sie nicht.',
  notChecked: 'Nichts konnte geprüft werden.',
  nothingRanks: (keywords) =>
    `Kein Suchbegriff hat eine Position, deshalb lässt sich noch keine verbessern. Zuerst lohnt ${
      keywords.length === 0
        ? 'die Frage, ob es zu jedem eine Seite gibt, die Suchmaschinen finden können'
        : `ein Blick auf die Seiten für ${list(keywords)}`
    }.`,
  meant: (query, volume, page) =>
    withMore(quoted(query), [volume === null ? null : `${number(volume)} Suchen im Monat`, page]),
  keyword: 'Suchbegriff',
  reason: 'Grund',
  clicks: 'Klicks im Monat, um die es geht',
  atStake: 'Klicks im Monat, um die es geht',
  page: 'Seite',
  stake: (clicks) => `(${counts.clicks(Math.round(clicks))} im Monat)`,
  why: 'Warum',
  whyOf: (query) => `Warum: ${query}`,
  noPage: 'keine Seite platziert',
  noClicks: 'nicht bekannt',
  fellOut: (top, from, to) =>
    to === null
      ? `Aus den Top ${top} gefallen: vorher auf Platz ${from}, jetzt nicht mehr gefunden.`
      : `Aus den Top ${top} gefallen: von Platz ${from} auf ${to}.`,
  withinReach: (rank, before, clicks) =>
    [
      before === null
        ? `Platz ${rank}.`
        : before === rank
          ? `Platz ${rank}, wie zuvor.`
          : `Platz ${rank}, zuvor ${before}.`,
      clicks === null
        ? 'Die Top 3 sind in Reichweite.'
        : `Platz 3 brächte etwa ${counts.clicks(threeDigits(clicks))} mehr im Monat.`,
    ].join(' '),
  otherPage: (page, intended) => `Statt ${intended} ist ${page} platziert.`,
  pagesInTurn: (one, other, swaps) =>
    `Zwei Ihrer Seiten wechseln sich ab (${number(swaps)} Wechsel): ${one} und ${other}.`,
  passed: (rival, rank, others) =>
    others === 0
      ? `${rival} hat Sie überholt und steht auf Platz ${rank}.`
      : `${rival} hat Sie überholt und steht auf Platz ${rank}; ${others === 1 ? 'ein weiterer Wettbewerber' : `${number(others)} weitere Wettbewerber`} ebenso.`,
  notCited: (rivals) => `Die KI-Antwort zitiert ${list(rivals)}, Sie aber nicht.`,
  also: 'Außerdem: ',
  shortFellOut: (top) => `aus den Top ${top} gefallen`,
  shortWithinReach: 'in Reichweite der Top 3',
  shortOtherPage: 'eine andere Seite als die Zielseite',
  shortPagesInTurn: 'zwei Seiten wechseln sich ab',
  shortPassed: (rival) => `${rival} hat Sie überholt`,
  shortNotCited: (rivals) => `die KI-Antwort zitiert ${list(rivals)}, Sie aber nicht`,
}

export const overview: Words['overview'] = {
  groups: {
    'into-top-3': 'neu in den Top 3',
    'out-of-top-3': 'aus den Top 3 gefallen',
    'into-top-10': 'neu in den Top 10',
    'out-of-top-10': 'aus den Top 10 gefallen',
    'not-checked': 'nicht geprüft',
  },
  inShort: 'Auf einen Blick',
  figuresOf: (part, others) => `Zahlen für ${part}. Nicht enthalten: ${others.join('; ')}.`,
  checked: (observed, expected) => `${number(observed)} von ${keywordsDative(expected)} geprüft`,
  notCounted: (uncounted) => `${number(uncounted)} ohne Suchvolumen`,
  shareChecked: (share, observed) => `${percent(share, 0)} von ${number(observed)} geprüften`,
  nothingChecked: 'nichts geprüft',
  top: (rank) => `Top ${rank}`,
  ranked: 'Gefundene Suchbegriffe',
  winners: 'Gewinner',
  losers: 'Verlierer',
  noWinners: 'Kein Suchbegriff ist gestiegen oder neu dabei.',
  noLosers: 'Kein Suchbegriff ist gefallen oder herausgefallen.',
  net: (clicks) =>
    Math.round(clicks) === 0
      ? 'Insgesamt so viele Klicks im Monat wie zuvor.'
      : `Insgesamt etwa ${counts.clicks(threeDigits(clicks))} ${clicks > 0 ? 'mehr' : 'weniger'} im Monat.`,
  clicksAMonth: 'Klicks im Monat',
  gain: (clicks) => `${clicks < 0 ? minus : '+'}${number(Math.abs(clicks))}`,
  clicksMore: (clicks) => `etwa ${counts.clicks(Math.round(Math.abs(clicks)))} im Monat mehr`,
  clicksFewer: (clicks) => `etwa ${counts.clicks(Math.round(Math.abs(clicks)))} im Monat weniger`,
  filterByMovement: 'Die Tabelle der Suchbegriffe nach Veränderung filtern',
}
