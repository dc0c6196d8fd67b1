import type { Words } from '../en/index.ts'
import { counted } from './formats.ts'

export const counts: Words['counts'] = {
  keywords: (value) => counted(value, 'Suchbegriff', 'Suchbegriffe'),
  targets: (value) => counted(value, 'Website', 'Websites'),
  competitors: (value) => counted(value, 'Wettbewerber', 'Wettbewerber'),
  days: (value) => counted(value, 'Tag', 'Tage'),
  clicks: (value) => counted(value, 'Klick', 'Klicks'),
}

export const kinds: Words['kinds'] = {
  organic: 'Webergebnisse',
  news: 'Nachrichten',
  video: 'Videos',
  image: 'Bilder',
  reference: 'KI-Quellen',
  suggestion: 'Vorschläge',
  related: 'verwandte Suchanfragen',
}

export const engineOfKind: Words['engineOfKind'] = (kind, letter) => `${kind}, Suchmaschine ${letter}`
