import type { SerpFeature } from '../model/result.ts'
import type { BillableOperation, FreeOperation, Operation, Param } from './operation.ts'

/** Parameters that several operations share, declared once. */

export const gl: Param = {
  type: 'string',
  meaning: 'country, two letters',
  pattern: { regexp: /^[a-z]{2}$/i, words: 'a two-letter country code such as us' },
  unknownCode: countryProblem,
}

export const hl: Param = {
  type: 'string',
  meaning: 'language, two letters',
  // The service documents two letters. Forms with a region such as pt-BR are allowed, because the service may know them.
  pattern: { regexp: /^[a-z]{2,3}(-[a-z0-9]{2,4})?$/i, words: 'a two-letter language code such as en' },
  unknownCode: languageProblem,
}

const location: Param = {
  type: 'string',
  meaning: 'origin as a place name at city level; not with uule',
}

const uule: Param = { type: 'string', meaning: 'encoded location; not with location' }

export const num: Param = {
  type: 'integer',
  meaning: 'results per page',
  default: 10,
  min: 1,
}

/** Documented fields of the items in answers, by the operations that send them. */

const web = ['position', 'title', 'link', 'domain', 'source', 'snippet'] as const

const organicItem = [...web, 'displayed_link', 'snippet_matched'] as const
const newsItem = [...organicItem, 'date'] as const
const videoItem = [...organicItem, 'date', 'channel', 'duration', 'video_id'] as const
const lightItem = ['link', 'title', 'source', 'snippet', 'position'] as const
const shortItem = ['link', 'title', 'domain', 'snippet', 'position'] as const
const imageItem = [
  'url',
  'link',
  'title',
  'domain',
  'source',
  'position',
  'image_width',
  'image_height',
] as const
const gammaImageItem = [...imageItem, 'thumbnail'] as const
const referenceItem = ['link', 'index', 'title', 'source'] as const

const alphaSearch: BillableOperation = {
  name: 'alpha.search',
  title: 'web search',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha',
  styles: ['get', 'post'],
  path: '/v1/alpha/search',
  postPath: '/api/v1/alpha/search',
  params: {
    tbs: {
      type: 'string',
      meaning: 'advanced filters, for instance qdr:d for the last day',
      styles: ['get'],
    },
    location,
    uule,
    gl,
    hl,
    num: { ...num, meaning: 'results per page; deprecated by the service' },
  },
  exclusive: [['location', 'uule']],
  cost: 1,
  paging: { pageSize: 10 },
  response: {
    required: ['pagination', 'organic_results', 'search_parameters'],
    optional: ['knowledge_graph', 'related_searches', 'search_information'],
    items: 'organic_results',
    itemFields: organicItem,
  },
  kind: 'organic',
}

const alphaLight: BillableOperation = {
  name: 'alpha.light',
  title: 'light web search: organic results only, one page',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha',
  styles: ['get'],
  path: '/v1/alpha/search/light',
  params: { gl, hl },
  cost: 1,
  paging: null,
  response: {
    required: ['organic_results', 'search_parameters'],
    items: 'organic_results',
    itemFields: lightItem,
  },
  kind: 'organic',
}

const alphaAutocomplete: BillableOperation = {
  name: 'alpha.autocomplete',
  title: 'query autocomplete',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha',
  styles: ['get'],
  path: '/v1/alpha/search/autocomplete',
  params: {
    cp: { type: 'integer', meaning: 'cursor position in the query', default: 0, min: 0 },
    gl,
    hl,
  },
  cost: 1,
  paging: null,
  response: { required: ['suggestions'], items: 'suggestions', itemFields: [] },
  kind: 'suggestion',
}

const alphaAi: BillableOperation = {
  name: 'alpha.ai',
  title: 'AI answer with its references',
  billable: true,
  experimental: true,
  engine: 'alpha',
  echoEngine: 'alpha_ai_mode',
  styles: ['get'],
  path: '/v1/alpha/search/ai',
  params: { location, uule, gl, hl },
  exclusive: [['location', 'uule']],
  cost: 3,
  paging: null,
  response: {
    required: ['references', 'text_blocks', 'reconstructed_markdown', 'search_parameters'],
    items: 'references',
    itemFields: referenceItem,
  },
  kind: 'reference',
}

const alphaNews: BillableOperation = {
  name: 'alpha.news',
  title: 'news search',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha_news',
  styles: ['get', 'post'],
  path: '/v1/alpha/news',
  postPath: '/api/v1/alpha/news',
  params: {
    location: { ...location, styles: ['post'] },
    uule: { ...uule, styles: ['post'] },
    gl,
    hl,
    num,
  },
  exclusive: [['location', 'uule']],
  cost: 1,
  paging: { pageSize: 10 },
  response: {
    required: ['pagination', 'organic_results', 'search_parameters'],
    items: 'organic_results',
    itemFields: newsItem,
  },
  kind: 'news',
}

