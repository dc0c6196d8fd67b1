import { capitalised } from '../../../model/text.ts'
import type { Words } from '../en/index.ts'
import { spanWords } from '../formats.ts'
import { clicks, counted, counts, formats } from './figures.ts'

const { dayBefore, decimal, figure, list, longDay, number, percent, relative } = formats

/** `3 von 12 Keywords`. */
function ofKeywords(some: number, all: number): string {
  return `${formats.number(some)} von ${counts.keywords(all)}`
}

const since = spanWords(formats, ['seit dem Vortag', 'im', 'seit dem'], ({ until }) => until)
const on = spanWords(formats, ['am Vortag', 'Ende', 'am'], ({ day }) => day)
const places = (ranks: number) =>
  Math.abs(ranks) === 1 ? 'einen Platz' : `${number(Math.abs(ranks))} Plätze`
const cardinals = 'zwei drei vier fünf sechs sieben acht neun zehn'.split(' ')
const inTen = (some: number, keywords: number, ranked = 0) =>
  keywords === 1
    ? `Das einzige Keyword ${some === 1 ? '' : 'nicht '}in den Top 10${some === 0 && ranked === 1 ? ', aber dahinter' : ''}`
    : some === 0
      ? `Keines der ${counts.keywords(keywords)} in den Top 10${ranked === 0 ? '' : `, ${number(ranked)} dahinter`}`
      : some === keywords && some > 2
        ? `Alle ${counts.keywords(keywords)} in den Top 10`
        : `${ofKeywords(some, keywords)} in den Top 10`
const aiAnswers = (some: number) => counted(some, 'KI-Antwort', 'KI-Antworten')
const citing = (some: number, answers: number, of: string | null) =>
  some === 0
    ? `Keine der ${number(answers)} KI-Antworten zitiert ${of ?? 'Sie'}`
    : `${number(some)} von ${aiAnswers(answers)} ${some === 1 ? 'zitiert' : 'zitieren'} ${of ?? 'Sie'}`
const more = (text: string, delta: number) => `${text} ${delta > 0 ? 'mehr' : 'weniger'}`
const went = (before: number, now: number) => (now > before ? 'gestiegen' : 'gefallen')
/** What is no noun begins small after a colon. */
const inside = (text: string) => text.replace(/^(Etwa|Alle|Keines?|Das) /, (word) => word.toLowerCase())
const isAre = (some: number) => (some === 1 ? 'ist' : 'sind')
const couldBe = (some: number, keywords: number) =>
  `${ofKeywords(some, keywords)} ${some === 1 ? 'konnte' : 'konnten'} nicht geprüft werden`
const topDepth = (depth: number | null) =>
  depth === null ? 'unter den geprüften Ergebnissen' : `in den Top ${depth}`

