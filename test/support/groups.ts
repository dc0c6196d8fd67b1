import { groupedBy } from '../../src/model/maps.ts'

export function groups<T>(items: readonly T[], of: (item: T) => unknown): readonly (readonly T[])[] {
  return [...groupedBy(items, of).values()]
}
