import { hash } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { siteOf } from '../../../model/public-suffix.ts'
import { parseLink } from '../../../model/url.ts'
import { redirectedHost } from '../../../rank/address.ts'

/** Texts and links return every day: each is stored once and named by a number. All are well-formed Unicode, for other programs. */
export interface Dictionary {
  /** The numbers of these texts, in their order. */
  texts(texts: readonly (string | null)[]): readonly (number | null)[]
  links(links: readonly (string | null)[]): readonly (Link | null)[]
  /** Clears its memory, after a rollback. */
  forget(): void
}

export interface Link {
  readonly id: number
  /** The number of the first link that is equal to it after WHATWG parsing, without the fragment. */
  readonly sameAs: number
  /** As it is stored. */
  readonly link: string
}

/** Characters that are remembered: the most recent ones. */
const remembered = { texts: 1_500_000, links: 750_000, hosts: 200_000 }
/** The overhead of an entry, in characters. */
const perEntry = 64
/** Longer texts are not remembered: they would displace many others that are more likely to return. */
const longestRemembered = 4096

/** The dictionary of a database; for use inside transactions only. */
export function dictionary(db: Database): Dictionary {
  const knownTexts = cache<number>(remembered.texts)
  const knownLinks = cache<Link>(remembered.links)
  const hosts = cache<number>(remembered.hosts)
  const findTexts = db.prepare<[string], { id: number; text: string }>(
    'SELECT t.id, t.text FROM json_each(?) h CROSS JOIN texts t ON t.hash = h.value',
  )
  const addTexts = inserter(db, 'texts (hash, text)', 2)
  const findLinks = db.prepare<[string], Link>(
    `SELECT l.id, coalesce(l.same_as, l.id) AS sameAs, l.link
    FROM json_each(?) h CROSS JOIN links l ON l.hash = h.value`,
  )
  const addLinks = inserter(db, 'links (hash, link, same_as, host_id)', 4)
  const moveLink = db.prepare<[number, number, number]>(
    'UPDATE links SET host_id = ? WHERE id = ? AND host_id IS NOT ?',
  )
  const findHost = db.prepare<[string], { id: number }>('SELECT id FROM hosts WHERE host = ?')
  const addHost = db.prepare<[string, string | null]>('INSERT INTO hosts (host, site) VALUES (?, ?)')

  const hostId = (host: string): number => {
    const known = hosts.get(host)
    if (known !== undefined) return known
    const id = findHost.get(host)?.id ?? Number(addHost.run(host, siteOf(host)).lastInsertRowid)
    hosts.set(host, id)
    return id
  }

  /** Looks up texts that are not remembered and stores new ones, with one statement for each of both. */
  const findOrAddTexts = (texts: ReadonlySet<string>): ReadonlyMap<string, number> => {
    const hashes = new Map([...texts].map((text) => [text, hashOf(text)]))
    const found = new Map<string, number>()
    for (const { id, text } of findTexts.all(JSON.stringify([...hashes.values()])))
      if (texts.has(text)) found.set(text, id)
    const missing = [...texts].filter((text) => !found.has(text))
    const ids = addTexts(missing.map((text) => [hashes.get(text) as number, text]))
    for (const [index, text] of missing.entries()) found.set(text, ids[index] as number)
    return found
  }

  const findOrAddLinks = (links: ReadonlySet<string>): ReadonlyMap<string, Link> => {
    const hashes = new Map([...links].map((link) => [link, hashOf(link)]))
    const found = new Map<string, Link>()
    for (const one of findLinks.all(JSON.stringify([...hashes.values()]))) {
      if (!links.has(one.link)) continue
      found.set(one.link, one)
      // It may have been stored by a version that did not know the redirect.
      const redirected = redirectedHost(one.link)
      if (redirected === null) continue
      const host = hostId(redirected)
      moveLink.run(host, one.id, host)
    }
    const missing = [...links].flatMap((link) => (found.has(link) ? [] : { link, parsed: parseLink(link) }))
    const canonical = missing.map(({ link, parsed }) =>
      parsed === null || parsed.canonical === link ? null : parsed.canonical,
    )
    const same = linksOf(canonical)
    // If one of them is the canonical form of another, it is stored by now.
    const stored = new Set(same.map((one) => one?.link))
    const rest = missing.filter(({ link }) => !stored.has(link))
    const sameAs = new Map(missing.map(({ link }, index) => [link, same[index]?.id ?? null]))
    const ids = addLinks(
      rest.map(({ link, parsed }) => {
        const name = redirectedHost(link) ?? (parsed?.host || null)
        const host = name === null ? null : hostId(name)
        return [hashes.get(link) as number, link, sameAs.get(link) ?? null, host]
      }),
    )
    for (const one of same) if (one != null && links.has(one.link)) found.set(one.link, one)
    for (const [index, { link }] of rest.entries()) {
      const id = ids[index] as number
      found.set(link, { id, sameAs: sameAs.get(link) ?? id, link })
    }
    return found
  }

  const textsOf = lookup(knownTexts, findOrAddTexts)
  const linksOf = lookup(knownLinks, findOrAddLinks)
  return {
    texts: textsOf,
    links: linksOf,
    forget: () => {
      for (const one of [knownTexts, knownLinks, hosts]) one.clear()
    },
  }
}

