import type { ParsedAnswer, ResultKind } from '../model/result.ts'
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
  readonly kind: ResultKind
  /** The `engine` value that the answer echoes in `search_parameters`. */
  readonly echoEngine: string
  /** Body -> results. Never throws on odd data. */
  readonly normalise: (body: unknown, context: ReadingContext) => ParsedAnswer
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
