import { formats } from './formats.ts'

/** The section on AI answers and kinds of results. */
export const answers = {
  title: 'AI answers and kinds of results',
  titleWithoutAnswers: 'Kinds of results',
  cited: 'Cited in AI answers',
  byKind: 'First ten results by kind',
  byKindLabel: 'Share of the chosen site in each kind of results',
  kind: 'Kind',
  ranked: 'Ranked',
  topTen: 'In top 10',
  share: 'Share of results',
  of: (part: number, whole: number) => `${formats.number(part)} of ${formats.number(whole)}`,
  notAsked: 'No AI answers are tracked for the selected keywords.',
  notChecked: 'No AI answer was checked on the last selected day.',
  citedLabel: 'Citations by site',
  site: 'Site',
  answers: 'Answers',
  answerShare: 'Share',
  ofReferences: 'Share of references',
  firstPlace: 'First place',
  note: (part: string, day: string) =>
    `${part} answers checked on ${day}; changes are of those checked on both days. First place: the average position of the first reference to a site, counted from 1.`,
  chart: 'Share of AI answers that cite each site.',
  noAnswer: 'no answer',
  leftOut: (part: number, whole: number) => `left out, ${part} of ${whole} answers`,
}
