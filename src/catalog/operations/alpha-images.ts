import { imageAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, imageItem } from './shared.ts'

export const alphaImages: BillableOperation = {
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
  normalise: imageAnswer,
}
