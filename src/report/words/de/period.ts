import type { Words } from '../en/index.ts'

export const period: Words['period'] = {
  range: (from, until) => `${from} bis ${until}`,
  compared: (days) => `verglichen mit dem ${days}`,
  notCompared: 'kein Vergleichstag',
  nearest: 'oder dem nächsten geprüften Tag',
  askedFor: (day, tolerance) => `gewünscht: ${day}, ±${tolerance}`,
}
