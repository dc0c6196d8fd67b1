import type { Database } from 'better-sqlite3'
import { eq, max, min, sum } from 'drizzle-orm'
import { textInLowerCase } from '../../../model/text.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, raw } from '../connection/statements.ts'
import { clickDraft, textHash } from './draft.ts'
import { clickAdditions, clickDays, clickRows, clickTables, clickTexts } from './schema.ts'

/** A day, or a period, that a table of an addition has. */
export type ClickSpan = Omit<typeof clickTables.$inferSelect, 'id' | 'additionId' | 'site'> &
  Omit<typeof clickDays.$inferSelect, 'tableId'> & { readonly table: number }

/** Clicks of a query, or of a query and page, in one country on one day, or in the period that begins with it. */
type StoredClicks = Omit<typeof clickRows.$inferSelect, 'tableId' | 'queryId' | 'pageId'> & {
  readonly table: number
}

export function clickStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  return {
    /** What was added, the oldest first, each with its tables. */
    clickAdditions: async () => {
      const tables = orm
        .select({
          id: clickTables.id,
          addition: clickTables.additionId,
          property: clickTables.property,
          countedBy: clickTables.countedBy,
          rowsOf: clickTables.rowsOf,
          timeSpan: clickTables.timeSpan,
          from: min(clickDays.day),
          until: max(clickDays.untilDay),
          clicks: sum(clickDays.clicks).mapWith(Number),
          impressions: sum(clickDays.impressions).mapWith(Number),
          anonymousClicks: sum(clickDays.anonymousClicks).mapWith(Number),
          anonymousImpressions: sum(clickDays.anonymousImpressions).mapWith(Number),
        })
        .from(clickTables)
        .innerJoin(clickDays, eq(clickDays.tableId, clickTables.id))
        .groupBy(clickTables.id)
        .orderBy(clickTables.id)
        .all()
      return orm
        .select()
        .from(clickAdditions)
        .orderBy(clickAdditions.id)
        .all()
        .map((one) => ({ ...one, tables: tables.filter(({ addition }) => addition === one.id) }))
    },
    /** The addition of some content; null where it was not added. */
    clickAdditionOf: async (digest: string): Promise<number | null> =>
      orm
        .select({ id: clickAdditions.id })
        .from(clickAdditions)
        .where(eq(clickAdditions.digest, digest))
        .get()?.id ?? null,
    /** Begins an addition. */
    draftClicks: async () => clickDraft(db, writer),
    /** Takes an addition away, with everything that only it has. */
    undoClicks: (id: number): Promise<void> =>
      writer.write(() => {
        const tables = orm
          .select({ id: clickTables.id })
          .from(clickTables)
          .where(eq(clickTables.additionId, id))
          .all()
        for (const { id: table } of tables) {
          orm.delete(clickRows).where(eq(clickRows.tableId, table)).run()
          orm.delete(clickDays).where(eq(clickDays.tableId, table)).run()
        }
        orm.delete(clickTables).where(eq(clickTables.additionId, id)).run()
        orm.delete(clickAdditions).where(eq(clickAdditions.id, id)).run()
        db.exec(raw`DELETE FROM ${clickTexts} WHERE ${clickTexts.id} NOT IN
          (SELECT ${clickRows.queryId} FROM ${clickRows} UNION SELECT ${clickRows.pageId} FROM ${clickRows})`)
      }),
    /** Whether any clicks were added. */
    hasClicks: (): boolean =>
      orm.select({ id: clickTables.id }).from(clickTables).limit(1).get() !== undefined,
    /** Every day and period that is stored of these sites. */
    clickSpans: (sites: readonly string[]): readonly ClickSpan[] =>
      db
        .prepare<[string], Omit<ClickSpan, 'hasCountries'> & { readonly hasCountries: number }>(
          raw`SELECT t.${clickTables.id} AS "table", t.${clickTables.property} AS property, t.${clickTables.countedBy} AS countedBy,
            t.${clickTables.rowsOf} AS rowsOf, t.${clickTables.timeSpan} AS timeSpan, t.${clickTables.hasCountries} AS hasCountries,
            d.${clickDays.day} AS day, d.${clickDays.untilDay} AS untilDay, d.${clickDays.clicks} AS clicks,
            d.${clickDays.impressions} AS impressions, d.${clickDays.anonymousClicks} AS anonymousClicks,
            d.${clickDays.anonymousImpressions} AS anonymousImpressions
          FROM ${clickTables} t JOIN ${clickDays} d ON d.${clickDays.tableId} = t.${clickTables.id}
          WHERE t.${clickTables.site} IN (SELECT value FROM json_each(?)) ORDER BY 1, 7`,
        )
        .all(JSON.stringify(sites))
        .map((one) => ({ ...one, hasCountries: one.hasCountries === 1 })),
    /** Sums of every query of a table on some days, in one country or, where that is empty, in all. */
    sumsOfQueries: (table: number, days: readonly number[], country: string) =>
      db
        .prepare<
          unknown[],
          { query: string; page: string | null; clicks: number; impressions: number; positionSum: number }
        >(
          raw`SELECT q.${clickTexts.text} AS query, p.${clickTexts.text} AS page, sum(r.${clickRows.clicks}) AS clicks,
            sum(r.${clickRows.impressions}) AS impressions, sum(r.${clickRows.positionSum}) AS positionSum
          FROM ${clickRows} r JOIN ${clickTexts} q ON q.${clickTexts.id} = r.${clickRows.queryId}
            LEFT JOIN ${clickTexts} p ON p.${clickTexts.id} = r.${clickRows.pageId}
          WHERE r.${clickRows.tableId} = ? AND r.${clickRows.day} IN (SELECT value FROM json_each(?))
            AND (? = '' OR r.${clickRows.country} IN ('', ?))
          GROUP BY r.${clickRows.queryId}, r.${clickRows.pageId}`,
        )
        .all(table, JSON.stringify(days), country, country),
    /** The rows of queries in these tables, in all countries: those that begin between two days, or all. */
    clicksOf: clicksReader(db),
  }
}

function clicksReader(db: Database) {
  return (
    queries: readonly string[],
    tables: readonly number[],
    { from, until }: { readonly from: number; readonly until: number } = {
      from: 0,
      until: Number.MAX_SAFE_INTEGER,
    },
  ): readonly (readonly StoredClicks[])[] => {
    const number = db
      .prepare<[bigint, string], number>(
        raw`SELECT ${clickTexts.id} FROM ${clickTexts} WHERE ${clickTexts.hash} = ? AND ${clickTexts.text} = ?`,
      )
      .pluck()
    const rows = db.prepare<[number, number, number, number], StoredClicks>(
      raw`SELECT ${clickRows.tableId} AS "table", ${clickRows.country} AS country, ${clickRows.day} AS day, sum(${clickRows.clicks}) AS clicks,
        sum(${clickRows.impressions}) AS impressions, sum(${clickRows.positionSum}) AS positionSum
      FROM ${clickRows} WHERE ${clickRows.tableId} = ? AND ${clickRows.queryId} = ? AND ${clickRows.day} BETWEEN ? AND ? GROUP BY 2, 3`,
    )
    return queries.map((query) => {
      const text = textInLowerCase(query)
      const id = number.get(textHash(text, 'query'), text)
      return id === undefined ? [] : tables.flatMap((table) => rows.all(table, id, from, until))
    })
  }
}
