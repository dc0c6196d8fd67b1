import { imageAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gammaImageItem, gl, hl } from './shared.ts'

export const gammaImages: BillableOperation = {
  name: 'gamma.images',
  title: 'image search on the third engine, 50 a page',
  billable: true,
  engine: 'gamma',
  echoEngine: 'gamma_images',
  styles: ['get'],
  path: '/v1/gamma/images',
  params: {
    gl,
    hl,
    safe: {
      type: 'string',
      meaning: 'filter of explicit images; active means strict',
      values: ['active', 'off', 'moderate', 'strict'],
    },
  },
  cost: 1,
  paging: { pageSize: 50, echoFromZero: true },
  response: {
    required: ['images', 'search_parameters'],
    items: 'images',
    itemFields: gammaImageItem,
  },
  kind: 'image',
  normalise: imageAnswer,
}
