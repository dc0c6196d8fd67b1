import type { Words } from '../en/index.ts'
import { counted, formats } from './formats.ts'

export const tables: Words['tables'] = {
  tools: (label) => `Mitnehmen: ${label}`,
  copy: 'Kopieren',
  copyHint: 'Alle Zeilen für eine Tabellenkalkulation kopieren',
  csv: 'CSV',
  csvHint: 'Alle Zeilen als CSV-Datei speichern',
  copied: (rows) => `${counted(rows, 'Zeile', 'Zeilen')} kopiert`,
  notCopied: 'Der Browser erlaubt das Kopieren hier nicht',
  saved: (file) => `Gespeichert als ${file}`,
  more: (next, all) => `${formats.number(next)} weitere von ${counted(all, 'Zeile', 'Zeilen')}`,
  printed: (first, all) =>
    `Die ersten ${formats.number(first)} von ${counted(all, 'Zeile', 'Zeilen')}. Eine CSV-Datei der Seite hat alle.`,
}
