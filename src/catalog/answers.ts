import type { AnswerFacts, ParsedAnswer, Result, ResultKind } from '../model/result.ts'
import { plain, textLocaleOf } from './dates/languages.ts'
import { readDate } from './dates/read-date.ts'
import { type BillableOperation, type ReadingContext, type ResponseShape, readPart } from './operation.ts'

const { fields: asFields, text, integer, boolean, list, json: parseJson } = readPart

type AnswerFields = Readonly<Record<string, unknown>>

/** Raised with every change of a normaliser, so that results of older ones can be recognised. */
export const normaliserVersion = 4

/**
 * Results and facts of a stored body. A body without the list that its operation documents is not an answer, whatever else it
 * holds: nothing can be said to be missing from a list that did not come. An empty list is an answer, unless the body says
 * that something went wrong. Else the reason is one sentence for people.
 */
function parseAnswer(
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
  return normalise(operation, { ...fields, [items]: listed }, context)
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
function contradiction(
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
function holderOf(fields: AnswerFields, items: string): AnswerFields | null {
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
function webAnswer(read: ReadItem) {
  return (body: unknown, context: ReadingContext): ParsedAnswer => {
    const fields = asFields(body) ?? {}
    const here = localised(fields, context)
    return gather(fields, here.language, [
      items(fields.organic_results, (item) => described(item, (one) => read(one, here))),
      items(fields.related_searches, (item) => worded('related', item)),
    ])
  }
}

/** The normaliser of an answer with one list of results. */
function listAnswer(field: string, read: (item: unknown) => Result | null) {
  return (body: unknown, context: ReadingContext): ParsedAnswer => {
    const fields = asFields(body) ?? {}
    return gather(fields, localised(fields, context).language, [items(fields[field], read)])
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

function gather(fields: AnswerFields, language: string | null, reads: readonly ReadResults[]): ParsedAnswer {
  return {
    results: reads.flatMap((read) => read.results),
    malformed: reads.flatMap((read) => read.malformed),
    facts: facts(fields, language),
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
    kind,
    position: integer(position),
    title: text(item.title),
    link: link(item.link),
    source: text(item.source),
    snippet: null,
    displayedLink: null,
    snippetMatched: null,
    news: null,
    video: null,
    image: null,
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

function dated(item: AnswerFields, context: ReadingContext) {
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

/**
 * How a body becomes an answer, by the kind of results that its operation ranks. Suggestions have no position; of an AI answer the
 * references are the results, and the text is a fact.
 */
const normalisers = {
  organic: webAnswer(organic),
  news: webAnswer(news),
  video: webAnswer(video),
  image: listAnswer('images', (item) => described(item, image)),
  suggestion: listAnswer('suggestions', (item) => worded('suggestion', item)),
  reference: listAnswer('references', (item) => described(item, reference)),
}

/** Body -> results. Never throws on odd data. */
function normalise({ kind }: BillableOperation, body: unknown, context: ReadingContext): ParsedAnswer {
  return normalisers[kind](body, context)
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

/** A link as sent. Blank ones are null: they would be equal, and all their results would count as one. */
function link(value: unknown): string | null {
  const sent = text(value)
  return sent === null || sent.trim() === '' ? null : sent
}

/** The texts of a list, or a single text; null for anything else. */
function strings(value: unknown): readonly string[] | null {
  const texts = list(typeof value === 'string' && value !== '' ? [value] : value)
  return texts?.map(text).filter((one) => one !== null) ?? null
}

/** Values that some programs write and JSON does not have, outside of texts; a text that is cut off ends the search. */
const notOfJson = /"(?:[^"\\]|\\.)*(?:"|$)|[-+]?\b(?:NaN|Infinity|undefined|None|True|False)\b/gs

/** The first value in a body that JSON does not have, with its place; null where there is none. */
function valueOutsideJson(body: Buffer): string | null {
  const text = body.toString('utf8')
  let field: string | null = null
  for (const { 0: found, index } of text.matchAll(notOfJson)) {
    if (!found.startsWith('"')) {
      const inside = field === null ? '' : ` in ${field.slice(0, 60)}`
      return `${found}${inside}, at character ${index + 1}`
    }
    const follows = text.slice(index + found.length, index + found.length + 20)
    if (/^\s*:/.test(follows)) field = found
  }
  return null
}

/** Writing JSON runs out of stack at a few thousand levels, and SQLite reads no more than 1,000. */
const deepest = 200
const cutOff = `… (nested deeper than ${deepest} levels)`

/** A value as sent, cut off where it is nested too deep to be stored and read again. */
function asSent(value: unknown): unknown {
  return reaches(value, deepest) ? cut(value, deepest) : value
}

/** Whether a value is nested deeper than this many levels. */
function reaches(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Of a list too, these are the items.
  for (const name in value) if (reaches((value as AnswerFields)[name], levels - 1)) return true
  return false
}

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return cutOff
  if (Array.isArray(value)) return value.map((item) => cut(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cut(item, levels - 1)]))
}

/** The locale in the parameters of a request, or in those that an answer repeats. */
function localeOf(params: AnswerFields): Omit<ReadingContext, 'fetchedAt'> {
  const market = text(params.mkt)
  return {
    language: text(params.hl) ?? market,
    country: text(params.gl) ?? text(params.cc) ?? market?.match(/-([a-z]{2})$/i)?.[1] ?? null,
  }
}

/** A context that is completed from the parameters that the answer repeats. */
export function completed(context: ReadingContext, echo: AnswerFields | null): ReadingContext {
  const { language, country } = localeOf(echo ?? {})
  return { ...context, language: context.language ?? language, country: context.country ?? country }
}

/** Words for results, as they follow a number; small words may be between. */
const resultWords =
  'results?|search results|ergebnis(?:se)?|r[ée]sultats?|resultad[oa]s?|risultat[io]|resultaten' +
  '|resultaat|resultat(?:er)?|resultats?|tulosta|wynik(?:i|ów)?|výsledk[ůy]|výsledkov|találat' +
  '|rezultat[ei]?|rezultata|резултат(?:а|и)?|результат(?:а|ов|и|ів)?|αποτελέσματα|sonuç|hasil|kết quả' +
  '|รายการ|نتيجة|نتائج|نتيجه|תוצאות|परिणाम|件|[条條项項]|[個个](?!月)|개(?!월)'

const counted = new RegExp(`^ ?(?:de |d'|di )?(?:${resultWords})`, 'u')
/** A text that ends in the first part of a number, or in a minus sign. */
const unfinished = /(?:^|[ .,'])-$|[.,']$|\d $/

const grouped = /^[1-9]\d{0,2}(?:([.,'])\d{3})(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/

/** Longer texts are not read. */
const longestLine = 200

/** A number of results: a number, or a line such as `About 1,230 results (0.42 seconds)`; null if it is not certain. */
export function readTotal(value: unknown, language: string | null): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value + 0 : null
  if (typeof value !== 'string' || value.length > longestLine) return null
  const marks = marksOf(language)
  const text = groupsJoined(value, marks)
    .toLowerCase()
    .replace(/\([^)]*\)/g, ' ')
  const totals = new Set<number | null>()
  for (const { 0: number, index } of text.matchAll(/\d(?:[\d.,']*\d)?/g)) {
    const before = text.slice(0, index)
    const after = text.slice(index + number.length)
    const isAlone = before.trim() === '' && after.trim() === ''
    if (isAlone || counted.test(after))
      totals.add(unfinished.test(before) ? null : wholeNumber(number, marks))
  }
  const [total = null] = totals
  return totals.size === 1 ? total : null
}

/** Seconds that a search took: a number, or its text with either decimal mark. */
export function readSeconds(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null
  if (typeof value !== 'string') return null
  const text = plain(value)
  // `1,200` may be a thousand and two hundred, so a comma allows two decimals only.
  return /^\d{1,9}(?:\.\d{1,9}|,\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : null
}

/** The marks that group digits and begin decimals in a language; empty where they are not known. */
function marksOf(code: string | null) {
  const { language, region } = textLocaleOf(code, null)
  if (language === null) return { group: '', decimal: '' }
  const locale = region === null ? language : `${language}-${region}`
  const parts = new Intl.NumberFormat(`${locale}-u-nu-latn`).formatToParts(1_234_567.5)
  const mark = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? ''
  return { group: plain(`0${mark('group')}0`).slice(1, -1), decimal: mark('decimal') }
}

/** The text with apostrophes for spaces inside numbers; a plain space counts only in languages that group digits with it. */
function groupsJoined(value: string, { group }: ReturnType<typeof marksOf>): string {
  const hard = value.replace(/(?<=\p{Nd})[\u00a0\u202f\u2007\u2009’](?=\p{Nd})/gu, "'").replace(/٬/g, ',')
  const text = plain(hard)
  return group === ' ' ? text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, "'") : text
}

/** The whole number of digits with group marks. A single mark must not be a decimal mark. */
function wholeNumber(text: string, { group, decimal }: ReturnType<typeof marksOf>): number | null {
  if (/^\d+$/.test(text)) return safe(text)
  if (!grouped.test(text)) return null
  const marks = text.replace(/\d/g, '')
  const isCertain = marks.length > 1 || marks === "'" || (marks === group && marks !== decimal)
  return isCertain ? safe(text.replace(/\D/g, '')) : null
}

function safe(digits: string): number | null {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : null
}

const clockTime = /^(?:(\d{1,6}):([0-5]?\d)|(\d{1,6})):([0-5]\d)$/
const isoDuration = /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/i

/** Seconds of a duration written `M:SS`, `H:MM:SS` or as ISO 8601 (`PT1H2M3S`), in any digits; null for anything else. */
export function durationSeconds(duration: string | null): number | null {
  const text = plain(duration ?? '')
  const parts = text.match(clockTime)
  if (parts !== null) {
    const [, hours = '0', minutesOfHour, minutes, seconds] = parts
    return Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
  }
  const [found, days = '0', hours = '0', minutes = '0', seconds = '0'] = text.match(isoDuration) ?? []
  if (found === undefined) return null
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
}

/** What bodies of answers hold. */
export const bodies = {
  parse: parseAnswer,
  normalise,
  contradiction,
  localeOf,
  holderOf,
  listedItems,
  wrappedFields,
}
