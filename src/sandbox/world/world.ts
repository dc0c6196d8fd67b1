import type { BillableOperation } from '../../catalog/operation.ts'
import { remembered } from '../../model/text.ts'
import type { CheckedRequest } from '../http.ts'
import {
  type Flavour,
  type RankingCandidate,
  ranking,
  type Site,
  type Topic,
  type Vertical,
} from './candidates.ts'
import { hashText, mix, pick, unit } from './hash.ts'

/** How results are split into pages: full pages, pages with missing results, or pages that repeat a quarter of the one before. */
export type PageShape = 'even' | 'short' | 'overlap'

/** Whether `position` begins at 1 on every page or continues over the pages. */
export type Positions = 'restart' | 'continue'

/** A made-up web. It gives the body of a 200 answer: the same for the same seed, call and day. */
export type World = (
  operation: BillableOperation,
  asked: CheckedRequest,
  options: {
    /** Epoch ms; its UTC date decides the order. */
    readonly now: number
    readonly pages: PageShape
    readonly positions: Positions
  },
) => Record<string, unknown>

const verticals: Readonly<Partial<Record<BillableOperation['kind'], Vertical>>> = {
  news: 'news',
  video: 'videos',
  image: 'images',
}

/** The input of the fields of one answer. */
interface AnswerContext {
  readonly operation: BillableOperation
  readonly asked: CheckedRequest
  readonly topic: Topic
  readonly hash: number
  readonly vertical: Vertical
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly page: ReturnType<typeof cutPage>
  /** The number of results on all pages. */
  readonly found: number
  readonly placed: readonly RankingCandidate[]
}

const answerFields: Readonly<Record<string, (context: AnswerContext) => unknown>> = {
  search_parameters: ({ operation, asked }) => echoOf(operation, asked),
  pagination: paginationOf,
  knowledge_graph: ({ topic, hash, page, found }) =>
    page.current === 1 && found > 0 ? knowledgeGraph(topic, hash) : undefined,
  related_searches: ({ topic, hash, found }) => (found > 0 ? relatedSearches(topic, hash) : undefined),
  search_information: ({ hash, found }) => searchInformation(found, hash),
  suggestions: ({ asked, topic, hash }) => (topic.barren ? [] : suggestions(asked.query, hash)),
  text_blocks: ({ topic, placed }) => aiText(topic, placed).text_blocks,
  reconstructed_markdown: ({ topic, placed }) => aiText(topic, placed).reconstructed_markdown,
}

/**
 * A world for a seed.
 *
 * @param sites compete for every query
 * @param topics queries that mean the same, in a list for each meaning
 */
export function createWorld(
  seed: string,
  sites: readonly string[],
  topics: readonly (readonly string[])[] = [],
): World {
  const salt = hashText(seed)
  const meanings = new Map(
    topics.flatMap(([first = '', ...others]) => [first, ...others].map((text) => [text, first] as const)),
  )
  const pools = new Map<string, { topic: Topic; candidates: readonly RankingCandidate[] }>()
  const orders = new Map<string, Uint16Array>()

  return (operation, asked, options) => {
    const vertical = verticals[operation.kind] ?? 'web'
    const day = Math.floor(options.now / 86_400_000)
    const poolKey = `${vertical}|${asked.query}`
    const { topic, candidates } = remembered(pools, poolKey, () => {
      const topic = ranking.topicOf(asked.query)
      const meaning = vertical === 'web' ? meanings.get(asked.query) : undefined
      const candidates =
        meaning === undefined
          ? ranking.of(topic, vertical, salt, sites)
          : ranking.ofMeaning(topic, ranking.topicOf(meaning), salt, sites)
      return { topic, candidates }
    })
    const ofQuery = meanings.has(asked.query) ? asked.query : ''
    const narrowed = narrowedBy(asked) + ofQuery
    const view = { engine: operation.engine, country: countryOf(asked), narrowed, day }
    const orderKey = `${poolKey}|${view.engine}|${view.country}|${view.narrowed}|${day}`
    const order = remembered(orders, orderKey, () => ranking.orderOn(candidates, view))
    const page = cutPage(operation, asked, options, order.length, hashText(orderKey, salt))
    const placed = Array.from(
      order.subarray(page.start, page.end),
      (index) => candidates[index] as RankingCandidate,
    )
    const hash = hashText(poolKey, salt)
    return answerOf({ operation, asked, topic, hash, vertical, day, page, found: order.length, placed })
  }
}

