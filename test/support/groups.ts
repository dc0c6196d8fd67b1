import { groupedBy } from '../../src/model/text.ts'

export function groups<T>(items: readonly T[], of: (item: T) => unknown): readonly (readonly T[])[] {
  return [...groupedBy(items, of).values()]
}
