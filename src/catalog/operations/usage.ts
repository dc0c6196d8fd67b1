import type { FreeOperation } from '../operation.ts'

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
