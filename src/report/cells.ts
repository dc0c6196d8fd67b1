import type { Cell, Row } from '../model/result.ts'
import { groupedBy, joined } from '../model/text.ts'
import type { MovementGroup } from './history/movement.ts'
import type { DayCell, DayValue, Keyword } from './history/rank-history.ts'
import { ranks } from './words/en/metrics.ts'

/** How reports for people, the HTML page included, write a row. Text from outside is not made harmless here. */

type ParamCell = Cell | undefined

/**
 * The locale of a query in short: language, country and location. The second engine has its own parameters for it.
 *
 * @param between separates language and location
 */
export function localeText(params: Readonly<Record<string, ParamCell>>, between = ' '): string {
  const { gl, hl, location, cc, mkt } = params
  const language = [hl, gl ?? cc].filter((part) => part != null).join('-')
  return [mkt ?? language, location].filter((part) => part != null && part !== '').join(between)
}

/** Absent and unknown ranks have no number. */
export function valueRank({ state, rank, exactness, absentDepth }: DayValue): string {
  const about = exactness === 'estimated' ? '~' : ''
  if (state === 'ranked') return `${about}${rank}`
  return state === 'absent' ? `${about}>${absentDepth}` : '?'
}

/** @param words the words of another language */
export function changeText(
  { movement, change, state }: Row,
  words: Pick<typeof ranks, 'group'> = ranks,
): string {
  if (movement === 'improved') return `▲ ${change}`
  if (movement === 'declined') return `▼ ${-Number(change)}`
  if (movement === 'same') return '='
  if (movement === 'unknown') return '?'
  // A first observation without a rank is not reported as new.
  if (movement === 'new' && state !== 'ranked') return ''
  return words.group(movement as MovementGroup, null)
}

/** One day or several, to follow a verb. */
export function between(days: readonly string[]): string {
  return days.length === 1 ? `on ${days[0]}` : `between ${days[0]} and ${days.at(-1)}`
}

/** The params of a query, each as `gl=us`. */
export function paramTexts(params: Readonly<Record<string, ParamCell>>): readonly string[] {
  return Object.entries(params).map(([name, value]) => `${name}=${value}`)
}

type KeywordParams = Pick<Keyword, 'query' | 'operation' | 'params'>

/** Params that a locale says. */
const localeParams: ReadonlySet<string> = new Set(['gl', 'hl', 'location', 'cc', 'mkt'])

type Differences = ReturnType<typeof differencesOf>

/** In what the keywords of one query differ. */
function differencesOf(same: readonly KeywordParams[]) {
  const differ = (of: (one: KeywordParams) => unknown): boolean => new Set(same.map(of)).size > 1
  const names = new Set(same.flatMap(({ params }) => Object.keys(params)))
  const params = new Set([...names].filter((name) => differ((one) => one.params[name])))
  const shared = new Set<string>()
  const byName = new Map<string, string>()
  for (const one of same) {
    const [name, whole] = [nameBeside(one, params), requestLine(one)]
    // A list may name a keyword for each of its targets.
    if ((byName.get(name) ?? whole) !== whole) shared.add(name)
    byName.set(name, whole)
  }
  return {
    locale: differ((one) => localeText(one.params)),
    operation: differ(({ operation }) => operation),
    params,
    /** Names that several of them have, as long as no param of the locale is named: `gl=de` and `hl=de` are one locale. */
    shared,
  }
}

/** Operation, locale and the other params that differ. */
function nameBeside({ operation, params }: KeywordParams, names: ReadonlySet<string>): string {
  const others = Object.entries(params).filter(([name]) => names.has(name) && !localeParams.has(name))
  return JSON.stringify([operation, localeText(params), ...others])
}

/** The differences of each query that several keywords ask; lists of keywords do not change. */
const known = new WeakMap<readonly KeywordParams[], ReadonlyMap<string, Differences>>()

function differencesBy(keywords: readonly KeywordParams[]): ReadonlyMap<string, Differences> {
  const found = known.get(keywords)
  if (found !== undefined) return found
  const several = [...groupedBy(keywords, ({ query }) => query)].filter(([, same]) => same.length > 1)
  const made = new Map(several.map(([query, same]) => [query, differencesOf(same)]))
  known.set(keywords, made)
  return made
}

