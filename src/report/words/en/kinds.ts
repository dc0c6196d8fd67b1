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
