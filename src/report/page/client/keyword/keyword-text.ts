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

/** Says of a keyword what tells it from others of the same text, as short as it can be; nothing where there is none. */
export function tellingApart(keywords: readonly Keyword[]): (keyword: Keyword) => string {
  const byText = new Map<string, Keyword[]>()
  for (const one of keywords) {
    const same = byText.get(one.query)
    if (same === undefined) byText.set(one.query, [one])
    else same.push(one)
  }
  return (keyword) => {
    const same = byText.get(keyword.query) ?? []
    const differ = (partOf: (one: Keyword) => string): boolean => new Set(same.map(partOf)).size > 1
    const parts = [localeOf, ({ operation }: Keyword): string => operation].filter(differ)
    if (same.length > 1 && parts.length === 0) return askedOf(keyword)
    return parts
      .map((partOf) => partOf(keyword))
      .filter((part) => part !== '')
      .join(' · ')
  }
}