function answerOf(context: AnswerContext): Record<string, unknown> {
  const { items, required, optional = [] } = context.operation.response
  const answer: Record<string, unknown> = {}
  for (const field of [...required, ...optional]) {
    const made = answerFields[field]?.(context) ?? (field === items ? itemsOf(context) : undefined)
    if (made !== undefined) answer[field] = made
    else if (required.includes(field)) answer[field] = null
  }
  return answer
}

function itemsOf({
  operation,
  asked,
  topic,
  vertical,
  day,
  page,
  placed,
}: AnswerContext): readonly unknown[] {
  const { itemFields } = operation.response
  if (itemFields.length === 0) return []
  const year = new Date(day * 86_400_000).getUTCFullYear()
  // Only full items have a snippet in every case, by the documentation.
  const short = !itemFields.includes('snippet_matched')
  const shown = { topic, vertical, day, year, language: languageOf(asked), short }
  return placed.map((candidate, index) =>
    itemOf({ candidate, position: page.firstPosition + index, ...shown }, itemFields),
  )
}

function paginationOf({ operation, page }: AnswerContext): object {
  const ends = { next: page.current + 1, current: page.current }
  const others = Array.from({ length: 9 }, (_, index) => index + 2)
  const full = operation.name === 'alpha.search'
  return { ...ends, ...(full ? { other_pages: others } : {}), has_next_page: page.hasNext }
}

function narrowedBy(asked: CheckedRequest): string {
  const { num, gl, cc, mkt, cp, safe, hl, ...others } = asked.params
  const rest = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([languageOf(asked), rest])
}

/** Results per page if no size is documented, by kind. */
const undocumentedSizes: Readonly<Record<string, number>> = { image: 20, reference: 8 }

/** Cuts the requested page out of `found` results. GET names the page, POST the number of results to skip. */
function cutPage(
  operation: BillableOperation,
  asked: CheckedRequest,
  options: Pick<Parameters<World>[2], 'pages' | 'positions'>,
  found: number,
  hash: number,
) {
  const size =
    typeof asked.params.num === 'number'
      ? asked.params.num
      : (operation.paging?.pageSize ?? undocumentedSizes[operation.kind] ?? 10)
  const offset = asked.style === 'post' ? (asked.page ?? 0) : ((asked.page ?? 1) - 1) * size
  const shared = options.pages === 'overlap' ? Math.ceil(size / 4) : 0
  const first = Math.floor((offset * (size - Math.min(shared, size - 1))) / size)
  const start = Math.min(found, first)
  const whole = Math.min(found, first + size)
  const missing = options.pages === 'short' ? mix(hash, offset) % Math.max(1, Math.ceil(size * 0.45)) : 0
  return {
    /** Indices of the first result and of the one after the last. */
    start,
    end: Math.max(start, whole - missing),
    /** Number of the page, from 1. */
    current: Math.floor(offset / size) + 1,
    hasNext: operation.paging !== null && whole < found,
    firstPosition: options.positions === 'continue' ? first + 1 : 1,
  }
}

/** Fields of the echo, for operations that have other fields than q, gl, hl and page. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  'alpha.search': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.news': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.videos': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'beta.search': ['q', 'cc', 'page'],
  'gamma.images': ['q', 'gl', 'hl', 'page', 'safe', 'safesearch'],
}

const echoFields: Readonly<Record<string, (asked: CheckedRequest) => unknown>> = {
  q: ({ query }) => query,
  gl: countryOf,
  cc: countryOf,
  hl: languageOf,
  num: ({ params }) => params.num ?? 10,
  page: ({ page, style }) => page ?? (style === 'post' ? 0 : 1),
  safe: ({ params }) => params.safe ?? 'moderate',
  safesearch: ({ params }) => (params.safe === 'active' ? 'strict' : (params.safe ?? 'moderate')),
}

/** The `search_parameters` of an answer: the request, completed with the defaults of the service. */
export function echoOf(operation: BillableOperation, asked: CheckedRequest): Record<string, unknown> {
  const echo: Record<string, unknown> = {}
  for (const field of fieldsOf[operation.name] ?? usualFields(operation))
    echo[field] = echoFields[field]?.(asked) ?? asked.params[field] ?? null
  // The third engine counts pages from 0, and the echo of its web search does as well.
  if (operation.name === 'gamma.search') echo.page = (asked.page ?? 1) - 1
  echo.engine = operation.echoEngine
  return echo
}

