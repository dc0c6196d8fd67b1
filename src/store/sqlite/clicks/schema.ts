import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/*
 * Clicks and impressions from files of Search Console, and search volumes from files of other tools. They belong to a site or a
 * country, not to a job. Days are numbers of days since 1970-01-01: they are days of the files, in no time zone of ours.
 */

/** What one command added: it is undone as a whole. */
export const clickAdditions = sqliteTable('click_additions', {
  id: integer().primaryKey(),
  addedAt: integer('added_at').notNull(),
  /** The file, folder or archive that was named. */
  source: text().notNull(),
  /** Of everything that was read: the same content is added once. */
  digest: text().notNull().unique(),
  /** Rows that were read, and those that were left out because they are of another kind of search. */
  rows: integer().notNull(),
  otherSearches: integer('other_searches').notNull(),
})

/** Rows of one kind of an addition. */
export const clickTables = sqliteTable(
  'click_tables',
  {
    id: integer().primaryKey(),
    additionId: integer('addition_id').notNull(),
    /** The property as Search Console names it, and its registrable domain. */
    property: text().notNull(),
    site: text().notNull(),
    /** Whether an impression is counted once for the property or once for each of its pages. */
    countedBy: text('counted_by').$type<'property' | 'page'>().notNull(),
    /** What a row is about. */
    rowsOf: text('rows_of').$type<'query' | 'page' | 'total'>().notNull(),
    /** Whether its rows are of single days or of the whole time. */
    timeSpan: text('time_span').$type<'day' | 'period'>().notNull(),
    hasCountries: integer('has_countries', { mode: 'boolean' }).notNull(),
  },
  (table) => [index('click_tables_addition').on(table.additionId)],
)

/** The days, or the period, that a table has, with their sums. */
export const clickDays = sqliteTable(
  'click_days',
  {
    tableId: integer('table_id').notNull(),
    day: integer().notNull(),
    untilDay: integer('until_day').notNull(),
    clicks: integer().notNull(),
    impressions: integer().notNull(),
    /** Of queries that Search Console does not name; they are part of the sums. */
    anonymousClicks: integer('anonymous_clicks').notNull(),
    anonymousImpressions: integer('anonymous_impressions').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tableId, table.day] })],
)

/** Queries and pages, each once. */
export const clickTexts = sqliteTable(
  'click_texts',
  {
    id: integer().primaryKey(),
    /** 64 bits. */
    hash: integer().notNull(),
    text: text().notNull(),
  },
  (table) => [index('click_texts_hash').on(table.hash)],
)

export const clickRows = sqliteTable(
  'click_rows',
  {
    tableId: integer('table_id').notNull(),
    /** 0 where the row has none. */
    queryId: integer('query_id').notNull(),
    pageId: integer('page_id').notNull(),
    /** Two letters, lower case; empty where the file has no countries. */
    country: text().notNull(),
    day: integer().notNull(),
    clicks: integer().notNull(),
    impressions: integer().notNull(),
    /** Sum over the impressions of the position, counted from 0. */
    positionSum: real('position_sum').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tableId, table.queryId, table.pageId, table.country, table.day] }),
  ],
)

/** Search volumes by query and country: what each command added, which is undone as a whole. */
export const volumes = sqliteTable(
  'volumes_',
  {
    query: text().notNull(),
    /** Two letters, lower case; empty for all countries. */
    country: text().notNull(),
    additionId: integer('addition_id').notNull(),
    /** Who made the file, as far as it says. */
    source: text().notNull(),
    /** Searches a month; null where the file names a range. */
    volume: real(),
    /** The range that the file names, both included. */
    least: real(),
    most: real(),
    /** The day that the file is of. */
    day: integer().notNull(),
    file: text().notNull(),
    addedAt: integer('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.query, table.country, table.additionId] })],
)
