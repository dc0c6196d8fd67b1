import type { Words } from '../en/index.ts'

export const kinds: Words['kinds'] = {
  organic: 'Webergebnisse',
  news: 'Nachrichten',
  video: 'Videos',
  image: 'Bilder',
  reference: 'KI-Quellen',
  suggestion: 'Vorschläge',
  related: 'Verwandte Suchanfragen',
}

export const engineOfKind: Words['engineOfKind'] = (kind, letter) => `${kind}, Suchmaschine ${letter}`
