import * as answers from './answers.ts'
import type { Shape } from './shape.ts'

/** The interface of the service, typed out by hand: what the catalog says is held to this, never the other way round. */

export interface DocumentedParam {
  readonly type: 'string' | 'number' | 'integer' | 'boolean'
  readonly required?: true
  readonly default?: string | number | boolean
  readonly values?: readonly string[]
  readonly example: string | number
}

export type Params = Readonly<Record<string, DocumentedParam>>

export interface DocumentedOperation {
  readonly get: { readonly path: string; readonly params: Params }
  readonly post?: { readonly path: string; readonly params: Params }
  readonly exclusive?: readonly [string, string]
  /** Credits. */
  readonly cost: number
  /** Documented results per page; null where none is. Absent where there are no pages. */
  readonly pageSize?: number | null
  readonly answer: Shape
  /** Field of the answer that lists the results. */
  readonly list: string
}

const text = (example: string): DocumentedParam => ({ type: 'string', example })
const query: DocumentedParam = { type: 'string', required: true, example: 'standing desk' }
const location = text('Austin, Texas')
const uule = text('w+CAIQICIGQXVzdGlu')
const gl = text('us')
const hl = text('en')
const tbs = text('qdr:w')
const page: DocumentedParam = { type: 'number', default: 1, example: 2 }
const num: DocumentedParam = { type: 'number', default: 10, example: 20 }
const offset: DocumentedParam = { ...page, type: 'integer', example: 20 }
const wholeNum: DocumentedParam = { ...num, type: 'integer' }
const postParams: Params = { query, location, uule, gl, hl, page: offset, num: wholeNum }

export const documented: Readonly<Record<string, DocumentedOperation>> = {
  'alpha.search': {
    get: { path: '/v1/alpha/search', params: { query, tbs, location, uule, gl, hl, page, num } },
    post: { path: '/api/v1/alpha/search', params: postParams },
    exclusive: ['location', 'uule'],
    cost: 1,
    pageSize: 10,
    answer: answers.webSearch,
    list: 'organic_results',
  },
  'alpha.light': {
    get: { path: '/v1/alpha/search/light', params: { query, gl, hl } },
    cost: 1,
    answer: answers.light,
    list: 'organic_results',
  },
  'alpha.autocomplete': {
    get: {
      path: '/v1/alpha/search/autocomplete',
      params: { query, cp: { type: 'number', default: 0, example: 4 }, gl, hl },
    },
    cost: 1,
    answer: answers.autocomplete,
    list: 'suggestions',
  },
  'alpha.ai': {
    get: { path: '/v1/alpha/search/ai', params: { query, location, uule, gl, hl } },
    exclusive: ['location', 'uule'],
    cost: 3,
    answer: answers.ai,
    list: 'references',
  },
  'alpha.news': {
    get: { path: '/v1/alpha/news', params: { query, page, num, gl, hl } },
    post: { path: '/api/v1/alpha/news', params: postParams },
    exclusive: ['location', 'uule'],
    cost: 1,
    pageSize: 10,
    answer: answers.news,
    list: 'organic_results',
  },
  'alpha.videos': {
    get: {
      path: '/v1/alpha/videos',
      params: { query, location, uule, gl, hl, page: { ...page, required: true }, num },
    },
    post: { path: '/api/v1/alpha/videos', params: postParams },
    exclusive: ['location', 'uule'],
    cost: 1,
    pageSize: 10,
    answer: answers.videos,
    list: 'organic_results',
  },
  'alpha.images': {
    get: {
      path: '/v1/alpha/images',
      params: {
        query,
        page,
        gl,
        hl,
        alpha_domains: text('alpha.example'),
        async: { type: 'boolean', default: false, example: 'false' },
      },
    },
    cost: 1,
    pageSize: null,
    answer: answers.images,
    list: 'images',
  },
  'beta.search': {
    get: {
      path: '/v1/beta/search',
      params: {
        query,
        page,
        num,
        location,
        lat: { type: 'number', example: 30.2672 },
        lon: { type: 'number', example: -97.7431 },
        mkt: text('en-US'),
        cc: text('us'),
      },
    },
    exclusive: ['cc', 'mkt'],
    cost: 1,
    pageSize: 10,
    answer: answers.beta,
    list: 'organic_results',
  },
  'gamma.search': {
    get: { path: '/v1/gamma/search', params: { query, page } },
    cost: 1,
    pageSize: null,
    answer: answers.gamma,
    list: 'organic_results',
  },
  'gamma.images': {
    get: {
      path: '/v1/gamma/images',
      params: {
        query,
        page,
        gl,
        hl,
        safe: { type: 'string', values: ['active', 'off', 'moderate', 'strict'], example: 'active' },
      },
    },
    cost: 1,
    pageSize: 50,
    answer: answers.gammaImages,
    list: 'images',
  },
}

/** Lookups: never billed. */
export const documentedLookups: Readonly<Record<string, { readonly path: string; readonly params: Params }>> =
  {
    'finder.countries': { path: '/v1/finder/alpha-countries', params: { query } },
    'finder.languages': { path: '/v1/finder/alpha-languages', params: { query } },
    usage: { path: '/v1/usage', params: {} },
    stats: { path: '/v1/stats', params: { engine: text('alpha'), path: text('/v1/alpha/search') } },
    'jobs.poll': {
      path: '/jobs/{job_id}',
      params: { job_id: { type: 'string', required: true, example: 'job_1' } },
    },
  }

/** One operation in one of its styles. */
export interface DocumentedCall extends Omit<DocumentedOperation, 'get' | 'post'> {
  readonly name: string
  readonly style: 'get' | 'post'
  readonly path: string
  readonly params: Params
}

/** Every billable call there is, both styles where there are two. */
export const documentedCalls: readonly DocumentedCall[] = Object.entries(documented).flatMap(
  ([name, { get, post, ...shared }]) => [
    { name, style: 'get' as const, ...get, ...shared },
    ...(post === undefined ? [] : [{ name, style: 'post' as const, ...post, ...shared }]),
  ],
)

/** The example values of some params: the required ones and those that are named. */
export function exampleOf({ params }: DocumentedCall, names: readonly string[] = []) {
  const wanted = Object.entries(params).filter(([name, param]) => param.required || names.includes(name))
  return Object.fromEntries(wanted.map(([name, { example }]) => [name, example]))
}