/** The requested country, lower case; `us` by default. */
function countryOf({ params }: CheckedRequest): string {
  const market = typeof params.mkt === 'string' ? params.mkt.split('-')[1] : undefined
  return String(params.gl ?? params.cc ?? market ?? 'us').toLowerCase()
}

/** The requested language; `en` by default. */
function languageOf({ params }: CheckedRequest): string {
  return String(params.hl ?? 'en')
}

function usualFields({ params, paging }: BillableOperation): readonly string[] {
  return ['q', ...['gl', 'hl'].filter((name) => name in params), ...(paging === null ? [] : ['page'])]
}

const further = (
  'near me|price|review|for beginners|vs alternatives|cheap|ideas|used|meaning|' +
  'online|for small rooms|for sale|pros and cons|size guide'
).split('|')

/** Other searches on the topic; undefined for queries without any. */
function relatedSearches(topic: Topic, hash: number): readonly object[] | undefined {
  if (mix(hash, 61) % 6 === 0) return undefined
  return shuffled(further, mix(hash, 62))
    .slice(0, 8)
    .map((more) => ({ query: `${topic.phrase} ${more}` }))
}

/** Suggestions: texts that begin with the query. */
function suggestions(text: string, hash: number): readonly string[] {
  const begun = text.trimStart()
  return shuffled(further, mix(hash, 63))
    .slice(0, 8 + (hash % 3))
    .map((more) => `${begun}${begun.endsWith(' ') ? '' : ' '}${more}`)
}

/** The panel on the topic; undefined for queries without one. */
function knowledgeGraph(topic: Topic, hash: number): object | undefined {
  if (mix(hash, 64) % 4 !== 0) return undefined
  const link = `https://en.openalmanac.org/wiki/${topic.slug}`
  return {
    type: 'Topic',
    title: topic.heading,
    website: `https://www.${mix(hash, 65).toString(36)}.org/`,
    attributes: { Category: ranking.capital(topic.words.at(-1) ?? ''), Since: String(1890 + (hash % 120)) },
    description: `${topic.heading} is a subject of general interest with a long history.`,
    description_link: link,
    description_source: 'Openalmanac',
  }
}

/** Totals of the search; undefined for some queries. Rarely the total is missing, or results were removed. */
function searchInformation(found: number, hash: number): object | undefined {
  const chance = mix(hash, 66)
  if (chance % 17 === 0) return undefined
  const information = {
    total_results: chance % 23 === 0 ? null : found === 0 ? 0 : found * (1000 + (chance % 900_000)),
    time_taken_displayed: Math.round(20 + 60 * unit(mix(hash, 67))) / 100,
  }
  return chance % 19 === 0 ? { ...information, error: 'Some results may have been removed' } : information
}

/** The AI answer as blocks, and as Markdown that cites the references. */
function aiText(topic: Topic, references: readonly { readonly link: string; readonly site: Site }[]) {
  const cite = (index: number) => {
    const reference = references[index % Math.max(references.length, 1)]
    return reference === undefined ? '' : ` ([${reference.site.name}](${reference.link}))`
  }
  const opening = `${topic.heading} depends on what you need it for; most people start with price and size.`
  const heading = 'What to look at'
  const list = [
    `Check that ${topic.phrase} fits the space you have.`,
    'Compare the total cost, not the price alone.',
    'Read what owners say after a year.',
  ]
  const closing = `In short, choose ${topic.phrase} by use, then by price.`
  return {
    text_blocks: [
      { type: 'paragraph', snippet: opening },
      { type: 'heading', snippet: heading },
      { type: 'list', list: list.map((snippet) => ({ snippet })) },
      { type: 'paragraph', snippet: closing },
    ],
    reconstructed_markdown: [
      `${opening}${cite(0)}`,
      `## ${heading}`,
      list.map((line, index) => `- ${line}${cite(index + 1)}`).join('\n'),
      closing,
    ].join('\n\n'),
  }
}

