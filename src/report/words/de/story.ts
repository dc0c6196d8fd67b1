import type { Words } from '../en/index.ts'
import { type ComparedSpan, isMonth } from '../formats.ts'
import { clicks, counts, formats, quoted } from './figures.ts'

const { dayBefore, decimal, figure, list, longDay, monthName, number, percent, relative } = formats

const since = (span: ComparedSpan) =>
  span.days === 1
    ? 'seit dem Vortag'
    : isMonth(span)
      ? `im ${monthName(span.until)}`
      : `seit dem ${dayBefore(span.day, span.until)}`
const on = (span: ComparedSpan) =>
  span.days === 1
    ? 'am Vortag'
    : isMonth(span)
      ? `Ende ${monthName(span.day)}`
      : `am ${dayBefore(span.day, span.until)}`
const points = (share: number) => `${decimal(Math.abs(share) * 100)} Prozentpunkte`
const places = (ranks: number) =>
  Math.abs(ranks) === 1 ? 'einen Platz' : `${number(Math.abs(ranks))} Plätze`
const cardinals = ['eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun', 'zehn']
const cardinal = (some: number) => cardinals[some - 1] ?? number(some)
const inTen = (some: number, keywords: number, ranked = 0) =>
  some === 0
    ? `Keines der ${counts.keywords(keywords)} in den Top 10${ranked === 0 ? '' : `, ${number(ranked)} dahinter`}`
    : some === keywords && some > 2
      ? `Alle ${counts.keywords(keywords)} in den Top 10`
      : `${number(some)} von ${counts.keywords(keywords)} in den Top 10`
const citing = (some: number, answers: number, of: string | null) =>
  some === 0
    ? `Keine der ${number(answers)} KI-Antworten zitiert ${of ?? 'Sie'}`
    : `${number(some)} von ${number(answers)} KI-Antworten ${some === 1 ? 'zitiert' : 'zitieren'} ${of ?? 'Sie'}`
const amount = (delta: number, text: string, span: ComparedSpan) =>
  `${text} ${delta > 0 ? 'mehr' : 'weniger'} als ${on(span)}`
const many = (delta: number, _: number, span: ComparedSpan) => amount(delta, number(Math.abs(delta)), span)
const went = (before: number, now: number) => (now > before ? 'gestiegen' : 'gefallen')
/** What is no noun begins small after a colon. */
const inside = (text: string) => text.replace(/^(Etwa|Alle|Keines) /, (word) => word.toLowerCase())
const isAre = (some: number) => (some === 1 ? 'ist' : 'sind')
const couldBe = (some: number, keywords: number) =>
  `${number(some)} von ${counts.keywords(keywords)} ${some === 1 ? 'konnte' : 'konnten'} nicht geprüft werden`
const topDepth = (depth: number | null) =>
  depth === null ? 'unter den geprüften Ergebnissen' : `in den Top ${depth}`

