import type { Words } from '../en/index.ts'
import { counted } from './formats.ts'

export const counts: Words['counts'] = {
  keywords: (value) => counted(value, 'Suchbegriff', 'Suchbegriffe'),
  targets: (value) => counted(value, 'Website', 'Websites'),
  competitors: (value) => counted(value, 'Wettbewerber', 'Wettbewerber'),
  days: (value) => counted(value, 'Tag', 'Tage'),
  clicks: (value) => counted(value, 'Klick', 'Klicks'),
}
