import type { Words } from '../en/index.ts'

export const brand: Words['brand'] = {
  kind: 'Ranking-Bericht',
  title: (name) => `${name} · Ranking-Bericht`,
  for: (client) => `für ${client}`,
  by: (agency) => `von ${agency}`,
  comment: 'Kommentar',
  needsScript:
    'Dieser Bericht braucht JavaScript. Bitte erlauben Sie das Skript; es lädt nichts aus dem Netz.',
}
