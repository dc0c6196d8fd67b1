import { webAnswer } from '../answers.ts'
import { countryProblem } from '../codes.ts'
import type { BillableOperation } from '../operation.ts'
import { location, num, shortItem } from './shared.ts'

export const betaSearch: BillableOperation = {
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
  normalise: webAnswer('organic'),
}
