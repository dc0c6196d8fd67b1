import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ReadChange, SyncStep } from '../../sync.ts'

/** This database as a reader of a shared journal, and how far it has read: one row. */
export const journalReader = sqliteTable('journal_reader', {
  id: text().primaryKey(),
  /** Which journal it follows. */
  journal: text(),
  position: text(),
})

/** Runs that stand in the shared journal, with their number here. */
export const sharedRuns = sqliteTable('shared_runs', {
  runId: integer('run_id').primaryKey(),
  id: text().notNull().unique(),
  groupId: text('group_id').notNull(),
  /** The version of its plan that stands here. */
  planVersion: integer('plan_version').notNull(),
})

/** Jobs of the shared journal, which are a name and a key there, with the name that each has here. */
export const sharedJobs = sqliteTable(
  'shared_jobs',
  {
    keyHash: text('key_hash').notNull(),
    job: text().notNull(),
    name: text().notNull(),
    /** Whether this database collects it, or did: it keeps its name. */
    own: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyHash, table.job] }), index('shared_jobs_name').on(table.name)],
)

/** Calls of the shared journal, with their number and that of their answer here. */
export const sharedCalls = sqliteTable(
  'shared_calls',
  {
    id: blob({ mode: 'buffer' }).primaryKey(),
    callId: integer('call_id').notNull(),
    answerId: integer('answer_id'),
  },
  (table) => [index('shared_calls_number').on(table.callId)],
)

/** What was read and is not applied yet, in its order. */
export const syncSteps = sqliteTable('sync_steps', {
  id: integer().primaryKey({ autoIncrement: true }),
  step: text({ mode: 'json' }).$type<SyncStep>().notNull(),
})

/** What was read lately, in its order: a queue whose server fails over may have lost it. */
export const readChanges = sqliteTable(
  'read_changes',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    readAt: integer('read_at').notNull(),
    change: text({ mode: 'json' }).$type<ReadChange>().notNull(),
  },
  (table) => [index('read_changes_at').on(table.readAt)],
)

/** When the server of the queue failed over, as far as that was noticed. */
export const queueFailovers = sqliteTable('queue_failovers', { at: integer().primaryKey() })
