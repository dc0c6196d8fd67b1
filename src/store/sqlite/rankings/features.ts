import type { Database } from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { featureBits, type SerpFeature } from '../../../model/features.ts'
import { kindCodes, type ResultKind } from '../../../model/result.ts'
import type { FoundFeatures } from '../../reports.ts'
import { prepared, type Values } from '../connection/statements.ts'
import { answers as a, tasks as t, texts } from '../schema.ts'

/** Whether an answer has a text that says something: the service may send an empty object in place of none. */
function says(text: SQLiteColumn) {
  return sql`(${text} IS NOT NULL AND EXISTS (SELECT 1 FROM ${texts}
    WHERE ${texts.id} = ${text} AND ${texts.text} NOT IN ('', '{}', '[]')))`
}

function has(kind: ResultKind) {
  return sql`(json_type(${a.items}, ${sql.raw(`'$.${kindCodes[kind]}'`)}) IS NOT NULL)`
}

function bitIf(feature: SerpFeature, condition: ReturnType<typeof says>) {
  return sql`(${condition}) * ${sql.raw(String(featureBits([feature])))}`
}

/** All answers to first pages as one text, which takes half the time to read. What retention dropped is not known any more. */
const found = prepared(
  ($: Values<{ run: number }>) =>
    sql<{ rows: string }>`SELECT json_group_array(json_array(${t.queryId},
      ${bitIf('knowledge', says(a.knowledgeGraph))} + ${bitIf('related', has('related'))}
      + ${bitIf('ai', sql`${says(a.aiMarkdown)} OR ${says(a.aiBlocks)} OR ${has('reference')}`)}
      + ${bitIf('news', has('news'))} + ${bitIf('videos', has('video'))})) AS rows
    FROM ${t} CROSS JOIN ${a} WHERE ${t.runId} = ${$.run} AND ${t.page} = 1 AND ${t.state} = 'done'
      AND ${a.id} = ${t.answerId} AND ${a.prunedAt} IS NULL`,
)

export function featuresIn(db: Database, run: number): readonly FoundFeatures[] {
  return JSON.parse(found.one(db, { run }).rows) as FoundFeatures[]
}
