import { webAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { shortItem } from './shared.ts'

export const gammaSearch: BillableOperation = {
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
  normalise: webAnswer('organic'),
}