/** Makes what of its params, beside the locale, tells a keyword from others with the same query: each as `num=20`. */
export function paramsApart(
  keywords: readonly KeywordParams[],
): (keyword: KeywordParams) => readonly string[] {
  const differences = differencesBy(keywords)
  return (keyword) => {
    const differ = differences.get(keyword.query)
    if (differ === undefined) return []
    const all = differ.shared.has(nameBeside(keyword, differ.params))
    const told = Object.entries(keyword.params).filter(
      ([name]) => differ.params.has(name) && (all || !localeParams.has(name)),
    )
    return paramTexts(Object.fromEntries(told))
  }
}

/** Makes the locale of a keyword, and what else tells it from others with the same query. */
export function fullPlaces(keywords: readonly KeywordParams[]): (keyword: KeywordParams) => string {
  const apart = paramsApart(keywords)
  return (keyword) => joined([localeText(keyword.params), ...apart(keyword)], ' ')
}

/**
 * Makes the place of a keyword: where it is asked and what else tells it from others with the same query. Empty where there are none.
 *
 * @param between separates the parts of a place
 */
export function placesOf(
  keywords: readonly KeywordParams[],
  between = ' · ',
): (keyword: KeywordParams) => string {
  const differences = differencesBy(keywords)
  const apart = paramsApart(keywords)
  return (keyword) => {
    const differ = differences.get(keyword.query)
    if (differ === undefined) return ''
    const locale = differ.locale ? localeText(keyword.params, between) : ''
    return joined([locale, differ.operation ? keyword.operation : '', apart(keyword).join(' ')], between)
  }
}

/** A query with its operation and params: `"oak desk"  alpha.search  gl=us  hl=en`. */
export function requestLine({ query, operation, params }: KeywordParams): string {
  return [`"${query}"`, operation, ...paramTexts(params)].join('  ')
}

/** A link without its scheme and `www.` */
export function shortUrl(url: ParamCell): string {
  return url == null ? '' : String(url).replace(/^https?:\/\/(www\.)?/, '')
}

/** A link without its scheme, `www.` and last slash. */
export function shortLink(link: string): string {
  return readable(link.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, ''))
}

/**
 * A link for display, with letters instead of percent codes. ASCII stays encoded, because it may separate or end parts of the
 * link. Controls, spaces, direction marks and ignorable characters stay encoded, because they are invisible or change how the
 * rest looks.
 */
export function readable(link: string): string {
  return link.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      return [...decodeURIComponent(codes)].map((sign) => (isShown(sign) ? sign : encoded(sign))).join('')
    } catch {
      return codes
    }
  })
}

function isShown(sign: string): boolean {
  return (
    sign > '\u007f' &&
    /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(sign) &&
    !/\p{Default_Ignorable_Code_Point}/u.test(sign)
  )
}

function encoded(sign: string): string {
  const code = sign.charCodeAt(0)
  return code > 0x7f ? encodeURIComponent(sign) : `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

/** The path of a link, with its query string. */
export function pathOf(link: string): string {
  const path = shortLink(link).replace(/^[^/?#]*/, '')
  return path === '' ? '/' : path
}

/** Deepest rank of each height. All rows have the same scale, so that they can be compared and small moves stay small. */
const heights = [
  [1, '█'],
  [3, '▇'],
  [6, '▆'],
  [10, '▅'],
  [20, '▄'],
  [30, '▃'],
  [50, '▂'],
  [Number.POSITIVE_INFINITY, '▁'],
] as const

/** Days that a trend shows at most. */
const trendDays = 30

/**
 * A series as one sign per day, the higher the better.
 *
 * @param most the number of days, counted back from the last one
 */
export function trend(cells: readonly DayCell[], most = trendDays): string {
  return cells
    .map((cell, day) => (cell === null && day === cells.length - 1 ? '?' : sign(cell)))
    .slice(-most)
    .join('')
}

function sign(cell: DayCell): string {
  if (cell === null) return ' '
  if (cell === 0) return '?'
  if (cell < 0) return '·'
  const rank = Math.trunc(cell)
  return heights.find(([deepest]) => rank <= deepest)?.[1] ?? ''
}
