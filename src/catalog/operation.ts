import type { ResultKind, Understood } from '../model/result.ts'
import type { ReadingContext } from './normalise/locale.ts'
import type { Param, Style } from './param.ts'

/** Web engine that an operation asks. */
export type Engine = 'alpha' | 'beta' | 'gamma'

/** How an operation is paged; operations without paging have one page. */
export interface Paging {
  /** Documented results per page, or null where the document names none. */
  readonly pageSize: number | null
  /** Styles that must name page 1, too; everywhere else page 1 is said by saying nothing. */
  readonly firstPageSent?: readonly Style[]
  /** The answer may repeat the page as counted from 0. */
  readonly echoFromZero?: true
}

/** The documented shape of a 200 answer: its fields, and the fields of the items that `items` holds. */
export interface ResponseShape {
  readonly required: readonly string[]
  readonly optional?: readonly string[]
  /** Field that holds the list of results; null where the answer itself is that list. */
  readonly items: string | null
  /** Documented fields of one item; empty where an item is a bare string. */
  readonly itemFields: readonly string[]
}

interface OperationBase {
  /** What job files and the database say; never reused for anything else. */
  readonly name: string
  /** One line for people. */
  readonly title: string
  /** Path of the `get` style below the base URL. */
  readonly path: string
  /** Parameters of a query, without `query`, `page` and `async`, which are not the user's to set. */
  readonly params: Readonly<Record<string, Param>>
  /** Groups of parameters of which a call may carry one. */
  readonly exclusive?: readonly (readonly string[])[]
  readonly response: ResponseShape
}

/** An operation that costs credits: what job files can ask for. */
export interface BillableOperation extends OperationBase {
  readonly billable: true
  readonly response: ResponseShape & { readonly items: string }
  readonly engine: Engine
  readonly styles: readonly Style[]
  /** Path of the `post` style on the host of the base URL. */
  readonly postPath?: string
  /** Credits per call. */
  readonly cost: number
  readonly paging: Paging | null
  /** Name of the boolean parameter that asks for an asynchronous job. */
  readonly asyncParam?: string
  readonly experimental?: true
  /** Kind of the results that are ranked. */
  readonly kind: ResultKind
  /** The `engine` value that the answer echoes in `search_parameters`. */
  readonly echoEngine: string
  /** Body -> results. Never throws on odd data. */
  readonly normalise: (body: unknown, context: ReadingContext) => Understood
}

/** A lookup that consumes no credits. */
export interface FreeOperation extends OperationBase {
  readonly billable: false
  readonly cost: 0
}

export type Operation = BillableOperation | FreeOperation
