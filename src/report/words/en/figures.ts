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

/** An estimate in as many digits as it is worth. */
export function clicks(value: number): string {
  return counted(Number(formats.figure(value, 'clicks a month').replaceAll(',', '')), 'click')
}
