import type { FreeOperation } from '../operation.ts'

export const finderCountries: FreeOperation = {
  name: 'finder.countries',
  title: 'countries whose name contains a text',
  billable: false,
  path: '/v1/finder/alpha-countries',
  params: { query: { type: 'string', required: true, meaning: 'part of a country name' } },
  cost: 0,
  response: { required: [], items: null, itemFields: ['country_code', 'country_name'] },
}
