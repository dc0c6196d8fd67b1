import { suggestionAnswer } from '../answers.ts'
import type { BillableOperation } from '../operation.ts'
import { gl, hl } from './shared.ts'

export const alphaAutocomplete: BillableOperation = {
  name: 'alpha.autocomplete',
  title: 'query autocomplete',
  billable: true,
  engine: 'alpha',
  echoEngine: 'alpha',
  styles: ['get'],
  path: '/v1/alpha/search/autocomplete',
  params: {
    cp: { type: 'integer', meaning: 'cursor position in the query', default: 0, min: 0 },
    gl,
    hl,
  },
  cost: 1,
  paging: null,
  response: { required: ['suggestions'], items: 'suggestions', itemFields: [] },
  kind: 'suggestion',
  normalise: suggestionAnswer,
}
