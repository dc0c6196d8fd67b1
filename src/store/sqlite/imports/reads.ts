import type { Database } from 'better-sqlite3'
import { desc, eq } from 'drizzle-orm'
import type { Cell } from '../../../model/result.ts'
import { textInLowerCase } from '../../../model/text.ts'
import { dayMs } from '../../../model/time.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import {
  importedAnswers as answers,
  importedFiles as files,
  importedStates,
  imports,
  importedLinks as links,
  importedObservations as observations,
  importedQueries as queries,
  type RankRuler,
  importedSeries as series,
} from './schema.ts'

/** A target of a query as a tool followed it, over the days on which it said something. */
export interface ImportedSeries {
  readonly id: number
  readonly query: string
  readonly gl: string | null
  readonly hl: string | null
  readonly location: string | null
  readonly device: string | null
  readonly engine: string | null
  readonly target: string
  readonly ruler: RankRuler
  /** Days since 1970-01-01 of its first and its last observation that is not unknown. */
  readonly first: number
  readonly last: number
  /** The format of the file of the last one. */
  readonly source: string
}

/** The last observation of a span of days, and which span, from 0 on. The rank is null where it was looked for and not found. */
type ImportedPoint = Pick<typeof observations.$inferSelect, 'day' | 'rank' | 'depth'> & {
  readonly point: number
}

const unknown = importedStates.indexOf('unknown')

/** What another tool asked and has whole result pages of; every import of that tool has a number for it. */
export type ImportedSearch = Omit<typeof queries.$inferSelect, 'id' | 'importId' | 'key' | 'url'> & {
  readonly ids: readonly number[]
}

/** A result page that was imported. */
export interface ImportedPage {
  readonly query: number
  /** Days since 1970-01-01. */
  readonly day: number
  /** The format of its file. */
  readonly source: string
}

const searches = raw`SELECT json_group_array(q.${queries.id}) AS ids, q.${queries.text} AS text, q.${queries.gl}, q.${queries.hl}, q.${queries.location},
    q.${queries.device}, q.${queries.engine}, max(q.${queries.volume}) AS volume, q.${queries.tags}
  FROM ${queries} q JOIN ${imports} i ON i.${imports.id} = q.${queries.importId}
  WHERE (@job IS NULL OR coalesce(i.${imports.job}, @job) = @job)
    AND EXISTS (SELECT 1 FROM ${answers} a WHERE a.${answers.queryId} = q.${queries.id})
  GROUP BY q.${queries.key} ORDER BY q.${queries.text}, min(q.${queries.id})`

const pagesOfSearch = raw`SELECT a.${answers.queryId} AS query, a.${answers.day}, f.${files.format} AS source
  FROM json_each(?) n JOIN ${answers} a ON a.${answers.queryId} = n.value JOIN ${files} f ON f.${files.id} = a.${answers.fileId}`

