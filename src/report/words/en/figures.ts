import { formatsOf } from '../formats.ts'

export const formats = formatsOf('en-GB', 'points')

/** `1 keyword`, `1,200 keywords`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formats.number(value)} ${value === 1 ? noun : plural}`
}

/** So many of something. */
export const counts = {
  keywords: (value: number) => counted(value, 'keyword'),
  targets: (value: number) => counted(value, 'target'),
  days: (value: number) => counted(value, 'day'),
}

/** `3 of 12 keywords`. */
export function ofKeywords(some: number, all: number): string {
  return `${formats.number(some)} of ${counts.keywords(all)}`
}

/** Kinds of results. */
export const kinds = {
  organic: 'web results',
  news: 'news',
  video: 'videos',
  image: 'images',
  reference: 'AI references',
  suggestion: 'suggestions',
  related: 'related searches',
}

const { figure, number } = formats

/** An estimate in as many digits as it is worth. */
export function clicks(value: number): string {
  return counted(Number(figure(value, 'clicks a month').replaceAll(',', '')), 'click')
}

export function quoted(text: string): string {
  return `“${text}”`
}

/** How the data of a report was collected. */
export const runs = {
  spent: (all: number, credits: number, ambiguous: number) =>
    `${counted(all, 'run')} spent ${counted(credits, 'credit')}${ambiguous === 0 ? '' : `; possibly billed: ${counted(ambiguous, 'credit')} more`}.`,
  failed: (failed: number, planned: number) => `${number(failed)} of ${counted(planned, 'task')} failed.`,
  mismatched: (answers: number) =>
    `${counted(answers, 'answer')} named another query than the one sent. Ranks from ${answers === 1 ? 'it' : 'them'} may be wrong.`,
}

/** What the signs of the page mean. */
export const definitions = {
  lead: 'Keywords that could not be checked are left out of every figure.',
  signs: [
    ['7', 'Rank', 'The number of distinct results above it, plus one, over all checked pages.'],
    [
      '~7',
      'Estimated rank',
      'A result page before it was not checked, and counts with its usual number of results.',
    ],
    [
      '>30',
      'Not in top 30',
      'The first 30 results were checked without finding the site. It may rank lower.',
    ],
    ['?', 'Not known', 'A result page failed or was not fetched.'],
    [
      '▲ ▼',
      'Better, worse',
      'Grey: no more than the figure usually swings from day to day, or how much it swings is not known. Two days are compared only as deep as both were checked; otherwise the change is not known.',
    ],
  ] as readonly (readonly [sign: string, term: string, meaning: string])[],
}
