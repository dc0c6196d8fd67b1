import type { Words } from '../en/index.ts'
import { counts } from './counts.ts'
import { formats } from './formats.ts'

const { list, number } = formats

export const nextActions: Words['nextActions'] = {
  title: 'Was als Nächstes zu tun ist',
  lead: 'Bis zu acht Suchbegriffe; zuerst die, bei denen es um die meisten Klicks im Monat geht.',
  none: 'Nichts fällt auf: Kein Suchbegriff ist gefallen, keiner in Reichweite der Top 3.',
  keyword: 'Suchbegriff',
  reason: 'Grund',
  clicks: 'Klicks im Monat',
  page: 'Seite',
  why: 'Warum',
  noPage: 'keine Seite mit Position',
  noClicks: 'nicht bekannt',
  fellOut: (top, from, to) =>
    to === null
      ? `Aus den Top ${top} gefallen: von Platz ${from} auf nicht mehr gefunden.`
      : `Aus den Top ${top} gefallen: von Platz ${from} auf ${to}.`,
  withinReach: (rank, clicks) =>
    `Auf Platz ${rank}; die Top 3 brächten etwa ${counts.clicks(Math.round(clicks))} im Monat mehr.`,
  otherPage: (page, intended) => `${page} steht dort statt ${intended}.`,
  pagesInTurn: (one, other, swaps) =>
    `Zwei Ihrer Seiten wechseln sich ab (${number(swaps)} Wechsel): ${one} und ${other}.`,
  passed: (rival, rank, others) =>
    others === 0
      ? `${rival} hat Sie überholt und steht auf Platz ${rank}.`
      : `${rival} hat Sie überholt und steht auf Platz ${rank}; ${number(others)} weitere haben Sie auch überholt.`,
  notCited: (rivals) => `Die KI-Antwort zitiert ${list(rivals)}, Sie aber nicht.`,
  also: 'Außerdem: ',
  shortFellOut: (top) => `aus den Top ${top} gefallen`,
  shortWithinReach: 'in Reichweite der Top 3',
  shortOtherPage: 'eine andere Seite als vorgesehen',
  shortPagesInTurn: 'zwei Seiten wechseln sich ab',
  shortPassed: (rival) => `${rival} hat Sie überholt`,
  shortNotCited: (rivals) => `die KI-Antwort zitiert ${list(rivals)}, Sie aber nicht`,
}