const alphaVideos: BillableOperation = {
  name: 'alpha.videos',
  title: 'video search',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha_videos',
  styles: ['get', 'post'],
  path: '/v1/alpha/videos',
  postPath: '/api/v1/alpha/videos',
  params: { location, uule, gl, hl, num },
  exclusive: [['location', 'uule']],
  cost: 1,
  paging: { pageSize: 10, firstPageSent: ['get'] },
  response: {
    required: ['organic_results', 'search_parameters'],
    items: 'organic_results',
    itemFields: videoItem,
  },
  kind: 'video',
}

const alphaImages: BillableOperation = {
  name: 'alpha.images',
  title: 'image search',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha',
  styles: ['get'],
  path: '/v1/alpha/images',
  params: {
    gl,
    hl,
    alpha_domains: { type: 'string', meaning: 'domain of the engine to use; its main domain if not given' },
  },
  cost: 1,
  paging: { pageSize: null },
  asyncParam: 'async',
  response: {
    required: ['images', 'search_parameters'],
    items: 'images',
    itemFields: imageItem,
  },
  kind: 'image',
}

const betaSearch: BillableOperation = {
  name: 'beta.search',
  title: 'web search on the second engine',
  billable: true,
  engine: 'beta',
  echoEngine: 'beta',
  styles: ['get'],
  path: '/v1/beta/search',
  params: {
    num: { ...num, meaning: 'results per page; only a suggestion', suggestion: true },
    location: { ...location, meaning: 'origin, for instance a city' },
    lat: { type: 'number', meaning: 'GPS latitude of the origin', min: -90, max: 90 },
    lon: { type: 'number', meaning: 'GPS longitude of the origin', min: -180, max: 180 },
    mkt: {
      type: 'string',
      meaning: 'market, language-region; not with cc',
      pattern: { regexp: /^[a-z]{2,4}(-[a-z0-9]{2,8})+$/i, words: 'a language-region pair such as en-US' },
    },
    cc: {
      type: 'string',
      meaning: 'country, two letters; not with mkt',
      pattern: { regexp: /^[a-z]{2}$/i, words: 'a two-letter country code such as us' },
      unknownCode: countryProblem,
    },
  },
  exclusive: [['cc', 'mkt']],
  cost: 1,
  paging: { pageSize: 10 },
  response: {
    required: ['pagination', 'organic_results', 'search_parameters'],
    items: 'organic_results',
    itemFields: shortItem,
  },
  kind: 'organic',
}

const gammaSearch: BillableOperation = {
  name: 'gamma.search',
  title: 'web search on the third engine',
  billable: true,
  engine: 'gamma',
  echoEngine: 'gamma',
  styles: ['get'],
  path: '/v1/gamma/search',
  params: {},
  cost: 1,
  paging: { pageSize: null, echoFromZero: true },
  response: {
    required: ['organic_results', 'search_parameters'],
    items: 'organic_results',
    itemFields: shortItem,
  },
  kind: 'organic',
}

const gammaImages: BillableOperation = {
  name: 'gamma.images',
  title: 'image search on the third engine, 50 a page',
  billable: true,
  engine: 'gamma',
  echoEngine: 'gamma_images',
  styles: ['get'],
  path: '/v1/gamma/images',
  params: {
    gl,
    hl,
    safe: {
      type: 'string',
      meaning: 'filter of explicit images; active means strict',
      values: ['active', 'off', 'moderate', 'strict'],
    },
  },
  cost: 1,
  paging: { pageSize: 50, echoFromZero: true },
  response: {
    required: ['images', 'search_parameters'],
    items: 'images',
    itemFields: gammaImageItem,
  },
  kind: 'image',
}

export const stats: FreeOperation = {
  name: 'stats',
  title: 'health of an engine or of one of its paths over the last hour',
  billable: false,
  path: '/v1/stats',
  params: {
    engine: { type: 'string', meaning: 'engine to check' },
    path: { type: 'string', meaning: 'path to check, /v1/<engine>/<operation>' },
  },
  cost: 0,
  response: {
    required: ['engine', 'path', 'health', 'success_rate', 'avg_response_time_ms', 'window'],
    items: null,
    itemFields: [],
  },
}

export const usage: FreeOperation = {
  name: 'usage',
  title: 'balance, rate limits and quotas of the key',
  billable: false,
  path: '/v1/usage',
  params: {},
  cost: 0,
  response: {
    required: [
      'remaining',
      'total_used',
      'renewal_date',
      'period',
      'subscription',
      'credits',
      'rate_limit',
      'account',
      'api_key',
    ],
    optional: ['packs'],
    items: null,
    itemFields: [],
  },
}

export const jobsPoll: FreeOperation = {
  name: 'jobs.poll',
  title: 'state and result of an asynchronous job',
  billable: false,
  path: '/jobs/{job_id}',
  params: { job_id: { type: 'string', required: true, meaning: 'id that the 202 answer gave' } },
  cost: 0,
  response: { required: [], items: null, itemFields: [] },
}

export const finderCountries: FreeOperation = {
  name: 'finder.countries',
  title: 'countries whose name contains a text',
  billable: false,
  path: '/v1/finder/alpha-countries',
  params: { query: { type: 'string', required: true, meaning: 'part of a country name' } },
  cost: 0,
  response: { required: [], items: null, itemFields: ['country_code', 'country_name'] },
}

