import { webAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, location, num, organicItem, uule } from './shared.ts'

export const alphaSearch: BillableOperation = {
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
  normalise: webAnswer('organic'),
}