function shuffled(list: readonly string[], hash: number): readonly string[] {
  return list
    .map((text, index) => ({ text, key: mix(hash, index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ text }) => text)
}

/** A candidate at its place on a page. */
interface PlacedCandidate {
  readonly candidate: RankingCandidate
  readonly position: number
  readonly topic: Topic
  readonly vertical: Vertical
  readonly day: number
  readonly year: number
  readonly language: string
  /** Short items may come without a snippet. */
  readonly short: boolean
}

const widths = [640, 800, 1024, 1200, 1600, 1920]
const shapes = [0.5625, 0.75, 1, 1.3333]
const channels = ['Desk Diaries', 'Mara Builds', 'The Test Bench', 'Quiet Workshop', 'Two Minute Answers']

const makers: Readonly<Record<string, (placed: PlacedCandidate) => unknown>> = {
  position: ({ position }) => position,
  index: ({ position }) => position - 1,
  title: ({ candidate, topic, vertical, year }) => titleOf(candidate, topic, vertical, year),
  link: ({ candidate }) => candidate.link,
  domain: ({ candidate }) => candidate.site.host,
  source: ({ candidate }) => candidate.site.name,
  snippet: (placed) => (isBare(placed) ? null : snippetOf(placed.candidate, placed.topic, placed.year)),
  snippet_matched: ({ candidate: { hash }, topic }) =>
    hash % 5 === 0 ? [] : topic.words.slice(0, 1 + (hash % 3)),
  displayed_link: ({ candidate, topic }) => `https://${candidate.site.host} › ${topic.words.join('-')}`,
  date: ({ candidate: { hash }, vertical, day, language }) =>
    vertical === 'news' ? newsDate(hash, day, language) : videoDate(hash, day, language),
  channel: ({ candidate }) =>
    candidate.site.flavour === 'video' ? pick(channels, mix(candidate.hash, 51)) : candidate.site.name,
  duration: ({ candidate }) => videoDuration(candidate.hash),
  video_id: ({ candidate: { hash, site } }) => (site.flavour === 'video' ? idOf(hash) : null),
  url: ({ candidate }) => imageUrl(candidate, ''),
  thumbnail: ({ candidate }) => imageUrl(candidate, 'thumb-'),
  image_width: ({ candidate }) => widthOf(candidate),
  image_height: ({ candidate }) => Math.round(widthOf(candidate) * pick(shapes, mix(candidate.hash, 53))),
}

/** The item with these fields; unknown fields are null. */
function itemOf(placed: PlacedCandidate, fields: readonly string[]): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const field of fields) item[field] = makers[field]?.(placed) ?? null
  return item
}

function isBare({ short, candidate }: PlacedCandidate): boolean {
  return short && mix(candidate.hash, 54) % 9 === 0
}

function idOf(hash: number): string {
  return `${mix(hash, 55).toString(36)}${mix(hash, 56).toString(36)}`.padEnd(11, 'x').slice(0, 11)
}

function imageUrl({ hash, site }: RankingCandidate, prefix: string): string {
  return `https://img.${site.host.replace(/^www\./, '')}/${prefix}${hash.toString(36)}.jpg`
}

function widthOf({ hash }: RankingCandidate): number {
  return pick(widths, mix(hash, 52))
}

