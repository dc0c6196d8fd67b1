import type { Keyword } from '../../../rank-history.ts'

/** Where and in which language was asked, as short as it can be said; the second engine has names of its own. */
export function localeOf({ params }: Keyword): string {
  const { gl, cc, hl, mkt, location } = params
  const language = [hl, gl ?? cc].filter((part) => part !== undefined).join('-')
  return [mkt ?? language, location].filter((part) => part !== undefined && part !== '').join(' · ')
}

/** Everything that was asked beside the text: what tells keywords of one text apart. */
export function askedOf({ operation, params }: Keyword): string {
  return [operation, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join('  ')
}
