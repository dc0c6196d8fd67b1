import type { Database } from 'better-sqlite3'
import { and, eq } from 'drizzle-orm'
import QuickLRU from 'quick-lru'
import type { Target, Variant } from '../../model/job.ts'
import { kindCodes } from '../../model/result.ts'
import type { RankedItem, WatchedTarget } from '../../rank/paging.ts'
import { drizzle, once, raw } from './connection/statements.ts'
import { dictionary } from './results/dictionary.ts'
import { answers, items, keys, links, targets, runTargets as watched } from './schema.ts'

/** Answers the number of a target, given where it has none yet. Inside a transaction. */
function targetIds(db: Database): (target: Pick<Target, 'site' | 'match' | 'also'>) => number {
  const { site, match, also } = targets
  const add = db.prepare(
    raw`INSERT INTO ${targets} (${site}, ${match}, ${also}) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const idOf = db
    .prepare<string[], number>(
      raw`SELECT ${targets.id} FROM ${targets} WHERE ${site} = ? AND ${match} = ? AND ${also} = ?`,
    )
    .pluck()
  return (target) => {
    const values = [target.site, target.match, JSON.stringify(target.also)]
    add.run(values)
    return idOf.get(...values) as number
  }
}

/** Targets as a JSON list, for SQL that holds them against the columns `site`, `match` and `also`. */
function namedTargets(targets: readonly Target[]): string {
  return JSON.stringify(targets.map((target) => ({ ...target, also: JSON.stringify(target.also) })))
}

/** A row with a target and its number, as they are stored. */
export type TargetRow = Omit<Target, 'own' | 'also'> & {
  readonly id: number
  readonly own: number
  readonly also: string
}

function targetFromRow<Row extends { readonly own: number; readonly also: string }>({
  own,
  also,
  ...row
}: Row) {
  return { ...row, own: own === 1, also: JSON.parse(also) as Variant[] }
}

/** Targets that all queries of a run are watched for, remembered: every page that is understood asks for them. */
export function runTargets(db: Database) {
  const known = new Map<number, readonly WatchedTarget[]>()
  const targetsOf = (run: number): readonly WatchedTarget[] =>
    drizzle(db)
      .select({
        id: targets.id,
        site: targets.site,
        match: targets.match,
        also: targets.also,
        label: watched.label,
        own: watched.own,
      })
      .from(watched)
      .innerJoin(targets, eq(targets.id, watched.targetId))
      .where(and(eq(watched.runId, run), eq(watched.everywhere, 1)))
      .orderBy(targets.id)
      .all()
  return {
    /** In the order of their numbers. */
    of: (run: number) => {
      const all = known.get(run) ?? targetsOf(run)
      known.set(run, all)
      return all
    },
    /** To be called after each change of them. */
    forget: () => known.clear(),
  }
}

/** What a process remembers of its database, so that it need not read it with every page. */
export type StoreCache = ReturnType<typeof storeCache>

export function storeCache(db: Database, items = pageItems(db)) {
  const [texts, keyIds, targets] = [dictionary(db), apiKeyIds(db), runTargets(db)]
  // Another number when another connection has committed something.
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let seen = version.get()
  const changeable = [targets, items]
  let isCurrent = false
  return {
    /** Words and keys that have a number keep it. */
    dictionary: texts,
    keys: keyIds,
    targets,
    items,
    /** Forgets what another connection may have changed; to be called in each change before that is used. Others change nothing meanwhile. */
    refresh: () => {
      if (isCurrent && db.inTransaction) return
      isCurrent = db.inTransaction
      const now = version.get()
      if (now === seen) return
      for (const one of changeable) one.forget()
      texts.refresh()
      seen = now
    },
    /** A change is over: others may change something until the next one. */
    expire: () => {
      isCurrent = false
    },
    /** Forgets everything, after a rollback. */
    forget: () => {
      isCurrent = false
      for (const one of [texts, keyIds, ...changeable]) one.forget()
    },
  }
}

/** Numbers of API keys, which are known by their digests alone. */
function apiKeyIds(db: Database) {
  // A process has few keys, and asks for one with every call.
  const known = new Map<string, number>()
  return {
    /** The number of a key, given where it has none yet. Inside a transaction. */
    idOf: (hash: string): number => {
      const before = known.get(hash)
      if (before !== undefined) return before
      const orm = drizzle(db)
      orm.insert(keys).values({ hash }).onConflictDoNothing().run()
      const stored = orm.select({ id: keys.id }).from(keys).where(eq(keys.hash, hash)).get()
      const { id } = stored as NonNullable<typeof stored>
      known.set(hash, id)
      return id
    },
    /** Forgets what it remembers, after a rollback. */
    forget: () => known.clear(),
  }
}

/** A result that has a rank, as it is stored. */
export interface StoredItem extends RankedItem {
  readonly linkId: number | null
  readonly title: string | null
}

/** Answers whose items are remembered: the pages of a query mostly come soon after each other. */
const remembered = 600

type ItemRow = readonly [
  link: string | null,
  linkId: number | null,
  /** The link that is the address of the page, where it is another one. */
  page: number | null,
  item: number,
]

/** As one text, which takes less time to read. Related searches come along with web results and have no rank over pages. */
const itemsOf = raw`SELECT json_group_array(json_array(l.${links.link}, i.${items.linkId}, l.${links.sameAs}, n.value))
  FROM ${answers} a CROSS JOIN json_each(a.${answers.items}) list CROSS JOIN json_each(list.value) n
  LEFT JOIN ${items} i ON i.${items.id} = n.value LEFT JOIN ${links} l ON l.${links.id} = i.${items.linkId}
  WHERE a.${answers.id} = ? AND list.key <> '${kindCodes.related}'`

const titleOf = raw`SELECT ${items.title} FROM ${items} WHERE ${items.id} = ?`

/** One that was stored before. Its title is read when it is asked for: most are not. */
class StoredBefore implements StoredItem {
  readonly link: string | null
  readonly sameAs: number | null
  readonly linkId: number | null
  private readonly titleOf: (item: number) => string | null
  private readonly item: number

  constructor(titleOf: (item: number) => string | null, [link, linkId, page, item]: ItemRow) {
    this.link = link
    this.linkId = linkId
    this.sameAs = page ?? linkId
    this.titleOf = titleOf
    this.item = item
  }

  get title(): string | null {
    return this.titleOf(this.item)
  }
}

/** The results of answers that have ranks: those of the pages that came last are remembered. */
function pageItems(db: Database) {
  const known = new QuickLRU<number, readonly StoredItem[]>({ maxSize: remembered })
  const read = once(() => db.prepare<[answer: number], string>(itemsOf).pluck())
  const title = once(() => db.prepare<[item: number], string | null>(titleOf).pluck())
  const storedTitle = (item: number): string | null => title().get(item) ?? null
  return {
    /** In the order of the page. */
    of: (answerId: number): readonly StoredItem[] => {
      const before = known.get(answerId)
      if (before !== undefined) return before
      const rows = JSON.parse(read().get(answerId) as string) as ItemRow[]
      const items = rows.map((row) => new StoredBefore(storedTitle, row))
      known.set(answerId, items)
      return items
    },
    /** Notes what was stored of an answer in place of all that was stored before. */
    remember: (answerId: number, items: readonly StoredItem[]) => void known.set(answerId, items),
    /** No page of its query follows any more: what is remembered of the answer would only lie there. */
    drop: (answerId: number) => void known.delete(answerId),
    forget: () => known.clear(),
  }
}

/** How targets are stored, and read again. */
export const storedTargets = {
  ids: targetIds,
  named: namedTargets,
  fromRow: targetFromRow,
}