export const story: Words['story'] = {
  bestRival: (rival, rank) => `${rival} rankt auf Platz ${rank}.`,
  begun: (of, sentence) => `${of}: ${sentence}`,
  notRun: 'Der Job ist noch nicht gelaufen, deshalb gibt es keine Zahlen.',
  noTargets: 'Es wird keine Website beobachtet, deshalb gibt es keine Rankings.',
  noKeywords: 'Kein Keyword passt zu den Filtern.',
  suspect: (gone, ranked, alike, isTeam) =>
    [
      ...(gone === 0
        ? []
        : [`Verdächtig: ${number(gone)} von ${number(ranked)} Rankings sind auf einmal weg.`]),
      ...(alike === 0
        ? []
        : [`Verdächtig: ${number(alike)} verschiedene Suchanfragen bekamen ein und dieselbe Ergebnisliste.`]),
      isTeam
        ? 'Bitte prüfen, bevor jemand davon erfährt.'
        : 'Diese Zahlen sind bis zur nächsten Prüfung zweifelhaft.',
    ].join(' '),
  fewChecked: (checked, keywords, day) =>
    checked === 0
      ? `Am ${longDay(day)} konnte keines der ${counts.keywords(keywords)} geprüft werden.`
      : `Am ${longDay(day)} ${checked === 1 ? 'konnte' : 'konnten'} nur ${number(checked)} von ${counts.keywords(keywords)} geprüft werden, zu wenige für einen Trend.`,
  lastKnown: (text, day) => `Am ${longDay(day)}, dem letzten Tag mit genügend Prüfungen: ${text}.`,
  noLastDay: 'Auch davor gibt es keinen Tag mit genügend Prüfungen.',
  nothingRanks: (of, keywords, depth) =>
    `${of === null ? '' : `${of}: `}${keywords === 1 ? 'Das Keyword rankt nicht' : `Keines der ${counts.keywords(keywords)} rankt`} ${topDepth(depth)}.`,
  noneCited: (of, answers) =>
    answers === 1 ? `Die KI-Antwort zitiert ${of ?? 'Sie'} nicht.` : `${citing(0, answers, of)}.`,
  rankedBefore: (before, span, isCited) => {
    const then = on(span)
    const one = isCited ? 'eine' : 'eines'
    const was =
      before === 0 ? `war es auch k${one}` : before === 1 ? `war es ${one}` : `waren es ${number(before)}`
    return `${then.charAt(0).toUpperCase()}${then.slice(1)} ${was}.`
  },
  manyNotChecked: (unknown, keywords) => `${couldBe(unknown, keywords)}: Alle Zahlen gelten für die übrigen.`,
  notChecked: (unknown, keywords) => `${couldBe(unknown, keywords)}.`,
  added: (added, keywords) =>
    `${number(added)} von ${counts.keywords(keywords)} ${isAre(added)} neu und nicht Teil der Veränderungen.`,
  someAskedOtherwise: (changed, keywords, since) =>
    `${number(changed)} von ${counts.keywords(keywords)} ${changed === 1 ? 'wird' : 'werden'} seit dem ${longDay(since)} anders abgefragt und ${isAre(changed)} nicht Teil der Veränderungen.`,
  partialDays: (partial, days) =>
    `An ${number(partial)} von ${number(days)} Tagen konnte weniger als die Hälfte der Keywords geprüft werden.`,
  oldVolumes: (keywords, source, day) =>
    `Die Suchvolumen von ${counts.keywords(keywords)} sind alt: aus ${source}, vom ${longDay(day)} und später.`,
  imported: (sources, first, { keywords, of, countsAll }) =>
    `Positionen von vor dem ${longDay(first)} wurden ${keywords < of ? `für ${number(keywords)} von ${counts.keywords(of)} ` : ''}importiert (${sources}): Keine Zahl enthält sie, und nichts wird mit ihnen verglichen.${countsAll ? ' Einige zählen alle Elemente der Seite.' : ''}`,
  importedSites: (sites, asked) =>
    `Am häufigsten in den ersten zehn der neuesten importierten Ergebnisseiten von ${counts.keywords(asked)}: ${sites.map(({ site, keywords }) => `${site} (${number(keywords)})`).join(', ')}.`,
  otherDay: (asked, day) =>
    `Verglichen mit dem ${longDay(day)}, weil es vom ${longDay(asked)} keine vergleichbaren Zahlen gibt.`,
  firstDay: 'Dies ist der erste Tag, deshalb gibt es noch keinen Vergleich.',
  beginsLater: (first) => `Es gibt keinen Vergleich: Die ersten Zahlen sind vom ${longDay(first)}.`,
  notCheckedThen: (day) => `Es gibt keinen Vergleich: Um den ${longDay(day)} wurde kein Keyword geprüft.`,
  askedOtherwise: (since) =>
    `Es gibt keinen Vergleich: Die Keywords werden seit dem ${longDay(since)} anders abgefragt.`,
  fewInCommon: (common, keywords, span) =>
    `Nur ${number(common)} von ${counts.keywords(keywords)} ${common === 1 ? 'lässt' : 'lassen'} sich mit dem ${dayBefore(span.day, span.until)} vergleichen, zu wenige für einen Trend.`,

  keywordNotChecked: (keyword) => `${keyword} konnte nicht geprüft werden`,
  keywordAt: (keyword, rank, depth) =>
    rank !== null ? `${keyword} rankt auf Platz ${rank}` : `${keyword} rankt nicht ${topDepth(depth)}`,
  keywordMoved: (before, now, span) => {
    if (before === now) return `, unverändert ${since(span)}`
    if (now === null) return `; ${on(span)} war es Platz ${before}`
    if (before === null) return `; ${on(span)} war die Website dort nicht zu finden`
    return `, ${places(before - now)} ${before > now ? 'besser' : 'schlechter'} als ${on(span)}`
  },

  counted: ({ clicks: sum, impressions, before, days }) =>
    `Die Search Console zählte ${clicks(sum)} und ${figure(impressions, 'clicks a month')} ${impressions === 1 ? 'Impression' : 'Impressionen'} vom ${dayBefore(days.from, days.until)} bis zum ${longDay(days.until)}${before === null ? '' : `, nach ${figure(before, 'clicks a month')} in ebenso vielen Tagen davor`}; was folgt, ist geschätzt.`,
  figure: {
    clicks: (value) => `Etwa ${clicks(value)} im Monat`,
    visibility: (share) => `Sichtbarkeit ${percent(share)}`,
    top_ten: inTen,
    cited: (some, answers, of = null) => citing(some, answers, of),
  },
  steadyFigure: {
    clicks: (value) => `Stabil bei etwa ${clicks(value)} im Monat`,
    visibility: (share) => `Sichtbarkeit stabil bei ${percent(share)}`,
  },
  since,
  butForFirst: (span) => `, abgesehen vom ${dayBefore(span.day, span.until)} selbst`,
  untilLast: ', bis zum letzten Tag aber stabil',
  change: {
    clicks: (delta, before, span) =>
      amount(delta, relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month'), span),
    visibility: (delta, _, span) => amount(delta, points(delta), span),
    top_ten: many,
    cited: many,
  },
  asMany: (isSame, span) => `${isSame ? '' : 'etwa '}so viele wie ${on(span)}`,
  asBefore: (span) => `kaum anders als ${on(span)}`,
  turned: {
    up: (value, day, span) => `, nach einem Anstieg auf ${value} bis zum ${dayBefore(day, span.until)}`,
    down: (value, day, span) => `, nach einem Rückgang auf ${value} bis zum ${dayBefore(day, span.until)}`,
  },
  siteWith: (site, figure) => `${site} (${figure})`,
  place: ({ now, before, sites, first, isNear, passed, morePassed }, inVisibility) => {
    const of = `von ${cardinal(sites)} Websites`
    const who = list([...passed, ...(morePassed === 0 ? [] : [`${number(morePassed)} weiteren`])])
    const behind = first === null ? '' : `${isNear ? ', knapp' : ''} hinter ${first}`
    const place =
      before === null || before === now
        ? `, Platz ${now} ${of}${behind}`
        : `: von Platz ${before} auf Platz ${now} ${of}${who === '' ? behind : now > before ? `, überholt von ${who}` : `, vorbei an ${who}`}`
    return `${place}${inVisibility === null ? '' : `; Platz ${inVisibility} nach Sichtbarkeit`}`
  },
  verdict: {
    better: (text) => `Besser: ${inside(text)}`,
    worse: (text) => `Schlechter: ${inside(text)}`,
    same: (text) => text,
  },

  moreFell: (fell, rose, metric) =>
    `Mehr Keywords sind gefallen als gestiegen (${number(fell)} und ${number(rose)}), aber ${metric === 'clicks' ? 'die größeren' : 'die weiter oben'} sind gestiegen`,
  moreRose: (rose, fell, metric) =>
    `Mehr Keywords sind gestiegen als gefallen (${number(rose)} und ${number(fell)}), aber ${metric === 'clicks' ? 'die größeren' : 'die weiter oben'} sind gefallen`,
  moved: (name, ranks, more, gain) => {
    const each = ranks.map(({ from, to, where }) => `${from} → ${to}${where === '' ? '' : ` (${where})`}`)
    const all = more === 0 ? each : [...each, `${number(more)} weitere`]
    return `${name} ${list(all)}${gain === null ? '' : `, etwa ${clicks(gain)}`}`
  },
  winAndLoss: (win, loss, blamed) => {
    if (win === null && loss === null) return null
    const both = [
      win === null ? [] : `größter Gewinn: ${win}`,
      loss === null ? [] : `größter Verlust: ${loss}${blamed === null ? '' : `, ${blamed}`}`,
    ].flat()
    return `${both.join('; ').replace(/^g/, 'G')}.`
  },
  siteMoved: ({ name, isTracked, before, now, mine, of }) =>
    `${name}${isTracked ? '' : ' (nicht beobachtet)'} ist von ${percent(before)} auf ${percent(now)} der Klicks auf die ersten zehn Ergebnisse ${went(before, now)}${mine === null ? '' : `; ${of === null ? 'Ihr Anteil' : `der von ${of}`} ist ${percent(mine)}`}.`,
  rivalMoved: {
    clicks: (rival, before, now) =>
      `${rival} ist von etwa ${figure(before, 'clicks a month')} auf ${clicks(now)} im Monat ${went(before, now)}.`,
    visibility: (rival, before, now) =>
      `${rival} ist von ${percent(before)} auf ${percent(now)} Sichtbarkeit ${went(before, now)}.`,
    top_ten: (rival, before, now) =>
      `${rival} hat statt ${number(before)} jetzt ${counts.keywords(now)} in den Top 10.`,
    cited: (rival, before, now) =>
      `${rival} wird statt in ${number(before)} jetzt in ${number(now)} KI-Antworten zitiert.`,
  },
  tagMoved: (tag, keywords, changed) =>
    `Stärker als das Ganze hat sich der Tag ${tag} (${counts.keywords(keywords)}) bewegt: ${changed}.`,
  tagChange: {
    clicks: (delta, before) =>
      `${relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month')} ${delta > 0 ? 'mehr' : 'weniger'} Klicks`,
    visibility: (delta) => `${points(delta)} ${delta > 0 ? 'mehr' : 'weniger'} Sichtbarkeit`,
  },
  leader: {
    clicks: (rival, value, isFirst) =>
      isFirst
        ? `Vorn liegt ${rival} mit etwa ${clicks(value)} im Monat.`
        : `${rival} folgt mit etwa ${clicks(value)} im Monat.`,
    visibility: (rival, value, isFirst) =>
      isFirst
        ? `Vorn liegt ${rival} mit einer Sichtbarkeit von ${percent(value)}.`
        : `${rival} folgt mit einer Sichtbarkeit von ${percent(value)}.`,
    top_ten: (rival, value, isFirst) =>
      isFirst
        ? `Vorn liegt ${rival} mit ${counts.keywords(value)} in den Top 10.`
        : `${rival} folgt mit ${counts.keywords(value)} in den Top 10.`,
    cited: (rival, value, isFirst) =>
      isFirst
        ? `Vorn liegt ${rival}, zitiert in ${number(value)} KI-Antworten.`
        : `${rival} folgt, zitiert in ${number(value)} KI-Antworten.`,
  },
  holder: (site, some, keywords) =>
    `Die meisten Plätze hat ${site} (nicht beobachtet): mit ${number(some)} von ${counts.keywords(keywords)} in den Top 10.`,
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
  fell: (from, to, passed) => `von Platz ${from} auf ${to} gefallen${passed === null ? '' : `, ${passed}`}`,
  left: (from, depth, passed) =>
    `aus den ${depth === null ? 'geprüften Ergebnissen' : `Top ${number(depth)}`} gefallen, zuvor Platz ${from}${passed === null ? '' : `, ${passed}`}`,
  overtakenBy: ({ name, from, to }) =>
    `überholt von ${name}${from === undefined ? '' : ` (${from} → ${to})`}`,
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
    ofAnswers: 'Nichts fällt auf: Keine KI-Antwort zitiert einen Wettbewerber, ohne Sie zu zitieren.',
    standsOut:
      'Nichts fällt auf: Kein Keyword mit mindestens 1 % der Klicks ist gefallen, kurz vor den Top 3 oder zu bereinigen.',
    notCompared:
      'Kein Keyword mit mindestens 1 % der Klicks steht kurz vor den Top 3. Was gefallen ist, zeigt der erste Vergleichstag.',
    ranks: (keywords) =>
      keywords.length === 0
        ? 'Nichts rankt, also lässt sich kein Ranking verbessern. Prüfen Sie zuerst, ob jedes Keyword eine Seite hat, die Suchmaschinen finden können.'
        : `Nichts rankt, also lässt sich kein Ranking verbessern. Prüfen Sie zuerst die Seiten für ${list(keywords)}.`,
  },
  meant: (query, volume, page) => {
    const known = [volume === null ? [] : `${number(volume)} Suchen im Monat`, page ?? []].flat()
    return `${quoted(query)}${known.length === 0 ? '' : ` (${known.join(', ')})`}`
  },
}
