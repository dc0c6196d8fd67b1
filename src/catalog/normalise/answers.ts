import type { AnswerFacts, NewsDetails, Result, ResultKind, Understood } from '../../model/result.ts'
import { readDate } from './dates/read-date.ts'
import { durationSeconds } from './durations.ts'
import { asFields, boolean, type Fields, integer, strings, text } from './fields.ts'
import { completed, type ReadingContext } from './locale.ts'
import { readSeconds, readTotal } from './totals.ts'

/** Makes one result of the fields of one item. */
type ReadItem = (item: Fields, context: ReadingContext) => Result

/** The normaliser of an answer whose results are in `organic_results`. */
export function webAnswer(kind: 'organic' | 'news' | 'video') {
  const read = webItems[kind]
  return (body: unknown, context: ReadingContext): Understood => {
    const fields = asFields(body) ?? {}
    const here = localised(fields, context)
    return gather(fields, here, [
      items(fields.organic_results, (item) => read(item, here)),
      items(fields.related_searches, related),
    ])
  }
}

/** The normaliser of an answer whose results are in `images`. */
export function imageAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, context, [items(fields.images, image)])
}

/** The normaliser of a list of suggestions; they carry no position. */
export function suggestionAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  const list = Array.isArray(fields.suggestions) ? fields.suggestions : []
  const suggestions = list.filter((item): item is string => typeof item === 'string')
  return gather(fields, context, [
    {
      results: suggestions.map((suggestion) => ({ ...blank('suggestion'), title: suggestion })),
      malformed: list.filter((item) => typeof item !== 'string'),
    },
  ])
}

/** The normaliser of an AI answer: its references are the results, its text stays with the answer. */
export function aiAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, context, [items(fields.references, reference)])
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

function gather(fields: Fields, context: ReadingContext, reads: readonly Read[]): Understood {
  return {
    results: reads.flatMap((read) => read.results),
    malformed: reads.flatMap((read) => read.malformed),
    facts: facts(fields, localised(fields, context).language),
  }
}

function localised(fields: Fields, context: ReadingContext): ReadingContext {
  return completed(context, asFields(fields.search_parameters))
}

function facts(fields: Fields, language: string | null): AnswerFacts {
  const information = asFields(fields.search_information) ?? {}
  const pagination = asFields(fields.pagination) ?? {}
  return {
    totalResults: readTotal(information.total_results, language),
    timeTaken: readSeconds(information.time_taken_displayed),
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

function dated(item: Fields, context: ReadingContext): NewsDetails {
  const date = text(item.date)
  const read = date === null ? null : readDate(date, context)
  return {
    date,
    publishedAt: read === null ? null : new Date(read.at).toISOString(),
    precision: read?.precision ?? null,
  }
}

function news(item: Fields, context: ReadingContext): Result {
  return { ...organic(item), kind: 'news', news: dated(item, context) }
}

function video(item: Fields, context: ReadingContext): Result {
  const duration = text(item.duration)
  return {
    ...organic(item),
    kind: 'video',
    video: {
      ...dated(item, context),
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
