import type { SerpFeature } from '../model/features.ts'
import { billableOperation } from './index.ts'

/** The features that answers of an operation can show: those of a web search. Answers of others say nothing of that page. */
export function featuresOf(operation: string): readonly SerpFeature[] {
  const { response } = billableOperation(operation)
  const fields = [...response.required, ...(response.optional ?? [])]
  return [
    ...(fields.includes('knowledge_graph') ? (['knowledge'] as const) : []),
    ...(fields.includes('related_searches') ? (['related'] as const) : []),
  ]
}
