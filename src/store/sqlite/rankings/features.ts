import type { Database } from 'better-sqlite3'
import { type SQL, sql } from 'drizzle-orm'
import { featureBits, kindCodes, type SerpFeature } from '../../../model/result.ts'
import type { FoundFeatures } from '../../reports.ts'
import { drizzle } from '../connection/statements.ts'
import { answers as a, tasks as t, texts } from '../schema.ts'

/** The service may send an empty object in place of no panel. */
const hasPanel = sql`(${a.knowledgeGraph} IS NOT NULL AND EXISTS (SELECT 1 FROM ${texts}
  WHERE ${texts.id} = ${a.knowledgeGraph} AND ${texts.text} NOT IN ('', '{}', '[]')))`

/** The keys of the lists are their only texts: to look for one is quicker than to read the JSON. */
const hasRelated = sql`(coalesce(instr(${a.items}, ${sql.raw(`'"${kindCodes.related}":'`)}), 0) > 0)`

function bitIf(feature: SerpFeature, condition: SQL) {
  return sql`(${condition}) * ${sql.raw(String(featureBits([feature])))}`
}

/** Of all answers to first pages, a text for each column, which is read quicker than rows. What retention dropped is not known any more. */
export function featuresIn(db: Database, run: number): readonly FoundFeatures[] {
  const { queries, features } = drizzle(db).get<{ queries: string; features: string }>(sql`
    SELECT json_group_array(${t.queryId}) AS queries,
      json_group_array(${bitIf('knowledge', hasPanel)} + ${bitIf('related', hasRelated)}) AS features
    FROM ${t} CROSS JOIN ${a} WHERE ${t.runId} = ${run} AND ${t.page} = 1 AND ${t.state} = 'done'
      AND ${a.id} = ${t.answerId} AND ${a.prunedAt} IS NULL`)
  const bits = JSON.parse(features) as readonly number[]
  return (JSON.parse(queries) as readonly number[]).map((query, row) => [query, bits[row] as number])
}
