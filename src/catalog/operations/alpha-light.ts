import { webAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, lightItem } from './shared.ts'

export const alphaLight: BillableOperation = {
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
  normalise: webAnswer('organic'),
}
