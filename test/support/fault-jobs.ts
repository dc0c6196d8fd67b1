import fc from 'fast-check'

/** A job file, as it is written. */
export interface JobFile {
  readonly name: string
  readonly async: 'never' | 'always'
  readonly paging: 'all' | 'until-found' | 'smart'
  readonly style: 'get' | 'post'
  readonly targets: readonly string[]
  readonly competitors: readonly string[]
  readonly budget: { readonly max_credits?: number }
  readonly queries: readonly FileQuery[]
}

export interface FileQuery {
  readonly query: string
  readonly operation: string
  readonly pages: number
  readonly priority: number
  readonly tags: readonly string[]
}

export const ownSite = 'own.example'

const operations = [
  'alpha.search',
  'alpha.images',
  'alpha.ai',
  'alpha.autocomplete',
  'alpha.news',
  'beta.search',
  'gamma.search',
  'gamma.images',
] as const

/** The fifth is one that nothing is ever found for. */
const texts = ['desk', 'oak desk', 'pine desk', 'desk lamp', 'zxqv', 'desk mat'] as const

const unpaged: readonly string[] = ['alpha.ai', 'alpha.autocomplete']

const query = fc
  .record({
    query: fc.constantFrom(...texts),
    operation: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('alpha.search', 'alpha.images') },
      { weight: 2, arbitrary: fc.constantFrom(...operations) },
    ),
    pages: fc.integer({ min: 1, max: 3 }),
    priority: fc.integer({ min: 0, max: 2 }),
    tags: fc.subarray(['head', 'tail']),
  })
  .map((one) => (unpaged.includes(one.operation) ? { ...one, pages: 1 } : one))

export const job = fc.record({
  async: fc.constantFrom('never', 'always'),
  paging: fc.constantFrom('all', 'all', 'until-found', 'smart'),
  style: fc.constantFrom('get', 'post'),
  targets: fc.constantFrom([], [ownSite]),
  competitors: fc.constantFrom([], ['rival.example']),
  budget: fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ max_credits: fc.integer({ min: 1, max: 12 }) }) },
  ),
  queries: fc.uniqueArray(query, {
    minLength: 1,
    maxLength: 9,
    selector: (one) => `${one.operation} ${one.query}`,
  }),
})

/** Without a target there is nothing to be found. */
export function plausible<T extends Pick<JobFile, 'paging' | 'targets'>>(job: T): T {
  return job.targets.length > 0 || job.paging === 'all' ? job : { ...job, paging: 'all' }
}
