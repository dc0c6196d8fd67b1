import type { RankingCandidate, Vertical } from './candidates.ts'
import { mix, pick } from './hash.ts'
import type { Flavour, Topic } from './sites.ts'

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
export function itemOf(placed: PlacedCandidate, fields: readonly string[]): Record<string, unknown> {
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

interface DateFormats {
  readonly age: Intl.RelativeTimeFormat
  readonly day: Intl.DateTimeFormat
}

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

function formatsOf(language: string): DateFormats {
  return formats.get(language) ?? english
}

function formatsIn(language: string): DateFormats {
  return {
    age: new Intl.RelativeTimeFormat(language),
    day: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }),
  }
}
