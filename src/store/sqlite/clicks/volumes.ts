import type { Database } from 'better-sqlite3'
import { count, eq, max, min, sql } from 'drizzle-orm'
import { markets } from '../../../model/query.ts'
import { textInLowerCase } from '../../../model/text.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import { volumes } from './schema.ts'

/** The newest volume of the country, else one of all countries; of one day that which was added last. Ranges are none. */
const newest = raw`SELECT ${volumes.volume} AS volume, ${volumes.source} AS source, ${volumes.day} AS day FROM ${volumes}
  WHERE ${volumes.query} = ? AND ${volumes.country} IN (?, '') AND ${volumes.volume} IS NOT NULL
  ORDER BY ${volumes.country} = '', ${volumes.day} DESC, ${volumes.additionId} DESC LIMIT 1`

/** Says the volumes of keywords. */
export function volumeFinder(db: Database) {
  type Volume = Pick<typeof volumes.$inferSelect, 'source'> & {
    readonly volume: number
    /** The day that the file is of, as a number of days since 1970-01-01. */
    readonly day: number
  }
  const found = once(() => db.prepare<[string, string], Volume>(newest))
  const isEmpty = once(
    () => drizzle(db).select({ query: volumes.query }).from(volumes).limit(1).get() === undefined,
  )
  type VolumeParams = Readonly<Record<string, string | number>>
  /** The volume that was added from a file; null where none was. */
  const added = (text: string, params: VolumeParams) =>
    isEmpty() ? null : (found().get(textInLowerCase(text), markets.country(params)) ?? null)
  return {
    added,
    /** The volume of a keyword: its own, which its job names, else one that was added. */
    volumeOf: (own: number | null, text: string, params: VolumeParams): number | null =>
      own ?? added(text, params)?.volume ?? null,
  }
}

/** A row of a file. */
type NewVolume = Omit<typeof volumes.$inferInsert, 'additionId'>

export function volumeStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  /** What was added, the oldest first. */
  const volumeAdditions = () =>
    orm
      .select({
        id: volumes.additionId,
        source: max(volumes.source).mapWith(String),
        file: max(volumes.file).mapWith(String),
        addedAt: max(volumes.addedAt).mapWith(Number),
        rows: count(),
        volumes: count(volumes.volume),
        from: min(volumes.day).mapWith(Number),
        until: max(volumes.day).mapWith(Number),
        countries: sql<string>`group_concat(DISTINCT ${volumes.country})`,
      })
      .from(volumes)
      .groupBy(volumes.additionId)
      .orderBy(volumes.additionId)
      .all()
      .map(({ countries, ...one }) => ({ ...one, countries: countries.split(',').sort() }))
  return {
    /** A finder of volumes as they are stored now. */
    addedVolumes: () => volumeFinder(db),
    volumeAdditions: async () => volumeAdditions(),
    /**
     * Stores volumes as one addition and answers its number; that of an earlier one that says the same, and stores nothing.
     *
     * @param own one of each query and country
     */
    addVolumes: (own: readonly NewVolume[]): Promise<{ readonly id: number; readonly isNew: boolean }> =>
      writer.write(() => {
        const same = db
          .prepare(
            raw`SELECT 1 FROM ${volumes} WHERE ${volumes.query} = @query AND ${volumes.country} = @country AND ${volumes.additionId} = @id
              AND ${volumes.volume} IS @volume AND ${volumes.least} IS @least AND ${volumes.most} IS @most AND ${volumes.day} = @day`,
          )
          .pluck()
        const before = volumeAdditions()
        const known = before.find(
          ({ id, source, rows: all }) =>
            all === own.length && own.every((row) => row.source === source && same.get({ ...row, id }) === 1),
        )
        if (known !== undefined) return { id: known.id, isNew: false }
        const id = (before.at(-1)?.id ?? 0) + 1
        const insert = db.prepare(
          raw`INSERT INTO ${volumes} (${volumes.query}, ${volumes.country}, ${volumes.additionId}, ${volumes.source}, ${volumes.volume},
              ${volumes.least}, ${volumes.most}, ${volumes.day}, ${volumes.file}, ${volumes.addedAt})
            VALUES (@query, @country, @id, @source, @volume, @least, @most, @day, @file, @addedAt)`,
        )
        for (const row of own) insert.run({ ...row, id })
        return { id, isNew: true }
      }),
    /** Takes an addition away; what it had replaced counts again. */
    undoVolumes: (id: number): Promise<void> =>
      writer.write(() => void orm.delete(volumes).where(eq(volumes.additionId, id)).run()),
  }
}
