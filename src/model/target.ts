/** How a target's site is compared with a result's link. */
export type Match = 'domain' | 'host' | 'prefix' | 'url'

export const matches: readonly Match[] = ['domain', 'host', 'prefix', 'url']

/** A site whose rank is tracked. */
export interface Target {
  /** As the user wrote it, for instance `acme.com/shop`. */
  readonly site: string
  readonly match: Match
  /** Name in reports; the site where the user gave none. */
  readonly label: string
  /** False for a competitor. */
  readonly own: boolean
}