/** Reads of imports. */
export function importReads(db: Database) {
  type SearchRow = Omit<ImportedSearch, 'ids' | 'tags'> & Record<'ids' | 'tags', string>
  const all = once(() => db.prepare<[{ job: string | null }], SearchRow>(searches))
  const pages = once(() =>
    db.prepare<[string], ImportedPage>(raw`${pagesOfSearch} ORDER BY a.${answers.day}`),
  )
  const newest = once(() =>
    db.prepare<[string], ImportedPage>(raw`${pagesOfSearch} ORDER BY a.${answers.day} DESC LIMIT 1`),
  )
  const linksOf = once(() =>
    db
      .prepare<[number, number], string>(
        raw`SELECT l.${links.link} FROM ${answers} a, json_each(a.${answers.links}) n JOIN ${links} l ON l.${links.id} = n.value
          WHERE a.${answers.queryId} = ? AND a.${answers.day} = ? ORDER BY n.key`,
      )
      .pluck(),
  )
  const points = once(() =>
    db.prepare<[Readonly<Record<'id' | 'from' | 'until' | 'start' | 'step', number>>], ImportedPoint>(
      // SQLite takes the other columns from the row that has the largest day.
      raw`SELECT CAST((${observations.day} - @start) / @step AS INTEGER) AS point, max(${observations.day}) AS day, ${observations.rank}, ${observations.depth}
        FROM ${observations} WHERE ${observations.seriesId} = @id AND ${observations.state} <> ${unknown}
          AND ${observations.day} BETWEEN @from AND @until GROUP BY 1`,
    ),
  )
  return {
    /** Whether an import is of this job. */
    isImportedJob: (job: string): boolean =>
      db.prepare(raw`SELECT 1 FROM ${imports} WHERE ${imports.job} = ?`).get(job) !== undefined,

    /** What has whole result pages that a job, or any, may use, in alphabetical order. */
    importedSearches: (job: string | null) =>
      all()
        .all({ job })
        .map((row): ImportedSearch => ({ ...row, ids: JSON.parse(row.ids), tags: JSON.parse(row.tags) })),
    /** Its result pages, the oldest first. */
    importedPages: ({ ids }: Pick<ImportedSearch, 'ids'>) => pages().all(JSON.stringify(ids)),
    newestImportedPage: ({ ids }: Pick<ImportedSearch, 'ids'>) => newest().get(JSON.stringify(ids)) ?? null,
    /** The links of a result page in the order of their ranks. */
    importedLinks: ({ query, day }: Pick<ImportedPage, 'query' | 'day'>): readonly string[] =>
      linksOf().all(query, day),

    /** These columns of a view of what was imported, import by import, each query and target in the order of its days. */
    *importedRows(
      view: 'imported_rankings' | 'imported_answers',
      columns: readonly string[],
      {
        job,
        query,
        from,
        until,
      }: {
        readonly job?: string
        readonly query?: string
        /** Days: from (inclusive), until (exclusive). */
        readonly from?: string
        readonly until?: string
      },
    ): Iterable<readonly Cell[]> {
      const [table, key, order] =
        view === 'imported_rankings'
          ? ([series, 'series_id', 'date'] as const)
          : ([queries, 'query_id', 'date, rank'] as const)
      const ofQuery = view === 'imported_rankings' ? series.queryId : queries.id
      const parts = db
        .prepare<[{ job: string | null; query: string | null }], number>(
          raw`SELECT p.id FROM ${table} p JOIN ${queries} q ON q.${queries.id} = p.${ofQuery} JOIN ${imports} i ON i.${imports.id} = q.${queries.importId}
            WHERE (@job IS NULL OR i.${imports.job} = @job) AND (@query IS NULL OR q.${queries.text} = @query) ORDER BY p.id`,
        )
        .pluck()
        .iterate({ job: job ?? null, query: query ?? null })
      const rows = db
        .prepare<[{ part: number; from: string | null; until: string | null }], readonly Cell[]>(
          `SELECT ${columns.join(', ')} FROM ${view} WHERE ${key} = @part AND (@from IS NULL OR date >= @from)
            AND (@until IS NULL OR date < @until) ORDER BY ${order}`,
        )
        .raw()
      for (const part of parts)
        yield* rows.iterate({ part, from: from ?? null, until: until ?? null }) as Iterable<readonly Cell[]>
    },

    /** The newest first. */
    imports: async () => {
      const all = drizzle(db).select().from(imports).orderBy(desc(imports.id)).all()
      return all.map((one) => ({
        ...one,
        files: drizzle(db).select().from(files).where(eq(files.importId, one.id)).orderBy(files.id).all(),
      }))
    },

    /** The series of queries of these texts, whatever their case, that a job may draw, as far as they are known before a day. */
    importedSeries: (
      job: string,
      { before, texts }: { readonly before: string; readonly texts: readonly string[] },
    ) => {
      const all = db
        .prepare<[string, string], { readonly id: number; readonly text: string }>(
          raw`SELECT q.${queries.id}, q.${queries.text} FROM ${queries} q
            JOIN ${imports} i ON i.${imports.id} = q.${queries.importId} AND coalesce(i.${imports.job}, ?) = ?`,
        )
        .all(job, job)
      if (all.length === 0) return []
      const wanted = new Set(texts.map(textInLowerCase))
      const ids = all.flatMap(({ id, text }) => (wanted.has(textInLowerCase(text)) ? [id] : []))
      const known = raw`FROM ${observations} o WHERE o.${observations.seriesId} = s.${series.id} AND o.${observations.state} <> ${unknown}
        AND o.${observations.day} < ${Date.parse(before) / dayMs}`
      return db
        .prepare<[string], ImportedSeries>(
          raw`SELECT s.${series.id}, q.${queries.text} AS query, q.${queries.gl}, q.${queries.hl}, q.${queries.location}, q.${queries.device}, q.${queries.engine},
              s.${series.target}, s.${series.rankKind} AS ruler, a.${observations.day} AS first, z.${observations.day} AS last, f.${files.format} AS source
            FROM json_each(?) t
              CROSS JOIN ${queries} q ON q.${queries.id} = t.value
              JOIN ${series} s ON s.${series.queryId} = q.${queries.id}
              JOIN ${observations} a ON a.${observations.seriesId} = s.${series.id} AND a.${observations.day} = (SELECT min(o.${observations.day}) ${known})
              JOIN ${observations} z ON z.${observations.seriesId} = s.${series.id} AND z.${observations.day} = (SELECT max(o.${observations.day}) ${known})
              JOIN ${files} f ON f.${files.id} = z.${observations.fileId}
            ORDER BY s.${series.id}`,
        )
        .all(JSON.stringify(ids))
    },

    /** The observations of a series between two days that are not unknown: of each span of so many days, counted from a day, the last one. */
    importedPoints: (
      id: number,
      {
        from,
        until,
        start,
        step,
      }: { readonly from: number; readonly until: number; readonly start: number; readonly step: number },
    ): Iterable<ImportedPoint> => points().iterate({ id, from, until, start, step }),
  }
}