export const finderLanguages: FreeOperation = {
  name: 'finder.languages',
  title: 'languages whose name contains a text',
  billable: false,
  path: '/v1/finder/alpha-languages',
  params: { query: { type: 'string', required: true, meaning: 'part of a language name' } },
  cost: 0,
  response: { required: [], items: null, itemFields: ['language_code', 'language_name'] },
}

/** Every operation of the service. A new one is a constant above, and its name here. */
export const operations: readonly Operation[] = [
  alphaSearch,
  alphaLight,
  alphaAutocomplete,
  alphaAi,
  alphaNews,
  alphaVideos,
  alphaImages,
  betaSearch,
  gammaSearch,
  gammaImages,
  finderCountries,
  finderLanguages,
  usage,
  stats,
  jobsPoll,
]

/** The operations that cost credits. Jobs can ask for these. */
export const billableOperations: readonly BillableOperation[] = operations.filter(
  (operation) => operation.billable,
)

export const highestPrice = Math.max(...billableOperations.map(({ cost }) => cost))

const byName = new Map(operations.map((operation) => [operation.name, operation]))

export function findOperation(name: string): Operation | undefined {
  return byName.get(name)
}

/** The billable operation of a name that was checked before; throws for others. */
export function billableOperation(name: string): BillableOperation {
  const operation = byName.get(name)
  if (operation?.billable !== true) throw new Error(`'${name}' is not a billable operation`)
  return operation
}

/** The features that answers of an operation can show: those of a web search. Answers of others say nothing of that page. */
export function featuresOf(operation: string): readonly SerpFeature[] {
  const { response } = billableOperation(operation)
  const fields = [...response.required, ...(response.optional ?? [])]
  return [
    ...(fields.includes('knowledge_graph') ? (['knowledge'] as const) : []),
    ...(fields.includes('related_searches') ? (['related'] as const) : []),
  ]
}

/** ISO 3166-1 codes: the countries with the widest reach first, all others by code. */
export const countryCodes = [
  ...words(`
    IN CN US ID BR NG PK BD RU JP MX PH EG DE TR VN GB IR FR TH IT KR ES ZA AR CO UA PL CA MY SA PE MA UZ
    DZ IQ VE AU KE NL RO KZ CL TW GH EC BE SE CZ PT GR HU AT CH AE IL HK DK FI NO SG IE NZ SK
  `),
  ...words(`
    AD AF AG AI AL AM AO AQ AS AW AX AZ BA BB BF BG BH BI BJ BL BM BN BO BQ BS BT BV BW BY BZ CC CD CF CG CI
    CK CM CR CU CV CW CX CY DJ DM DO EE EH ER ET FJ FK FM FO GA GD GE GF GG GI GL GM GN GP GQ GS GT GU GW GY
    HM HN HR HT IM IO IS JE JM JO KG KH KI KM KN KP KW KY LA LB LC LI LK LR LS LT LU LV LY MC MD ME MF MG MH
    MK ML MM MN MO MP MQ MR MS MT MU MV MW MZ NA NC NE NF NI NP NR NU OM PA PF PG PM PN PR PS PW PY QA RE RS
    RW SB SC SD SH SI SJ SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TJ TK TL TM TN TO TT TV TZ UG UM UY VA
    VC VG VI VU WF WS YE YT ZM ZW
  `),
]

/** ISO 639-1 codes, withdrawn codes that search engines still accept, and longer codes that they know. */
const languages = new Set(
  words(`
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et
    eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl
    km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj
    om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn
    to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    in iw ji jw mo xx
    ach bem ceb chr ckb crs fil gaa haw hmn kok kri loz lua mfe nso nyn pcm tum yue
  `),
)

/** With the code of Kosovo, which is not in the standard. */
const countries = new Set([...countryCodes.map((code) => code.toLowerCase()), 'xk'])

const meantCountries = new Map(Object.entries({ uk: 'gb', en: 'gb', ja: 'jp', el: 'gr', cs: 'cz', ko: 'kr' }))
const meantLanguages = new Map(
  Object.entries({
    jp: 'ja',
    cn: 'zh-CN',
    dk: 'da',
    cz: 'cs',
    us: 'en',
    gb: 'en',
    at: 'de',
    ua: 'uk',
    kp: 'ko',
  }),
)

/** What to do about two letters that are not a country; null for a country. */
function countryProblem(code: string): string | null {
  return problem(code.toLowerCase(), countries, {
    meant: meantCountries,
    unknown: 'write the code of a country; find it with: rankline countries <name>',
  })
}

/** What to do about a code, with or without a region, that is not a language; null for a language. */
function languageProblem(code: string): string | null {
  return problem((code.split('-')[0] ?? '').toLowerCase(), languages, {
    meant: meantLanguages,
    unknown: 'write the code of a language; find it with: rankline languages <name>',
  })
}

function problem(
  code: string,
  known: ReadonlySet<string>,
  { meant, unknown }: { readonly meant: ReadonlyMap<string, string>; readonly unknown: string },
): string | null {
  if (known.has(code)) return null
  return meant.has(code) ? `write ${meant.get(code)}` : unknown
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
