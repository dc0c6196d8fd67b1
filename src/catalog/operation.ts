import type { ResultKind } from '../model/result.ts'
import type { ReadResult } from '../model/values.ts'

/** Web engine that an operation asks. */
type Engine = 'alpha' | 'beta' | 'gamma'

/** The documented shape of a 200 answer: its fields, and the fields of the items that `items` holds. */
export interface ResponseShape {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  /** Field that holds the list of results; null if the answer itself is the list. */
  readonly items: string | null
  /** Documented fields of one item; empty if an item is a string. */
  readonly itemFields: readonly string[]
}

interface OperationBase {
  /** The name in job files and in the database; never reused for another operation. */
  readonly name: string
  /** One line for people. */
  readonly title: string
  /** Path of the `get` style below the base URL. */
  readonly path: string
  /** Parameters of a query, without `query`, `page` and `async`, which users cannot set. */
  readonly params: Readonly<Record<string, Param>>
  /** Groups of parameters of which a call may have one. */
  readonly exclusive?: readonly (readonly string[])[]
  readonly response: ResponseShape
}

/** An operation that costs credits. Job files can ask for it. */
export interface BillableOperation extends OperationBase {
  readonly billable: true
  readonly response: ResponseShape & { readonly items: string }
  readonly engine: Engine
  readonly styles: readonly Style[]
  /** Path of the `post` style on the host of the base URL. */
  readonly postPath?: string
  /** Credits per call. */
  readonly cost: number
  readonly paging: {
    /** Documented results per page; null if none are documented. */
    readonly pageSize: number | null
    /** Styles that must name page 1. In the others page 1 is the default and not sent. */
    readonly firstPageSent?: readonly Style[]
    /** The answer may repeat the page counted from 0. */
    readonly echoFromZero?: true
  } | null
  /** Name of the boolean parameter that asks for an asynchronous job. */
  readonly asyncParam?: string
  readonly experimental?: true
  /** Kind of the results that are ranked. */
  readonly kind: Exclude<ResultKind, 'related'>
  /** The `engine` value that the answer echoes in `search_parameters`. */
  readonly echoEngine: string
}

/** A lookup that consumes no credits. */
export interface FreeOperation extends OperationBase {
  readonly billable: false
  readonly cost: 0
}

export type Operation = BillableOperation | FreeOperation

/** How a call is made: newer style `get` (query string) or older style `post` (JSON body). */
export type Style = 'get' | 'post'

/** One parameter of an operation, as the service documents it. */
export interface Param {
  readonly type: 'string' | 'number' | 'integer'
  readonly meaning: string
  readonly required?: true
  /** The service's default, for documentation: rankline never sends a default. */
  readonly default?: string | number
  /** The only values allowed. */
  readonly values?: readonly string[]
  /** Form of a string value, with the words that explain it. */
  readonly pattern?: { readonly regexp: RegExp; readonly words: string }
  /** What to do about a value of that form without a meaning; null if it has one. The service may accept both. */
  readonly unknownCode?: (text: string) => string | null
  readonly min?: number
  readonly max?: number
  /** Styles that have the parameter; all styles of the operation by default. */
  readonly styles?: readonly Style[]
  /** The service may use another value, and says so in its answer. */
  readonly suggestion?: true
}

export type ParamValue = string | number

/** Reads a value of the parameter from the text that a user wrote. */
export function checkParam(param: Param, text: string): ReadResult<ParamValue> {
  if (text === '') return { message: 'is empty', fix: 'give it a value or leave it out' }
  if (param.type !== 'string') return checkNumber(param, text)
  const { values, pattern } = param
  if (values?.includes(text) === false)
    return { message: `cannot be '${text}'`, fix: `write one of ${values.join(', ')}` }
  if (pattern?.regexp.test(text) === false)
    return { message: `cannot be '${text}'`, fix: `write ${pattern.words}` }
  return { value: text }
}

function checkNumber({ type, min, max }: Param, text: string): ReadResult<ParamValue> {
  const noun = type === 'integer' ? 'a whole number' : 'a number'
  const upTo = max === undefined ? 'up' : `to ${max}`
  const fix = `write ${noun}${min === undefined ? '' : ` from ${min} ${upTo}`}`
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return { message: `cannot be '${text}'`, fix }
  const value = Number(text)
  const isExact = type === 'number' || Number.isSafeInteger(value)
  const fits = isExact && value >= (min ?? -Infinity) && value <= (max ?? Infinity)
  return fits ? { value } : { message: `cannot be ${text}`, fix }
}

/** Needed to read the dates and numbers of an answer. */
export interface ReadingContext {
  /** The language that was asked for, such as `de`, `pt-BR` or `en-US`; null where that was left to the service. */
  readonly language: string | null
  /** Two letters; null where that was left to the service. */
  readonly country: string | null
  /** Epoch ms; ages count back from here. */
  readonly fetchedAt: number
}

/** Readers of single fields of an answer. A value of another type gives null, never an exception. */

type Fields = Readonly<Record<string, unknown>>

/** The value as an object, or null. */
function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/**
 * Text as sent. An exact number becomes its text, a list of one text that text. Anything else is null, and so is empty text.
 */
function text(value: unknown): string | null {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof one === 'string') return one === '' ? null : one
  return typeof one === 'number' && Math.abs(one) <= Number.MAX_SAFE_INTEGER ? String(one) : null
}

const decimal = /^[-+]?\d+(?:\.\d+)?$/

/** A number, or text in plain digits; anything else is null. */
function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !decimal.test(value.trim())) return null
  const read = Number(value)
  return Number.isFinite(read) ? read : null
}

/** A whole number within the exact range of numbers, or null. */
function integer(value: unknown): number | null {
  const read = number(value)
  // `+ 0` turns -0 into 0.
  return read !== null && Number.isSafeInteger(read) ? read + 0 : null
}

function boolean(value: unknown): boolean | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value
  if (word === true || word === 1 || word === '1' || word === 'true') return true
  return word === false || word === 0 || word === '0' || word === 'false' ? false : null
}

const listNumber = /^(?:0|[1-9]\d*)$/

/** The values of a list, also of a list that came as an object with numbers as keys; null for anything else. */
function list(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  const fields = asFields(value)
  if (fields === null || !Object.keys(fields).every((key) => listNumber.test(key))) return null
  return Object.entries(fields)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, item]) => item)
}

/** The JSON of a body, also after a byte order mark; undefined if it is not JSON. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8', startsWithMark(body) ? 3 : 0))
  } catch {
    return undefined
  }
}

/** A byte order mark, in UTF-8. */
function startsWithMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
}

/** Parts of a body as the service sent them; null where a part is missing, or is something else. */
export const readPart = {
  fields: asFields,
  text,
  number,
  integer,
  boolean,
  list,
  json: parseJson,
}
