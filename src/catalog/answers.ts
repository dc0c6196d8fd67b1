import type {
  AnswerFacts,
  EchoMismatch,
  NewsDetails,
  ParsedAnswer,
  Result,
  ResultKind,
} from '../model/result.ts'
import type { Task } from '../model/run.ts'
import { readDate } from './dates/read-date.ts'
import {
  type AnswerFields,
  asFields,
  asSent,
  boolean,
  completed,
  durationSeconds,
  integer,
  link,
  list,
  parseJson,
  type ReadingContext,
  readSeconds,
  readTotal,
  strings,
  text,
  valueOutsideJson,
} from './fields.ts'
import type { BillableOperation, ResponseShape } from './operation.ts'

/** Raised with every change of a normaliser, so that results of older ones can be recognised. */
export const normaliserVersion = 4

/**
 * Results and facts of a stored body. A body without the list that its operation documents is not an answer, whatever else it
 * holds: nothing can be said to be missing from a list that did not come. An empty list is an answer, unless the body says
 * that something went wrong. Else the reason is one sentence for people.
 */
export function parseAnswer(
  operation: BillableOperation,
  body: Buffer,
  context: ReadingContext,
): ParsedAnswer | { readonly reason: string } {
  const json = parseJson(body)
  if (json === undefined) return { reason: notJson(body) }
  const fields = unwrapped(operation, asFields(json))
  if (fields === null) return { reason: `the answer is not a JSON object (${excerpt(body)})` }
  const { items, required } = operation.response
  const sent = fields[items]
  const error = errorIn(fields)
  if (sent == null || isBareObject(sent, fields, operation.response))
    return {
      reason: `the answer has no '${items}'${error === null ? ` (${excerpt(body)})` : `: ${error}`}`,
    }
  const listed = listedItems(sent, operation.response)
  if (listed === null) return { reason: `'${items}' of the answer is not a list` }
  const isEmpty = listed.length === 0 && required.every((name) => (list(fields[name]) ?? []).length === 0)
  if (isEmpty && error !== null) return { reason: `the answer has no results but an error: ${error}` }
  return operation.normalise({ ...fields, [items]: listed }, context)
}

function notJson(body: Buffer): string {
  const odd = valueOutsideJson(body)
  return odd === null
    ? `the answer is not JSON (${excerpt(body)})`
    : `the answer is not JSON, for JSON has no such value: ${oneLine(odd)} (${excerpt(body)})`
}

/** Lists may come as objects, so an empty object is an empty list; alone in its body it may be anything. */
function isBareObject(sent: unknown, fields: AnswerFields, { items, required }: ResponseShape): boolean {
  const entries = asFields(sent)
  return (
    entries !== null &&
    Object.keys(entries).length === 0 &&
    !required.some((name) => name !== items && fields[name] != null)
  )
}

/** The fields in which services say that something went wrong, and the number from which on a status is an error. */
const statusFields = ['status', 'status_code', 'code']
const firstErrorStatus = 400

/** What the body of a 200 says went wrong, in the words of the service where it has some; null where nothing did. */
function errorIn(fields: AnswerFields): string | null {
  const { error } = fields
  const words = text(error === 0 ? null : error) ?? text(asFields(error)?.message)
  if (words !== null) return `the service says '${oneLine(words)}'`
  const status = statusFields.find((name) => (integer(fields[name]) ?? 0) >= firstErrorStatus)
  const isWrong = boolean(error) === true || asFields(error) !== null || boolean(fields.success) === false
  if (status === undefined && !isWrong) return null
  const message = text(fields.message)
  if (message !== null) return `the service says '${oneLine(message)}'`
  return status === undefined ? 'the service says that it failed' : `${status} ${integer(fields[status])}`
}

/**
 * Why an answer without results is not the end of the results: it says itself that there are some. Null where it does not.
 */
export function contradiction(
  { kind }: BillableOperation,
  page: number,
  { results, facts }: Pick<ParsedAnswer, 'results' | 'facts'>,
): string | null {
  if (results.some((result) => result.kind === kind)) return null
  const { hasNextPage, nextPage, totalResults } = facts
  if (hasNextPage ?? (nextPage !== null && nextPage > page))
    return 'the page is empty, but the service says that more pages follow'
  // Totals are estimates: on later pages an empty list beside a high one is how results usually end.
  return page === 1 && totalResults !== null && totalResults > 0
    ? 'the page is empty, but its total_results is above 0'
    : null
}

