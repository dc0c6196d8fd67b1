import type { FreeOperation } from '../operation.ts'

export const finderLanguages: FreeOperation = {
  name: 'finder.languages',
  title: 'languages whose name contains a text',
  billable: false,
  path: '/v1/finder/alpha-languages',
  params: { query: { type: 'string', required: true, meaning: 'part of a language name' } },
  cost: 0,
  response: { required: [], items: null, itemFields: ['language_code', 'language_name'] },
}
