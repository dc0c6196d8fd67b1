import type { Database } from 'better-sqlite3'
import { countryOfParams } from '../../../model/query.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import { queryKey } from './draft.ts'
import { volumes } from './schema.ts'

/** A volume that was added from a file, for queries whose job names none. */
export interface AddedVolume {
  readonly volume: number
  readonly source: string
  /** The day that the file is of, as a number of days since 1970-01-01. */
  readonly day: number
}

/** The newest volume of the country, else one of all countries. Ranges are none. */
const newest = raw`SELECT ${volumes.volume} AS volume, ${volumes.source} AS source, ${volumes.day} AS day FROM ${volumes}
  WHERE ${volumes.query} = ? AND ${volumes.country} IN (?, '') AND ${volumes.volume} IS NOT NULL
  ORDER BY ${volumes.country} = '', ${volumes.day} DESC, ${volumes.source} LIMIT 1`

/** Finds the volumes of queries that were added from files. */
export function volumeFinder(db: Database) {
  const found = once(() => db.prepare<[string, string], AddedVolume>(newest))
  const isEmpty = once(
    () => drizzle(db).select({ query: volumes.query }).from(volumes).limit(1).get() === undefined,
  )
  return (text: string, params: Readonly<Record<string, string | number>>): AddedVolume | null =>
    isEmpty() ? null : (found().get(queryKey(text), countryOfParams(params)) ?? null)
}

export function volumeStore(db: Database, writer: GroupCommit) {
  return {
    /** A finder of volumes as they are stored now. */
    addedVolumes: () => volumeFinder(db),
    /** Stores volumes. One of the same query, country and source is replaced, but not by an older one. */
    addVolumes: (rows: readonly (typeof volumes.$inferInsert)[]): Promise<void> =>
      writer.write(() => {
        const insert = db.prepare(
          raw`INSERT INTO ${volumes} (${volumes.query}, ${volumes.country}, ${volumes.source}, ${volumes.volume}, ${volumes.least},
              ${volumes.most}, ${volumes.day}, ${volumes.file}, ${volumes.addedAt})
            VALUES (@query, @country, @source, @volume, @least, @most, @day, @file, @addedAt)
            ON CONFLICT DO UPDATE SET volume = excluded.volume, least = excluded.least, most = excluded.most, day = excluded.day,
              file = excluded.file, added_at = excluded.added_at WHERE excluded.day >= day`,
        )
        for (const row of rows) insert.run(row)
      }),
  }
}