/** Makes a lookup of entries: from memory, and for all others together by `findAll`. */
function lookup<Entry extends number | Link>(
  known: LRUCache<string, Entry>,
  findAll: (texts: ReadonlySet<string>) => ReadonlyMap<string, Entry>,
): (texts: readonly (string | null)[]) => readonly (Entry | null)[] {
  return (texts) => {
    let unknown: Set<string> | null = null
    const entries = texts.map((text) => {
      if (text === null) return null
      const entry = known.get(text.toWellFormed())
      if (entry === undefined) {
        unknown ??= new Set()
        unknown.add(text.toWellFormed())
      }
      return entry
    })
    if (unknown === null) return entries as (Entry | null)[]
    const found = findAll(unknown)
    for (const [text, entry] of found) if (text.length <= longestRemembered) known.set(text, entry)
    return entries.map((entry, index) =>
      entry === undefined ? (found.get((texts[index] as string).toWellFormed()) as Entry) : entry,
    )
  }
}

/** Rows that one statement takes at most. */
const together = 32

/** Inserts rows, many in one statement; returns their new numbers. */
function inserter(
  db: Database,
  table: string,
  columns: number,
): (rows: readonly (readonly (string | number | null)[])[]) => readonly number[] {
  const statements = new Map<number, Statement>()
  const statementFor = (rows: number): Statement => {
    const row = `(${Array(columns).fill('?').join(', ')})`
    const statement =
      statements.get(rows) ?? db.prepare(`INSERT INTO ${table} VALUES ${Array(rows).fill(row).join(', ')}`)
    statements.set(rows, statement)
    return statement
  }
  return (rows) => {
    const ids: number[] = []
    for (let from = 0; from < rows.length; from += together) {
      const some = rows.slice(from, from + together)
      // SQLite numbers new rows in order, after the largest number.
      const last = Number(statementFor(some.length).run(...some.flat()).lastInsertRowid)
      for (let index = some.length - 1; index >= 0; index--) ids.push(last - index)
    }
    return ids
  }
}

function cache<Entry extends number | Link>(characters: number): LRUCache<string, Entry> {
  return new LRUCache<string, Entry>({
    maxSize: characters,
    sizeCalculation: (_, text) => text.length + perEntry,
  })
}

/** A hash of 48 bits, which SQLite stores in six bytes and JavaScript holds exactly. Texts with equal hashes are compared. */
export function hashOf(text: string): number {
  return Number.parseInt(hash('md5', text, 'hex').slice(0, 12), 16)
}
