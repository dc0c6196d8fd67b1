import { counted } from './formats.ts'

/** So many of something. */
export const counts = {
  keywords: (value: number) => counted(value, 'keyword'),
  targets: (value: number) => counted(value, 'target'),
  competitors: (value: number) => counted(value, 'competitor'),
  days: (value: number) => counted(value, 'day'),
  clicks: (value: number) => counted(value, 'click'),
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

/** What clients read in place of the name of a service's engine. */
export const engineOfKind = (kind: string, letter: string): string => `${kind}, engine ${letter}`
