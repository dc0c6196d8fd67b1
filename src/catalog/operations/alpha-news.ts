import { webAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, location, newsItem, num, uule } from './shared.ts'

export const alphaNews: BillableOperation = {
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
  normalise: webAnswer('news'),
}
