import type { BillableOperation, Operation } from './operation.ts'
import { alphaAi } from './operations/alpha-ai.ts'
import { alphaAutocomplete } from './operations/alpha-autocomplete.ts'
import { alphaImages } from './operations/alpha-images.ts'
import { alphaLight } from './operations/alpha-light.ts'
import { alphaNews } from './operations/alpha-news.ts'
import { alphaSearch } from './operations/alpha-search.ts'
import { alphaVideos } from './operations/alpha-videos.ts'
import { betaSearch } from './operations/beta-search.ts'
import { gammaImages } from './operations/gamma-images.ts'
import { gammaSearch } from './operations/gamma-search.ts'
import { finderCountries, finderLanguages, jobsPoll, stats, usage } from './operations/lookups.ts'

/** Every operation of the service. A new one is a file, and its name here. */
export const operations: readonly Operation[] = [
  alphaSearch,
  alphaLight,
  alphaAutocomplete,
  alphaAi,
  alphaNews,
  alphaVideos,
  alphaImages,
  betaSearch,
  gammaSearch,
  gammaImages,
  finderCountries,
  finderLanguages,
  usage,
  stats,
  jobsPoll,
]

/** The operations that cost credits. Jobs can ask for these. */
export const billableOperations: readonly BillableOperation[] = operations.filter(
  (operation) => operation.billable,
)

export const highestPrice = Math.max(...billableOperations.map(({ cost }) => cost))

const byName = new Map(operations.map((operation) => [operation.name, operation]))

export function findOperation(name: string): Operation | undefined {
  return byName.get(name)
}

/** The billable operation of a name that was checked before; throws for others. */
export function billableOperation(name: string): BillableOperation {
  const operation = byName.get(name)
  if (operation?.billable !== true) throw new Error(`'${name}' is not a billable operation`)
  return operation
}
