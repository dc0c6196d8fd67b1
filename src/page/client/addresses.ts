import type { Addresses } from '../packed.ts'

let known: ReadonlyMap<string, string> = new Map()

export function knowAddresses(all: Addresses): void {
  known = new Map(all)
}

/** What `model/url` says, whose place it takes in a browser: the report knows the address of every link that it has. */
export function pageAddress(link: string): string {
  return known.get(link) ?? link
}