/** The fields that hold the results. Those of a polled job may be wrapped. */
function unwrapped(
  { asyncParam, response }: BillableOperation,
  fields: AnswerFields | null,
): AnswerFields | null {
  if (asyncParam === undefined || fields === null) return fields
  return holderOf(fields, response.items) ?? fields
}

function excerpt(body: Buffer): string {
  if (body.length === 0) return 'it is empty'
  const page = body.toString('utf8', 0, 4_096)
  if (/^\s*<(?:!doctype html|html)\b/i.test(page)) return htmlPage(page)
  return `it begins: ${oneLine(body.toString('utf8', 0, 80))}`
}

/** An HTML page, for instance of a login, by its title. */
function htmlPage(html: string): string {
  const title = oneLine(html.match(/<(?:title|h1)[^>]*>([^<]+)</i)?.[1] ?? '')
  return title === '' ? 'an HTML page' : `an HTML page '${title.slice(0, 80).toWellFormed()}'`
}

const longestQuote = 200

/** Other people's text inside a sentence of ours: one line, without control characters, cut where it is long. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim()
  return line.length > longestQuote ? `${line.slice(0, longestQuote).toWellFormed()}…` : line
}

/** An object with one of these fields is a result, even without a list around it. */
const linkFields = ['link', 'url']

/** The items in a field of an answer, or the only item if it came without a list; null for anything else. */
function listedItems(value: unknown, { itemFields }: ResponseShape): readonly unknown[] | null {
  const items = list(value)
  if (items !== null) return items
  const fields = asFields(value) ?? {}
  return linkFields.some((name) => itemFields.includes(name) && text(fields[name]) !== null) ? [value] : null
}

/** Fields that an answer may be wrapped in. */
const wrappers = ['job', 'data', 'result', 'results', 'response', 'body', 'output']

/** The object that holds the results: the answer itself, or one that it wraps; null if none does. */
export function holderOf(fields: AnswerFields, items: string): AnswerFields | null {
  return [fields, ...wrappedFields(fields)].find((place) => place[items] !== undefined) ?? null
}

/** The objects in wrapper fields, two levels deep. */
function wrappedFields(fields: AnswerFields): readonly AnswerFields[] {
  const wrapped = (place: AnswerFields): readonly AnswerFields[] =>
    wrappers.map((name) => asFields(place[name])).filter((one) => one !== null)
  return wrapped(fields).flatMap((place) => [place, ...wrapped(place)])
}

/** Makes one result of the fields of one item. */
type ReadItem = (item: AnswerFields, context: ReadingContext) => Result

/** The normaliser of an answer whose results are in `organic_results`. */
export function webAnswer(kind: 'organic' | 'news' | 'video') {
  const read = webItems[kind]
  return (body: unknown, context: ReadingContext): ParsedAnswer => {
    const fields = asFields(body) ?? {}
    const here = localised(fields, context)
    return gather(fields, here, [
      items(fields.organic_results, (item) => described(item, (one) => read(one, here))),
      items(fields.related_searches, (item) => worded('related', item)),
    ])
  }
}

/** The normaliser of an answer with images. */
export const imageAnswer = listAnswer('images', (item) => described(item, image))

/** The normaliser of a list of suggestions; they have no position. */
export const suggestionAnswer = listAnswer('suggestions', (item) => worded('suggestion', item))

/** The normaliser of an AI answer: its references are the results, its text is a fact of the answer. */
export const aiAnswer = listAnswer('references', (item) => described(item, reference))

/** The normaliser of an answer with one list of results. */
function listAnswer(field: string, read: (item: unknown) => Result | null) {
  return (body: unknown, context: ReadingContext): ParsedAnswer => {
    const fields = asFields(body) ?? {}
    return gather(fields, context, [items(fields[field], read)])
  }
}

type ReadResults = Pick<ParsedAnswer, 'results' | 'malformed'>

/** The results of a list, and the items that are not results. A value that is not a list is one malformed item. */
function items(value: unknown, read: (item: unknown) => Result | null): ReadResults {
  const results: Result[] = []
  const malformed: unknown[] = []
  for (const item of value == null ? [] : (list(value) ?? [value])) {
    const result = read(item)
    if (result === null) malformed.push(asSent(item))
    else results.push(result)
  }
  return { results, malformed }
}

/** The result that an object describes; any object is a result, even with fields missing. */
function described(item: unknown, read: (item: AnswerFields) => Result): Result | null {
  const fields = asFields(item)
  return fields === null ? null : read(fields)
}

