import { newsDate, videoDate, videoDuration } from './dates.ts'
import { mix, pick } from './hash.ts'
import type { Candidate, Vertical } from './pool.ts'
import { snippetOf, titleOf } from './text.ts'
import type { Topic } from './topic.ts'

/** A candidate in its place on a page. */
export interface Placed {
  readonly candidate: Candidate
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

const makers: Readonly<Record<string, (placed: Placed) => unknown>> = {
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

/** The item with the named fields; a field that the world does not know is null. */
export function itemOf(placed: Placed, fields: readonly string[]): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const field of fields) item[field] = makers[field]?.(placed) ?? null
  return item
}

function isBare({ short, candidate }: Placed): boolean {
  return short && mix(candidate.hash, 54) % 9 === 0
}

function idOf(hash: number): string {
  return `${mix(hash, 55).toString(36)}${mix(hash, 56).toString(36)}`.padEnd(11, 'x').slice(0, 11)
}

function imageUrl({ hash, site }: Candidate, prefix: string): string {
  return `https://img.${site.host.replace(/^www\./, '')}/${prefix}${hash.toString(36)}.jpg`
}

function widthOf({ hash }: Candidate): number {
  return pick(widths, mix(hash, 52))
}
