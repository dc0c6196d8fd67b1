import type { FreeOperation } from '../operation.ts'

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
