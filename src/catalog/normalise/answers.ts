import type { AnswerFacts, NewsDetails, Result, ResultKind, Understood } from '../../model/result.ts'
import { readDate } from './dates/read-date.ts'
import { durationSeconds } from './durations.ts'
import { asFields, boolean, type Fields, integer, link, list, strings, text } from './fields.ts'
import { asSent } from './json.ts'
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
      items(fields.organic_results, (item) => described(item, (one) => read(one, here))),
      items(fields.related_searches, (item) => worded('related', item)),
    ])
  }
}

/** The normaliser of an answer whose results are in `images`. */
export function imageAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, context, [items(fields.images, (item) => described(item, image))])
}

/** The normaliser of a list of suggestions; they carry no position. */
export function suggestionAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, context, [items(fields.suggestions, (item) => worded('suggestion', item))])
}

/** The normaliser of an AI answer: its references are the results, its text stays with the answer. */
export function aiAnswer(body: unknown, context: ReadingContext): Understood {
  const fields = asFields(body) ?? {}
  return gather(fields, context, [items(fields.references, (item) => described(item, reference))])
}

type Read = Pick<Understood, 'results' | 'malformed'>

/** Results of a list, and what in it is none. Something else in place of the list is one malformed item. */
function items(value: unknown, read: (item: unknown) => Result | null): Read {
  const results: Result[] = []
  const malformed: unknown[] = []
  for (const item of value == null ? [] : (list(value) ?? [value])) {
    const result = read(item)
    if (result === null) malformed.push(asSent(item))
    else results.push(result)
  }
  return { results, malformed }
}

/** The result that an object describes; whatever it lacks, it is one. */
function described(item: unknown, read: (item: Fields) => Result): Result | null {
  const fields = asFields(item)
  return fields === null ? null : read(fields)
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
    notice: notice(information.error) ?? notice(fields.error),
    hasNextPage: boolean(pagination.has_next_page),
    nextPage: integer(pagination.next),
    currentPage: integer(pagination.current),
    searchParameters: asSent(fields.search_parameters ?? null),
    knowledgeGraph: asSent(fields.knowledge_graph ?? null),
    aiMarkdown: text(fields.reconstructed_markdown),
    aiBlocks: asSent(fields.text_blocks ?? null),
  }
}

/** No error, said as a number, is no remark. */
function notice(error: unknown): string | null {
  return error === 0 ? null : text(error)
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
    link: link(item.link),
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
    link: link(item.link),
    source: text(item.source),
    image: {
      imageUrl: link(item.url),
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
    link: link(item.link),
    source: text(item.source),
  }
}

/** Kind of results that are nothing but a text -> the names that it may have in an object, the documented one first. */
const textNames = {
  suggestion: ['suggestion', 'value', 'text', 'query', 'phrase'],
  related: ['query', 'text', 'value', 'phrase'],
} as const

function worded(kind: keyof typeof textNames, item: unknown): Result | null {
  const title = typeof item === 'object' ? onlyText(asFields(item) ?? {}, textNames[kind]) : text(item)
  return title === null && item !== '' ? null : { ...blank(kind), title }
}

/** The text of the first name, else that of the others where they agree. */
function onlyText(fields: Fields, [documented, ...others]: readonly [string, ...string[]]): string | null {
  const texts = new Set(others.map((name) => text(fields[name])).filter((one) => one !== null))
  const [one = null] = texts
  return text(fields[documented]) ?? (texts.size === 1 ? one : null)
}
