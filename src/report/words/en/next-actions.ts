import { counts } from './counts.ts'
import { formats } from './formats.ts'

const { list, number } = formats

/** What to do next. The first reason of a row is a sentence, the others follow it in short. */
export const nextActions = {
  title: 'What to do next',
  lead: 'Up to eight keywords, the most clicks a month at stake first.',
  none: 'Nothing stands out: no keyword fell, none is within reach of the top 3.',
  keyword: 'Keyword',
  reason: 'Reason',
  clicks: 'Clicks a month',
  page: 'Page',
  why: 'Why',
  noPage: 'no page ranks',
  noClicks: 'not known',
  fellOut: (top: number, from: number, to: number | null) =>
    to === null
      ? `Fell out of the top ${top}: from rank ${from} to no longer found.`
      : `Fell out of the top ${top}: from rank ${from} to ${to}.`,
  withinReach: (rank: number, clicks: number) =>
    `At rank ${rank}; the top 3 would bring about ${counts.clicks(Math.round(clicks))} a month more.`,
  otherPage: (page: string, intended: string) => `${page} ranks instead of ${intended}.`,
  pagesInTurn: (one: string, other: string, swaps: number) =>
    `Two of your pages rank in turn (${number(swaps)} changes): ${one} and ${other}.`,
  passed: (rival: string, rank: number, others: number) =>
    others === 0
      ? `${rival} passed you and is at rank ${rank}.`
      : `${rival} passed you and is at rank ${rank}; ${number(others)} more passed you too.`,
  notCited: (rivals: readonly string[]) => `The AI answer cites ${list(rivals)} and not you.`,
  also: 'Also: ',
  shortFellOut: (top: number) => `fell out of the top ${top}`,
  shortWithinReach: 'within reach of the top 3',
  shortOtherPage: 'another page ranks than intended',
  shortPagesInTurn: 'two pages rank in turn',
  shortPassed: (rival: string) => `${rival} passed you`,
  shortNotCited: (rivals: readonly string[]) => `the AI answer cites ${list(rivals)} and not you`,
}