export const story: Words['story'] = {
  bestRival: (rival, rank) => `${rival} rankt auf Platz ${rank}.`,
  begun: (of, sentence) => `${of}: ${sentence}`,
  notRun: 'Der Job ist noch nicht gelaufen, deshalb gibt es keine Zahlen.',
  noTargets: 'Es wird keine Website beobachtet, deshalb gibt es keine Rankings.',
  gone: (gone, ranked) => `Verdächtig: ${number(gone)} von ${number(ranked)} Rankings sind auf einmal weg.`,
  alike: (alike) =>
    `Verdächtig: ${number(alike)} verschiedene Suchanfragen bekamen ein und dieselbe Ergebnisliste.`,
  suspect: {
    team: 'Bitte prüfen, bevor jemand davon erfährt.',
    client: 'Diese Zahlen sind bis zur nächsten Prüfung zweifelhaft.',
  },
  fewChecked: (checked, keywords, day) =>
    checked === 0
      ? `Am ${longDay(day)} konnte keines der ${counts.keywords(keywords)} geprüft werden.`
      : `Am ${longDay(day)} ${checked === 1 ? 'konnte' : 'konnten'} nur ${ofKeywords(checked, keywords)} geprüft werden, zu wenige für einen Trend.`,
  lastKnown: (text, day) => `Am ${longDay(day)}, dem letzten Tag mit genügend Prüfungen: ${text}.`,
  noLastDay: 'Auch davor gibt es keinen Tag mit genügend Prüfungen.',
  nothingRanks: (of, keywords, depth) =>
    `${of === null ? '' : `${of}: `}${keywords === 1 ? 'Das Keyword rankt nicht' : `Keines der ${counts.keywords(keywords)} rankt`} ${topDepth(depth)}.`,
  noneCited: (of, answers) =>
    answers === 1 ? `Die KI-Antwort zitiert ${of ?? 'Sie'} nicht.` : `${citing(0, answers, of)}.`,
  rankedBefore: (before, span, isCited) => {
    const one = isCited ? 'eine' : 'eines'
    const was =
      before === 0 ? `war es auch k${one}` : before === 1 ? `war es ${one}` : `waren es ${number(before)}`
    return `${capitalised(on(span))} ${was}.`
  },
  manyNotChecked: (unknown, keywords) => `${couldBe(unknown, keywords)}: Alle Zahlen gelten für die übrigen.`,
  notChecked: (unknown, keywords) =>
    `${couldBe(unknown, keywords)}; Veränderungen gelten für die an beiden Tagen geprüften.`,
  added: (added, keywords) =>
    `${ofKeywords(added, keywords)} ${isAre(added)} neu und nicht Teil der Veränderungen.`,
  someAskedOtherwise: (changed, keywords, since) =>
    `${ofKeywords(changed, keywords)} ${changed === 1 ? 'wird' : 'werden'} seit dem ${longDay(since)} anders abgefragt und ${isAre(changed)} nicht Teil der Veränderungen.`,
  partialDays: (partial, days) =>
    `An ${number(partial)} von ${number(days)} Tagen konnte weniger als die Hälfte der Keywords geprüft werden.`,
  oldVolumes: (keywords, source, day) =>
    `Die Suchvolumen von ${counts.keywords(keywords)} sind alt: aus ${source}, vom ${longDay(day)} und später.`,
  imported: (sources, first, keywords, all) =>
    `Positionen vor dem ${longDay(first)} wurden ${keywords < all ? `für ${ofKeywords(keywords, all)} ` : ''}importiert (${sources}); sie sind in keiner Zahl und keinem Vergleich.`,
  importedElements: 'Einige zählen alle Elemente der Seite.',
  importedSites: (sites, asked) =>
    `Am häufigsten in den ersten zehn der neuesten importierten Ergebnisseiten von ${counts.keywords(asked)}: ${sites}.`,
  besides: (parts) =>
    `Außerdem abgefragt, hier nicht enthalten: ${parts.map(({ name, text }) => `${name} (${inside(text)})`).join('; ')}.`,
  otherDay: (asked, day) =>
    `Verglichen mit dem ${longDay(day)}, weil es vom ${longDay(asked)} keine vergleichbaren Zahlen gibt.`,
  firstDay: 'Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
  beginsLater: (first) => `Es gibt keinen Vergleich: Die ersten Zahlen sind vom ${longDay(first)}.`,
  notCheckedThen: (day) => `Es gibt keinen Vergleich: Um den ${longDay(day)} wurde kein Keyword geprüft.`,
  askedOtherwise: (since) =>
    `Es gibt keinen Vergleich: Die Keywords werden seit dem ${longDay(since)} anders abgefragt.`,
  fewInCommon: (common, keywords, span) =>
    `Nur ${ofKeywords(common, keywords)} ${common === 1 ? 'lässt' : 'lassen'} sich mit dem ${dayBefore(span.day, span.until)} vergleichen, zu wenige für einen Trend.`,

  keywordNotChecked: (keyword) => `${keyword} konnte nicht geprüft werden`,
  keywordAt: (keyword, rank, depth) =>
    rank !== null ? `${keyword} rankt auf Platz ${rank}` : `${keyword} rankt nicht ${topDepth(depth)}`,
  keywordMoved: (before, now, span) => {
    if (before === now) return `, unverändert ${since(span)}`
    if (now === null) return `; ${on(span)} war es Platz ${before}`
    if (before === null) return `; ${on(span)} war die Website dort nicht zu finden`
    return `, ${places(before - now)} ${before > now ? 'besser' : 'schlechter'} als ${on(span)}`
  },

  counted: ({ keywords, all, clicks: sum, impressions, before, days }) =>
    `Die Search Console zählte ${clicks(sum)} und ${figure(impressions, 'clicks a month')} ${impressions === 1 ? 'Impression' : 'Impressionen'}${keywords < all ? ` für ${ofKeywords(keywords, all)}` : ''} vom ${dayBefore(days.from, days.until)} bis zum ${longDay(days.until)}${before === null ? '' : `, nach ${figure(before, 'clicks a month')} in ebenso vielen Tagen davor`}; was folgt, ist geschätzt.`,
  figure: {
    clicks: (value) => `Etwa ${clicks(value)} im Monat`,
    visibility: (share) => `Sichtbarkeit ${percent(share)}`,
    top_ten: inTen,
    cited: (some, answers, _, of) => citing(some, answers, of),
  },
  steadyFigure: {
    clicks: (value) => `Stabil bei etwa ${clicks(value)} im Monat`,
    visibility: (share) => `Sichtbarkeit stabil bei ${percent(share)}`,
  },
  since,
  onLast: (isAll) => `, ${isAll ? 'alles' : 'das meiste'} davon am letzten Tag`,
  between: (low, high) => `, seither zwischen ${low} und ${high}`,
  more: {
    clicks: (delta, before) =>
      more(relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month'), delta),
    visibility: (delta) => more(`${decimal(Math.abs(delta) * 100)} Prozentpunkte`, delta),
    top_ten: (delta) => more(number(Math.abs(delta)), delta),
    cited: (delta) => more(number(Math.abs(delta)), delta),
  },
  than: (span) => `als ${on(span)}`,
  asMany: (isSame, span) => `${isSame ? '' : 'etwa '}so viele wie ${on(span)}`,
  asBefore: (span) => `kaum anders als ${on(span)}`,
  turned: (way, value, day) =>
    `, nach einem ${way === 'up' ? 'Anstieg' : 'Rückgang'} auf ${value} bis zum ${day}`,
  place: (place) => `Platz ${place}`,
  placeFrom: (before, now) => `von Platz ${before} auf Platz ${now}`,
  ofSites: (sites) => `von ${cardinals[sites - 2] ?? number(sites)} Websites`,
  behind: (site, isNear) => `${isNear ? ', knapp' : ''} hinter ${site}`,
  moreSites: (some) => `${number(some)} weiteren`,
  passedBy: (sites) => `überholt von ${sites}`,
  past: (sites) => `vorbei an ${sites}`,
  isFirst: (site) => `hinter ${site}`,
  verdict: (way, text) => `${way === 'better' ? 'Besser' : 'Schlechter'}: ${inside(text)}`,

  part: ({ isUp, keywords, clicks: sum }, isFirst) => {
    const [one, many] = sum === null ? ['ist', 'sind'] : ['hat', 'haben']
    const begin = isFirst ? `${counts.keywords(keywords)} ${keywords === 1 ? one : many}` : number(keywords)
    const about = sum === null ? '' : ` etwa ${isFirst ? clicks(sum) : figure(sum, 'clicks a month')}`
    const verb = sum === null ? (isUp ? 'gestiegen' : 'gefallen') : isUp ? 'gewonnen' : 'verloren'
    return `${begin}${about} ${verb}`
  },
  against: (isUp, most, others, metric) => {
    const [way, other] = isUp ? ['gestiegen', 'gefallen'] : ['gefallen', 'gestiegen']
    return `Mehr Keywords sind ${way} als ${other} (${number(most)} und ${number(others)}), aber ${metric === 'clicks' ? 'die größeren' : 'die weiter oben'} sind ${other}`
  },
  moreMarkets: (some) => `${number(some)} weitere`,
  about: (gain) => `etwa ${clicks(gain)}`,
  win: 'größter Gewinn',
  loss: 'größter Verlust',
  notTracked: (site) => `${site} (nicht beobachtet)`,
  siteMoved: (site, before, now) =>
    `${site} ist von ${percent(before)} auf ${percent(now)} der Klicks auf die ersten zehn Ergebnisse ${went(before, now)}`,
  sameShare: (of, share) => `; ${of === null ? 'Ihr Anteil' : `der von ${of}`} dort ist ${percent(share)}`,
  rivalMoved: {
    clicks: (before, now) =>
      `ist von etwa ${figure(before, 'clicks a month')} auf ${clicks(now)} im Monat ${went(before, now)}`,
    visibility: (before, now) =>
      `ist von ${percent(before)} auf ${percent(now)} Sichtbarkeit ${went(before, now)}`,
    top_ten: (before, now) => `hat statt ${number(before)} jetzt ${counts.keywords(now)} in den Top 10`,
    cited: (before, now) => `wird statt in ${number(before)} jetzt in ${aiAnswers(now)} zitiert`,
  },
  tagMoved: (tag, keywords, changed) =>
    `Stärker als das Ganze hat sich der Tag ${tag} (${counts.keywords(keywords)}) bewegt: ${changed}.`,
  tagFigure: { clicks: 'Klicks', visibility: 'Sichtbarkeit' },
  leads: (rival, isFirst, text) => (isFirst ? `Vorn liegt ${rival}${text}.` : `${rival} folgt${text}.`),
  leading: {
    clicks: (value) => ` mit etwa ${clicks(value)} im Monat`,
    visibility: (share) => ` mit einer Sichtbarkeit von ${percent(share)}`,
    top_ten: (some) => ` mit ${counts.keywords(some)} in den Top 10`,
    cited: (some) => `, zitiert in ${aiAnswers(some)}`,
  },
  noRivals: 'Es wird kein Wettbewerber beobachtet.',
  holder: (site, some, keywords) =>
    `Von allen anderen Websites hat ${site} die meisten Plätze: mit ${ofKeywords(some, keywords)} in den Top 10.`,
  topRanks: (three, ten, keywords) =>
    `${inTen(ten, keywords)}${ten === 0 ? '' : `, ${three === 0 ? 'keines' : three === keywords && three > 2 ? 'alle' : number(three)} in den Top 3`}.`,

  verbs: {
    recover: (keyword) => `${keyword} zurückholen`,
    push: (keyword) => `${keyword} in die Top 3 bringen`,
    fix: (keyword) => `${keyword} bereinigen`,
    defend: (keyword) => `${keyword} verteidigen`,
    earn: (keyword) => `Für ${keyword} zitiert werden`,
  },
  inMarket: (market, reason) => (market === '' ? reason : `${market}: ${reason}`),
  fell: (from, to) => `von Platz ${from} auf ${to} gefallen`,
  left: (from, depth) =>
    `aus den ${depth === null ? 'geprüften Ergebnissen' : `Top ${number(depth)}`} gefallen, zuvor Platz ${from}`,
  outside: (depth) => `außerhalb der Top ${number(depth)}`,
  withinReach: (rank, before) =>
    `auf Platz ${rank}${before === null || before === number(rank) ? '' : `, zuvor ${before}`}`,
  otherPage: (page, intended) => `${page} rankt statt ${intended}`,
  inTurn: (one, other, swaps) => `${one} und ${other} ranken abwechselnd (${number(swaps)} Wechsel)`,
  competing: (keywords, one, other) =>
    `${counts.keywords(keywords)} mit gleichen Ergebnissen, eine Seite; ${one} und ${other} stehen sich im Weg`,
  closing: (rival, before, rank, mine) =>
    `${rival} ${before === null ? `ist neu auf Platz ${rank}` : `kam von ${before} auf ${rank}`}, direkt hinter Ihnen auf Platz ${mine}`,
  notCited: (rivals) => `die KI-Antwort zitiert ${list(rivals)}, Sie nicht`,
  stake: (value, isChance) =>
    isChance ? `kann etwa ${clicks(value)} im Monat bringen` : `es geht um etwa ${clicks(value)} im Monat`,
  nothing: {
    notChecked: 'Es konnte nichts geprüft werden.',
    notOwn: 'Nächste Schritte gibt es für eigene Websites.',
    ofAnswers: 'Nichts fällt auf: Keine KI-Antwort zitiert einen Wettbewerber, ohne Sie zu zitieren.',
    standsOut: (fell) =>
      `Kein Keyword sticht heraus: Kein Verlust, keine Chance und keine falsche Seite macht 1 % der Klicks aus.${fell < 2 ? '' : ` Beginnen Sie mit den größten der ${number(fell)} Verluste.`}`,
    withoutClicks: 'Nächste Schritte richten sich nach Klicks, und die gibt es nur für Webergebnisse.',
    notCompared:
      'Kein Keyword mit mindestens 1 % der Klicks steht kurz vor den Top 3. Was gefallen ist, zeigt der erste Vergleichstag.',
    ranks: (keywords) =>
      keywords.length === 0
        ? 'Nichts rankt. Prüfen Sie zuerst, ob Suchmaschinen für jedes Keyword eine Seite indexiert haben und nichts sie dort aussperrt.'
        : `Nichts rankt. Prüfen Sie zuerst, ob Suchmaschinen die Seiten für ${list(keywords)} indexiert haben und nichts sie dort aussperrt.`,
  },
}