function gather(fields: AnswerFields, context: ReadingContext, reads: readonly ReadResults[]): ParsedAnswer {
  return {
    results: reads.flatMap((read) => read.results),
    malformed: reads.flatMap((read) => read.malformed),
    facts: facts(fields, localised(fields, context).language),
  }
}

function localised(fields: AnswerFields, context: ReadingContext): ReadingContext {
  return completed(context, asFields(fields.search_parameters))
}

function facts(fields: AnswerFields, language: string | null): AnswerFacts {
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

/** `0` means that there was no error. */
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

/** The fields that all results with a link have. */
function linked(kind: ResultKind, item: AnswerFields, position = item.position): Result {
  return {
    ...blank(kind),
    position: integer(position),
    title: text(item.title),
    link: link(item.link),
    source: text(item.source),
  }
}

function organic(item: AnswerFields): Result {
  return {
    ...linked('organic', item),
    snippet: text(item.snippet),
    displayedLink: text(item.displayed_link),
    snippetMatched: strings(item.snippet_matched),
  }
}

function dated(item: AnswerFields, context: ReadingContext): NewsDetails {
  const date = text(item.date)
  const read = date === null ? null : readDate(date, context)
  return {
    date,
    publishedAt: read === null ? null : new Date(read.at).toISOString(),
    precision: read?.precision ?? null,
  }
}

function news(item: AnswerFields, context: ReadingContext): Result {
  return { ...organic(item), kind: 'news', news: dated(item, context) }
}

function video(item: AnswerFields, context: ReadingContext): Result {
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

function image(item: AnswerFields): Result {
  return {
    ...linked('image', item),
    image: {
      imageUrl: link(item.url),
      thumbnail: text(item.thumbnail),
      width: integer(item.image_width),
      height: integer(item.image_height),
    },
  }
}

function reference(item: AnswerFields): Result {
  return linked('reference', item, item.index ?? null)
}

/** The names that the text of a result may have in an object, by kind, the documented name first. */
const textNames = {
  suggestion: ['suggestion', 'value', 'text', 'query', 'phrase'],
  related: ['query', 'text', 'value', 'phrase'],
} as const

function worded(kind: keyof typeof textNames, item: unknown): Result | null {
  const title = typeof item === 'object' ? onlyText(asFields(item) ?? {}, textNames[kind]) : text(item)
  return title === null && item !== '' ? null : { ...blank(kind), title }
}

/** The text of the first name, else that of the others if they agree. */
function onlyText(
  fields: AnswerFields,
  [documented, ...others]: readonly [string, ...string[]],
): string | null {
  const texts = new Set(others.map((name) => text(fields[name])).filter((one) => one !== null))
  const [one = null] = texts
  return text(fields[documented]) ?? (texts.size === 1 ? one : null)
}

/** The part of a request that an answer may repeat. */
export type RequestedPage = Pick<Task, 'text' | 'params' | 'page'>

type Difference = EchoMismatch[string]

/** Differences between a request and the params that its answer repeats; null for none. Missing params do not count. */
export function echoMismatch(
  operation: BillableOperation,
  asked: RequestedPage,
  { searchParameters, currentPage }: Pick<AnswerFacts, 'searchParameters' | 'currentPage'>,
): EchoMismatch | null {
  const echo = asFields(searchParameters) ?? {}
  const number = integer(echo.num)
  const pages = pagesMeant(operation, asked, number)
  const found = {
    q: textDifference(asked.text, echo.q, (one, other) => folded(one) === folded(other)),
    gl: textDifference(asked.params.gl, echo.gl, sameCode),
    cc: textDifference(asked.params.cc, echo.cc, sameCode),
    hl: textDifference(asked.params.hl, echo.hl, sameLanguage),
    num: numDifference(operation, asked, number),
    page: pageDifference(asked.page, integer(echo.page), pages),
    'pagination.current': pageDifference(asked.page, currentPage, pages),
  }
  const differences = Object.entries(found).filter((one): one is [string, Difference] => one[1] !== null)
  return differences.length === 0 ? null : Object.fromEntries(differences)
}

/** A default that was not asked for is not a difference, nor is a value that is not a text. */
function textDifference(
  asked: string | number | undefined,
  answered: unknown,
  same: (asked: string, answered: string) => boolean,
): Difference | null {
  if (asked === undefined || typeof answered !== 'string') return null
  return same(String(asked), answered) ? null : { asked, answered }
}

/** The text in NFC, without case, with single spaces. */
function folded(text: string): string {
  const caseless = text.toWellFormed().normalize('NFC').toUpperCase().toLowerCase()
  return caseless.normalize('NFC').replace(/\s+/g, ' ').trim()
}

function sameCode(asked: string, answered: string): boolean {
  return code(asked) === code(answered)
}

/** `en` and `en-US` do not contradict each other; `pt-BR` and `pt-PT` do. */
function sameLanguage(asked: string, answered: string): boolean {
  const [one, other] = [code(asked), code(answered)]
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)
}

function code(text: string): string {
  return text.trim().toLowerCase().replaceAll('_', '-')
}

/** The service may give fewer results than asked but not more. If `num` is only a suggestion, any number is right. */
function numDifference(
  { params }: BillableOperation,
  { params: { num } }: RequestedPage,
  answered: number | null,
): Difference | null {
  if (typeof num !== 'number' || answered === null || params.num?.suggestion === true) return null
  return answered > num ? { asked: num, answered } : null
}

function pageDifference(
  asked: number,
  answered: number | null,
  meant: ReadonlySet<number> | null,
): Difference | null {
  return meant === null || answered === null || meant.has(answered) ? null : { asked, answered }
}

/**
 * The numbers that may stand for the requested page: its own; the one before if the engine counts from 0; in the older style,
 * which counts results, the number of results before it, or the page that this number makes with shorter pages. Null if the
 * operation has no pages.
 */
function pagesMeant(
  { paging, styles }: BillableOperation,
  { page, params }: RequestedPage,
  answeredNum: number | null,
): ReadonlySet<number> | null {
  if (paging === null) return null
  const meant = new Set([page])
  if (paging.echoFromZero === true) meant.add(page - 1)
  if (styles.includes('post')) {
    const usual = paging.pageSize ?? 10
    const before = (page - 1) * (typeof params.num === 'number' ? params.num : usual)
    meant.add(before)
    for (const size of [usual, answeredNum])
      if (size !== null && size > 0) meant.add(Math.floor(before / size) + 1)
  }
  return meant
}

/**
 * Asynchronous jobs. The service documents neither the answer to a submission nor the answer to a poll, so every plausible
 * field is read, in every place where it may be.
 */

/** The state of a job by its poll; unknown words mean that it still runs. */
type AsyncJobState = 'running' | 'completed' | 'failed'

const idNames = ['job_id', 'jobId', 'id', 'request_id', 'requestId', 'task_id', 'taskId', 'uuid']
const idHeaders = ['x-job-id', 'job-id', 'x-request-id', 'location']
const completedWords = /^(completed?|done|finished|success(ful)?|succeeded|ok|ready|201)$/i
const failedWords = /^(fail(ed|ure)?|error(ed)?|cancel(l?ed)?|expired|aborted|500)$/i

/** The id of a job, from the body or the headers of the answer to its submission; null if none can be found. */
export function jobIdOf(
  body: Buffer,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | null {
  const fields = asFields(parseJson(exactNumbers(body)))
  const places = fields === null ? [] : [fields, ...wrappedFields(fields)]
  for (const place of places)
    for (const name of idNames) {
      const id = text(place[name])
      if (id !== null) return id
    }
  for (const name of idHeaders) {
    const value = headers[name]
    // A location ends with the id.
    if (typeof value === 'string' && value !== '') return value.replace(/[?#].*$/, '').replace(/.*\//, '')
  }
  return null
}

/** Long numbers as text, because an id must not lose its last digits. */
function exactNumbers(body: Buffer): Buffer {
  return Buffer.from(body.toString('utf8').replace(/(:\s*)(\d{16,})(?=\s*[,}\]])/g, '$1"$2"'))
}

/** The state of a job by the answer to a poll, for an operation whose answers have that shape. */
export function jobStateOf(body: Buffer, response: BillableOperation['response']): AsyncJobState {
  const fields = asFields(parseJson(body))
  if (fields === null) return 'running'
  const results = holderOf(fields, response.items)?.[response.items]
  // An empty object may mean that the results are not ready yet.
  if (Array.isArray(results) || (listedItems(results, response)?.length ?? 0) > 0) return 'completed'
  for (const place of [fields, ...wrappedFields(fields)]) {
    const status = text(place.status) ?? text(place.state)
    if (status !== null && completedWords.test(status)) return 'completed'
    if (status !== null && failedWords.test(status)) return 'failed'
  }
  return 'running'
}
