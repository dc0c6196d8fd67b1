import type { SerpFeature } from '../model/features.ts'
import { billableOperation } from './index.ts'

/** The features that answers of an operation can show. Of the others its answers say nothing. */
export function featuresOf(operation: string): readonly SerpFeature[] {
  const { response, kind } = billableOperation(operation)
  const fields = [...response.required, ...(response.optional ?? [])]
  return [
    ...(fields.includes('knowledge_graph') ? (['knowledge'] as const) : []),
    ...(kind === 'reference' ? (['ai'] as const) : []),
    ...(fields.includes('related_searches') ? (['related'] as const) : []),
    ...(kind === 'news' ? (['news'] as const) : []),
    ...(kind === 'video' ? (['videos'] as const) : []),
  ]
}
