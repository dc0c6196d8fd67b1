import type { Database } from 'better-sqlite3'
import type { NewAnswer, ReadAnswer } from '../answers.ts'
import type { Dictionary } from './dictionary.ts'
import { updateOne } from './one-row.ts'

/** An answer that just came. */
export type ArrivedAnswer = Pick<NewAnswer, 'task' | 'callId' | 'fetchedAt'>
export type Said = Omit<ReadAnswer, 'answerId'>

const factColumns = [
  ...[
    'normaliser',
    'total_results',
    'time_taken',
    'notice',
    'has_next_page',
    'next_page',
    'search_parameters',
  ],
  ...['knowledge_graph', 'ai_markdown', 'ai_blocks', 'malformed'],
]

/** Writes the facts of an answer: `first` only where none were written before, answering whether it did. */
export function factWriter(db: Database, words: Dictionary) {
  const add = db.prepare(
    `INSERT INTO answers_ (query_id, page, run_id, call_id, fetched_at, ${factColumns.join(', ')})
    VALUES (?, ?, ?, ?, ?${', ?'.repeat(factColumns.length)})`,
  )
  const set = `${updateOne} answers_ SET ${factColumns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`
  const first = db.prepare(`${set} AND normaliser IS NULL`)
  const again = db.prepare(set)
  const values = ({ normaliser, understood: { facts, malformed } }: Said) => [
    normaliser,
    facts.totalResults,
    facts.timeTaken,
    words.textId(facts.notice),
    facts.hasNextPage === null ? null : Number(facts.hasNextPage),
    facts.nextPage,
    words.textId(json(facts.searchParameters)),
    words.textId(json(facts.knowledgeGraph)),
    words.textId(facts.aiMarkdown),
    words.textId(json(facts.aiBlocks)),
    malformed.length === 0 ? null : json(malformed),
  ]
  return {
    add: ({ task: { queryId, page, runId }, callId, fetchedAt }: ArrivedAnswer, said: Said): number =>
      Number(add.run(queryId, page, runId, callId, fetchedAt, ...values(said)).lastInsertRowid),
    first: (read: ReadAnswer): boolean => first.run(...values(read), read.answerId).changes > 0,
    again: (read: ReadAnswer): void => {
      again.run(...values(read), read.answerId)
    },
  }
}

export function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
