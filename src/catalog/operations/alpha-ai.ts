import { aiAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl, location, referenceItem, uule } from './shared.ts'

export const alphaAi: BillableOperation = {
  name: 'alpha.ai',
  title: 'AI answer with its references',
  billable: true,
  experimental: true,
  engine: 'alpha',
  echoEngine: 'alpha_ai_mode',
  styles: ['get'],
  path: '/v1/alpha/search/ai',
  params: { location, uule, gl, hl },
  exclusive: [['location', 'uule']],
  cost: 3,
  paging: null,
  response: {
    required: ['references', 'text_blocks', 'reconstructed_markdown', 'search_parameters'],
    items: 'references',
    itemFields: referenceItem,
  },
  kind: 'reference',
  normalise: aiAnswer,
}
