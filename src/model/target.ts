/** How a target's site is compared with a result's link. */
export type Match = 'domain' | 'host' | 'prefix' | 'url'

export const matches: readonly Match[] = ['domain', 'host', 'prefix', 'url']

/** Another form in which a site serves the same pages. */
export type Variant = 'amp' | 'mobile'

/** The order of `Target.also`. */
export const variants: readonly Variant[] = ['amp', 'mobile']

/** A site whose rank is tracked. */
export interface Target {
  /** As the user wrote it, for instance `acme.com/shop`. */
  readonly site: string
  readonly match: Match
  /** Variants that count as the site itself, each once, in the order of `variants`. */
  readonly also: readonly Variant[]
  /** Name in reports; the site where the user gave none. */
  readonly label: string
  /** False for a competitor. */
  readonly own: boolean
}
