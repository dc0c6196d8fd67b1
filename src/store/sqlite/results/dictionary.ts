import { hash } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'
import QuickLRU from 'quick-lru'
import { siteOf } from '../../../model/public-suffix.ts'
import { pageAddress, parseLink } from '../../../model/url.ts'
import { redirectedHost } from '../../../rank/address.ts'
import { insertOrFail } from '../connection/statements.ts'

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
  /** The number of the link that is the address of its page. */
  readonly sameAs: number
  /** As it is stored. */
  readonly link: string
}

/** Entries that are remembered at least, the most recent ones; at most twice as many. */
const remembered = { texts: 12_000, links: 6_000, hosts: 1_500 }
/** Longer texts are not remembered: they seldom return, take the memory of many others, and are found in the database soon enough. */
const longestRemembered = 256

/** The dictionary of a database; for use inside transactions only. */
export function dictionary(db: Database): Dictionary {
  const knownTexts = new QuickLRU<string, number>({ maxSize: remembered.texts })
  const knownLinks = new QuickLRU<string, Link>({ maxSize: remembered.links })
  const hosts = new QuickLRU<string, number>({ maxSize: remembered.hosts })
  // Texts are compared where they lie: read into JavaScript, long ones would take most of the time.
  const findText = db
    .prepare<[number, string], number>('SELECT id FROM texts WHERE hash = ? AND text = ?')
    .pluck()
  const addTexts = inserter(db, 'texts (hash, text)', 2)
  const findLink = db.prepare<[number, string], Omit<Link, 'link'>>(
    'SELECT id, coalesce(same_as, id) AS sameAs FROM links WHERE hash = ? AND link = ?',
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

  const setSameAs = db.prepare<[number | null, number]>('UPDATE links SET same_as = ? WHERE id = ?')
  /** Links found since the last lookup that may have been stored by a version that knew fewer tokens. */
  const unchecked: Link[] = []

  const storedLink = (hash: number, link: string): Link | undefined => {
    const found = findLink.get(hash, link)
    if (found === undefined) return undefined
    if (link.includes('?')) unchecked.push({ ...found, link })
    // It may have been stored by a version that did not know the redirect.
    const redirected = redirectedHost(link)
    if (redirected !== null) {
      const host = hostId(redirected)
      moveLink.run(host, found.id, host)
    }
    return { ...found, link }
  }

  const addNewLinks = (hashes: ReadonlyMap<string, number>): ReadonlyMap<string, Link> => {
    const missing = [...hashes.keys()].map((link) => ({ link, parsed: parseLink(link) }))
    const same = linksOf(
      missing.map(({ link, parsed }) => (parsed === null || parsed.page === link ? null : parsed.page)),
    )
    // If one of them is the address of the page of another, it is stored by now.
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
    const added = new Map<string, Link>()
    for (const one of same) if (one != null && hashes.has(one.link)) added.set(one.link, one)
    for (const [index, { link }] of rest.entries()) {
      const id = ids[index] as number
      added.set(link, { id, sameAs: sameAs.get(link) ?? id, link })
    }
    return added
  }

  const textsOf = lookup<number>(
    knownTexts,
    (hash, text) => findText.get(hash, text),
    (hashes) => {
      const ids = addTexts([...hashes].map(([text, hash]) => [hash, text]))
      return new Map([...hashes.keys()].map((text, index) => [text, ids[index] as number]))
    },
  )
  const linksOf = lookup<Link>(knownLinks, storedLink, addNewLinks)

  /** Gives the links that were found lately their pages; whether one of them had another. */
  const mendPages = (): boolean => {
    const found = unchecked.splice(0)
    const pages = linksOf(found.map(({ link }) => pageAddress(link)))
    // To find the pages is no reason to check them.
    unchecked.length = 0
    let isMended = false
    for (const [index, { id, sameAs, link }] of found.entries()) {
      const page = (pages[index] as Link).id
      if (page === sameAs) continue
      setSameAs.run(page === id ? null : page, id)
      knownLinks.delete(link)
      isMended = true
    }
    return isMended
  }

  return {
    texts: textsOf,
    links: (links) => {
      const found = linksOf(links)
      return unchecked.length > 0 && mendPages() ? linksOf(links) : found
    },
    forget: () => {
      for (const one of [knownTexts, knownLinks, hosts]) one.clear()
      unchecked.length = 0
    },
  }
}

/** Makes a lookup of entries: from memory, else from the database; all that are new are added together. */
function lookup<Entry extends number | Link>(
  known: QuickLRU<string, Entry>,
  find: (hash: number, text: string) => Entry | undefined,
  add: (hashes: ReadonlyMap<string, number>) => ReadonlyMap<string, Entry>,
): (texts: readonly (string | null)[]) => readonly (Entry | null)[] {
  const recall = (text: string): Entry | undefined =>
    text.length <= longestRemembered ? known.get(text) : undefined
  const remember = (text: string, entry: Entry): void => {
    if (text.length <= longestRemembered) known.set(text, entry)
  }
  return (texts) => {
    let missing: Map<string, number> | null = null
    const entries = texts.map((any) => {
      if (any === null) return null
      const text = any.toWellFormed()
      const entry = recall(text)
      if (entry !== undefined || missing?.has(text) === true) return entry
      const hash = hashOf(text)
      const stored = find(hash, text)
      if (stored === undefined) {
        missing ??= new Map()
        missing.set(text, hash)
      } else remember(text, stored)
      return stored
    })
    if (missing === null) return entries as (Entry | null)[]
    const added = add(missing)
    for (const [text, entry] of added) remember(text, entry)
    return entries.map((entry, index) =>
      entry === undefined ? (added.get((texts[index] as string).toWellFormed()) as Entry) : entry,
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
      statements.get(rows) ??
      db.prepare(`${insertOrFail} INTO ${table} VALUES ${Array(rows).fill(row).join(', ')}`)
    statements.set(rows, statement)
    return statement
  }
  return (rows) => {
    const ids: number[] = []
    for (let from = 0; from < rows.length; from += together) {
      const some = rows.slice(from, from + together)
      // SQLite numbers new rows in order, after the largest number.
      const last = Number(statementFor(some.length).run(some.flat()).lastInsertRowid)
      for (let index = some.length - 1; index >= 0; index--) ids.push(last - index)
    }
    return ids
  }
}

/** A hash of 48 bits, which SQLite stores in six bytes and JavaScript holds exactly. Texts with equal hashes are compared. */
export function hashOf(text: string): number {
  return Number.parseInt(hash('md5', text, 'hex').slice(0, 12), 16)
}