// {T} is the heading, {t} the phrase, {y} the year.
const titles: Readonly<Record<Flavour, readonly string[]>> = {
  shop: '{T} - Free Delivery|Buy {T} Online|{T}: Prices and Offers|Shop {T}|{T} Sale'.split('|'),
  review: 'The Best {T} of {y}, Tested|{T} Review: Worth It?|9 {T} Options Compared|{T}: Our Picks'.split(
    '|',
  ),
  guide: 'How to Choose {T}|{T} Explained|A Plain Guide to {T}|{T}: What to Know First'.split('|'),
  forum: 'Which {t} would you choose?|Anyone happy with their {t}?|{t}: advice wanted|Is {t} worth it?'.split(
    '|',
  ),
  reference: '{T}|{T} - Overview|{T}: Meaning and History'.split('|'),
  news: '{T}: What Changed This Week|Why {T} Is in the News|{T} Makers Raise Their Forecast|Inside {T}'.split(
    '|',
  ),
  video: '{T} in 10 Minutes|I Tried {T} for 30 Days|{T}: Full Walkthrough|Stop Buying the Wrong {T}'.split(
    '|',
  ),
}

const openings = [
  'Everything about {t} in one place',
  'Compare {t} by price, size and rating',
  'We spent 40 hours with {t}',
  'Looking for {t}? Start here',
  'Our readers ask about {t} more than about anything else',
  'A short history of {t} and what to expect in {y}',
]

const endings = [
  'with pictures, prices and honest notes.',
  'and here is what we would do again.',
  'in stock and ready to ship this week.',
  'updated every month by people who use it.',
  'including the mistakes that cost the most.',
  'with answers to the questions asked most.',
]

/** The title of a candidate's page. */
function titleOf(candidate: RankingCandidate, topic: Topic, vertical: Vertical, year: number): string {
  const { hash, site } = candidate
  const flavour = vertical === 'videos' ? 'video' : vertical === 'news' ? 'news' : site.flavour
  const title = fill(pick(titles[flavour], mix(hash, 31)), topic, year)
  return mix(hash, 32) % 3 === 0 ? title : `${title} | ${site.name}`
}

/** The snippet below the title of a candidate's page. */
function snippetOf({ hash }: RankingCandidate, topic: Topic, year: number): string {
  const text = `${pick(openings, mix(hash, 33))}, ${pick(endings, mix(hash, 34))}`
  return fill(text, topic, year)
}

function fill(text: string, topic: Topic, year: number): string {
  // Replacements are functions, because a query may have `$&`, which is a pattern in a text.
  return text
    .replace('{T}', () => topic.heading)
    .replace('{t}', () => topic.phrase)
    .replace('{y}', () => String(year))
}

const dayMs = 86_400_000
const firstVideoDay = Date.UTC(2021, 0, 1) / dayMs

const english = formatsIn('en')
/** The languages of dates other than English. */
const formats = new Map(
  ['de', 'es', 'fr', 'it', 'ja', 'pt'].map((language) => [language, formatsIn(language)]),
)

/** Age of a news result on a day, in words: minutes, hours or days ago. */
function newsDate(hash: number, day: number, language: string): string {
  const chance = mix(mix(hash, 41), day)
  const ago = agoIn(language)
  if (chance % 8 === 0) return ago(2 + (chance % 57), 'minute')
  return chance % 2 === 0 ? ago(1 + (chance % 23), 'hour') : ago(1 + (chance % 6), 'day')
}

/** Date of a video: its calendar date, or its age if it is younger than a month or not published yet on that day. */
function videoDate(hash: number, day: number, language: string): string {
  const ago = agoIn(language)
  const published = firstVideoDay + (mix(hash, 42) % 2000)
  const age = day - published
  if (age <= 0) return ago(1 + (mix(hash, 43) % 6), 'day')
  if (age < 7) return ago(age, 'day')
  if (age < 30) return ago(Math.floor(age / 7), 'week')
  return formatsOf(language).day.format(published * dayMs)
}

/** Length of a video, `M:SS` or `H:MM:SS`. */
function videoDuration(hash: number): string {
  const chance = mix(hash, 44)
  const seconds = chance % 6 === 0 ? 3600 + (chance % 7000) : 35 + (chance % 2400)
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest = String(seconds % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}

function agoIn(language: string): (amount: number, unit: Intl.RelativeTimeFormatUnit) => string {
  const { age } = formatsOf(language)
  return (amount, unit) => age.format(-amount, unit)
}

function formatsOf(language: string) {
  return formats.get(language) ?? english
}

function formatsIn(language: string) {
  return {
    age: new Intl.RelativeTimeFormat(language),
    day: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }),
  }
}
