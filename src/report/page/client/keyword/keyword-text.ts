import { localeText } from '../../../rank-cells.ts'
import type { Keyword } from '../../../rank-history.ts'

/** Where and in which language was asked. */
export function localeOf({ params }: Keyword): string {
  return localeText(params, ' · ')
}

/** Everything that was asked beside the text: what tells keywords of one text apart. */
export function askedOf({ operation, params }: Keyword): string {
  return [operation, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join('  ')
}
