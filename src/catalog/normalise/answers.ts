import type { AnswerFacts, Result, ResultKind, Understood } from '../../model/result.ts'
import { publishedAt } from './dates.ts'
import { durationSeconds } from './durations.ts'
import { asFields, boolean, type Fields, integer, number, strings, text } from './fields.ts'

/** Makes one result of the fields of one item. */
type ReadItem = (item: Fields, fetchedAt: number) => Result

/** The normaliser of an answer whose results are in `organic_results`. */
export function webAnswer(kind: 'organic' | 'news' | 'video') {
  const read = webItems[kind]
  return (body: unknown, fetchedAt: number): Understood => {
    const fields = asFields(body) ?? {}
    return gather(fields, [
      items(fields.organic_results, (item) => read(item, fetchedAt)),
      items(fields.related_searches, related),
    ])
  }
}

/** The normaliser of an answer whose results are in `images`. */
export function imageAnswer(body: unknown): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, [items(fields.images, image)])
}

/** The normaliser of a list of suggestions; they carry no position. */
export function suggestionAnswer(body: unknown): Understood {
  const fields = asFields(body) ?? {}
  const list = Array.isArray(fields.suggestions) ? fields.suggestions : []
  const suggestions = list.filter((item): item is string => typeof item === 'string')
  return gather(fields, [
    {
      results: suggestions.map((suggestion) => ({ ...blank('suggestion'), title: suggestion })),
      malformed: list.filter((item) => typeof item !== 'string'),
    },
  ])
}

/** The normaliser of an AI answer: its references are the results, its text stays with the answer. */
export function aiAnswer(body: unknown): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, [items(fields.references, reference)])
}

type Read = Pick<Understood, 'results' | 'malformed'>

function items(list: unknown, read: (item: Fields) => Result): Read {
  const results: Result[] = []
  const malformed: unknown[] = []
  for (const item of Array.isArray(list) ? list : []) {
    const fields = asFields(item)
    if (fields === null) malformed.push(item)
    else results.push(read(fields))
  }
  return { results, malformed }
}

function gather(fields: Fields, reads: readonly Read[]): Understood {
  return {
    results: reads.flatMap((read) => read.results),
    malformed: reads.flatMap((read) => read.malformed),
    facts: facts(fields),
  }
}

function facts(fields: Fields): AnswerFacts {
  const information = asFields(fields.search_information) ?? {}
  const pagination = asFields(fields.pagination) ?? {}
  return {
    totalResults: integer(information.total_results),
    timeTaken: number(information.time_taken_displayed),
    notice: text(information.error) ?? text(fields.error),
    hasNextPage: boolean(pagination.has_next_page),
    nextPage: integer(pagination.next),
    currentPage: integer(pagination.current),
    searchParameters: fields.search_parameters ?? null,
    knowledgeGraph: fields.knowledge_graph ?? null,
    aiMarkdown: text(fields.reconstructed_markdown),
    aiBlocks: fields.text_blocks ?? null,
  }
}

function blank(kind: ResultKind): Result {
  return {
    kind,
    position: null,
    title: null,
    link: null,
    source: null,
    snippet: null,
    displayedLink: null,
    snippetMatched: null,
    news: null,
    video: null,
    image: null,
  }
}

function organic(item: Fields): Result {
  return {
    ...blank('organic'),
    position: integer(item.position),
    title: text(item.title),
    link: text(item.link),
    source: text(item.source),
    snippet: text(item.snippet),
    displayedLink: text(item.displayed_link),
    snippetMatched: strings(item.snippet_matched),
  }
}

function news(item: Fields, fetchedAt: number): Result {
  const date = text(item.date)
  return { ...organic(item), kind: 'news', news: { date, publishedAt: publishedAt(date, fetchedAt) } }
}

function video(item: Fields, fetchedAt: number): Result {
  const date = text(item.date)
  const duration = text(item.duration)
  return {
    ...organic(item),
    kind: 'video',
    video: {
      date,
      publishedAt: publishedAt(date, fetchedAt),
      channel: text(item.channel),
      duration,
      durationSeconds: durationSeconds(duration),
      videoId: text(item.video_id),
    },
  }
}

const webItems: Readonly<Record<'organic' | 'news' | 'video', ReadItem>> = { organic, news, video }

function image(item: Fields): Result {
  return {
    ...blank('image'),
    position: integer(item.position),
    title: text(item.title),
    link: text(item.link),
    source: text(item.source),
    image: {
      imageUrl: text(item.url),
      thumbnail: text(item.thumbnail),
      width: integer(item.image_width),
      height: integer(item.image_height),
    },
  }
}

function reference(item: Fields): Result {
  return {
    ...blank('reference'),
    position: integer(item.index),
    title: text(item.title),
    link: text(item.link),
    source: text(item.source),
  }
}

function related(item: Fields): Result {
  return { ...blank('related'), title: text(item.query) }
}
