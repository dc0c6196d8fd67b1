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
