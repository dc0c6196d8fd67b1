import type { Keyword } from '../rank-history.ts'
import { field, type SheetField } from './sheets.ts'

/** What was asked: the columns by which rows of all sheets can be put together. */
export function keywordFields<T>(keywordOf: (thing: T) => Keyword): readonly SheetField<T>[] {
  const param = (name: string) =>
    field<T>(name, 'text', (thing) => keywordOf(thing).params[name] ?? null, name === 'location' ? 20 : 6)
  return [
    field('query', 'text', (thing) => keywordOf(thing).query, 36),
    field('operation', 'text', (thing) => keywordOf(thing).operation, 14),
    ...['gl', 'hl', 'location'].map(param),
    field('params', 'text', (thing) => JSON.stringify(keywordOf(thing).params), 20),
  ]
}
