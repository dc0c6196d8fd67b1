import { webAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, location, num, uule, videoItem } from './shared.ts'

export const alphaVideos: BillableOperation = {
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
  normalise: webAnswer('video'),
}
