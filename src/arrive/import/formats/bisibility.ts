import { UsageError } from '../../../model/errors.ts'
import { countryNamed } from '../../countries.ts'
import { type ForeignFile, type ForeignFormat, readCell, siteGuess } from '../format.ts'

interface BisibilityKeyword {
  readonly keyword?: unknown
  readonly location?: unknown
  readonly device?: unknown
  readonly target_url?: unknown
  readonly tags?: unknown
  readonly rankingHistory?: unknown
}

/** The package that Bisibility exports. It holds completed checks alone: no position is not found within the depth. */
export const bisibilityFormat: ForeignFormat = {
  name: 'bisibility',
  tool: 'bisibility',
  title: 'Bisibility, package of version 6',
  sameDay: 'last',
  recognise: ({ head }) =>
    /^\ufeff?\s*\{/.test(head) && head.includes('"keywords"') && /"(exported_at|project_id)"/.test(head),
  read: async (file, into, options) => {
    const version = Number(/"version"\s*:\s*(\d+)/.exec(file.head)?.[1])
    const siteFor = siteGuess(file, options)
    for await (const keyword of keywordsIn(file)) {
      const history = Array.isArray(keyword.rankingHistory)
        ? (
            keyword.rankingHistory as {
              readonly checkedAt?: unknown
              readonly position?: unknown
              readonly rankingUrl?: unknown
              readonly requestedDepth?: unknown
            }[]
          ).filter((check) => typeof check === 'object' && check !== null)
        : []
      if (version !== 6 && history.length > 0)
        throw new UsageError(
          `${file.name} is a package of version ${Number.isNaN(version) ? 'unknown' : version} with history, of which Bisibility itself cannot say what failed. Export it again as version 6`,
        )
      const [text, location] = [keyword.keyword, keyword.location].map((one) =>
        typeof one === 'string' ? one : '',
      ) as [string, string]
      const country = location === '' ? null : countryNamed(location)
      const query = into.query({
        text,
        gl: country,
        location: country === null && location !== '' ? location : null,
        device: typeof keyword.device === 'string' ? keyword.device.toLowerCase() : null,
        tags: Array.isArray(keyword.tags) ? keyword.tags.filter((tag) => typeof tag === 'string') : [],
        url: typeof keyword.target_url === 'string' ? readCell.link(keyword.target_url) : null,
      })
      const links = [keyword.target_url, ...history.map(({ rankingUrl }) => rankingUrl)]
      const site = siteFor(
        links.find((link): link is string => typeof link === 'string' && link !== '') ?? null,
      )
      const series = into.series(query, site, 'organic')
      for (const { checkedAt, position, rankingUrl, requestedDepth } of history) {
        const day = readCell.day(String(checkedAt ?? ''), null)
        const depth = typeof requestedDepth === 'number' ? requestedDepth : null
        if (typeof day !== 'number') into.dropped('checks without a day')
        else if (typeof position === 'number')
          into.ranked(
            series,
            day,
            position,
            typeof rankingUrl === 'string' ? readCell.link(rankingUrl) : null,
            depth,
          )
        else if (position === null) into.absent(series, day, depth)
        else into.unknown(series, day, 'a position that is no rank')
      }
    }
  },
}

const longestKeyword = 64 * 1024 * 1024

/** The keywords one by one: a package can be larger than what fits into memory. */
async function* keywordsIn(file: ForeignFile): AsyncGenerator<BisibilityKeyword> {
  const broken = (): UsageError =>
    new UsageError(
      `${file.name} ends within its keywords, or is no JSON: it is cut off or broken. Export it again`,
    )
  let text = ''
  let at = -1
  let [depth, start, isQuoted] = [0, -1, false]
  for await (const piece of file.utf8()) {
    text += piece.toString()
    if (at < 0) {
      const list = /"keywords"\s*:\s*\[/.exec(text)
      if (list === null) continue
      at = list.index + list[0].length
    }
    for (; at < text.length; at++) {
      const sign = text.charCodeAt(at)
      if (isQuoted) {
        // A backslash at the end waits for the sign behind it.
        if (sign === 92) {
          if (at + 1 === text.length) break
          at += 1
        } else if (sign === 34) isQuoted = false
      } else if (sign === 34) isQuoted = true
      else if (sign === 123 || sign === 91) {
        if (depth === 0) start = at
        depth += 1
      } else if (sign === 125 || (sign === 93 && depth > 0)) {
        depth -= 1
        if (depth > 0) continue
        try {
          yield JSON.parse(text.slice(start, at + 1)) as BisibilityKeyword
        } catch (error) {
          throw error instanceof SyntaxError ? broken() : error
        }
        start = -1
      } else if (sign === 93) return
    }
    // What was read is let go.
    const kept = start < 0 ? at : start
    text = text.slice(kept)
    at -= kept
    if (start >= 0) start = 0
    if (text.length > longestKeyword) throw broken()
  }
  throw broken()
}
