import { blob, index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ObservationState } from '../../../model/result.ts'

/*
 * What came from files of other tools. All of it belongs to one import and goes with it: nothing here is shared with what was
 * measured, or with another import. Days are local days of the tool that wrote them, as days since 1970-01-01.
 */

/** What an import came to. */
export interface ImportSummary {
  readonly queries: number
  /** Queries with each target that they were followed for. */
  readonly series: number
  readonly days: number
  readonly firstDay: string | null
  readonly lastDay: string | null
  readonly ranked: number
  readonly absent: number
  readonly unknown: number
  /** Whole pages of results. */
  readonly answers: number
  /** Why observations are unknown, with how many. */
  readonly reasons: Readonly<Record<string, number>>
  /** What was left out, and why, with how often. */
  readonly dropped: Readonly<Record<string, number>>
  /** Observations and answers that an earlier import has. */
  readonly known: number
  /** Series whose tool may have repeated ranks. */
  readonly repeats: number
}

export const imports = sqliteTable('imports_', {
  id: integer().primaryKey(),
  /** The job that it is history of; null where any job may draw it. */
  job: text(),
  importedAt: integer('imported_at').notNull(),
  /** Why observations are unknown, a JSON list: observations name a place in it. */
  reasons: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** What it came to, JSON. */
  summary: text({ mode: 'json' }).$type<ImportSummary>().notNull(),
})

export const importedFiles = sqliteTable('imported_files', {
  id: integer().primaryKey(),
  importId: integer('import_id').notNull(),
  /** The format in which it was read, for instance `serpbear`. */
  format: text().notNull(),
  path: text().notNull(),
})

/** What a tool followed: a text in a market, on a device, in an engine. */
export const importedQueries = sqliteTable(
  'imported_queries',
  {
    id: integer().primaryKey(),
    importId: integer('import_id').notNull(),
    /** Digest of the tool and all that tells its queries apart: the same in every import. */
    key: blob({ mode: 'buffer' }).notNull(),
    text: text().notNull(),
    gl: text(),
    hl: text(),
    location: text(),
    device: text(),
    engine: text(),
    volume: real(),
    tags: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    /** The page that is meant to rank. */
    url: text(),
  },
  (table) => [index('imported_queries_key').on(table.key), index('imported_queries_text').on(table.text)],
)

/** What is counted to a rank: organic results alone, or every element of the page. */
export type RankRuler = 'organic' | 'all'

/** One target of one query, counted in one way: days of it can be compared with each other. */
export const importedSeries = sqliteTable(
  'imported_series',
  {
    id: integer().primaryKey(),
    queryId: integer('query_id').notNull(),
    target: text().notNull(),
    rankKind: text('rank_kind').$type<RankRuler>().notNull(),
    /** 1 where its tool repeats the rank of the day before when a check fails, and the file does not tell. */
    repeats: integer().notNull(),
  },
  (table) => [index('imported_series_query').on(table.queryId)],
)

export const importedLinks = sqliteTable('imported_links', {
  id: integer().primaryKey(),
  importId: integer('import_id').notNull(),
  link: text().notNull(),
})

/** The states of an imported observation, as they are stored: the first two take no room. */
export const importedStates: readonly ObservationState[] = ['ranked', 'absent', 'unknown']

export const importedObservations = sqliteTable(
  'imported_observations',
  {
    seriesId: integer('series_id').notNull(),
    day: integer().notNull(),
    /** Place in `importedStates`. */
    state: integer().notNull(),
    rank: integer(),
    /** How many results were looked at, where the file says so. */
    depth: integer(),
    linkId: integer('link_id'),
    /** Place in the reasons of the import. */
    reason: integer(),
    fileId: integer('file_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.seriesId, table.day] })],
)

/** Whole pages of results. */
export const importedAnswers = sqliteTable(
  'imported_answers_',
  {
    queryId: integer('query_id').notNull(),
    day: integer().notNull(),
    fileId: integer('file_id').notNull(),
    /** Numbers of links in the order of their ranks, as a JSON list. */
    links: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.queryId, table.day] })],
)
