import { hash } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'
import QuickLRU from 'quick-lru'
import { siteOf } from '../../../model/public-suffix.ts'
import type { Result } from '../../../model/result.ts'
import { pageAddress, parseLink } from '../../../model/url.ts'
import { redirectedHost } from '../../../rank/address.ts'
import { insertOrFail, once, raw } from '../connection/statements.ts'
import { itemHashes, items, linkHashes, links } from '../schema.ts'
import { hashIndex } from './hash-index.ts'

/** Texts, links and what results say return every day: each is stored once and named by a number. All are well-formed Unicode, for other programs. */
export interface Dictionary {
  /** The numbers of these texts, in their order. */
  texts(texts: readonly (string | null)[]): readonly (number | null)[]
  links(links: readonly (string | null)[]): readonly (Link | null)[]
  /** What these results say, in their order. */
  items(results: readonly Result[]): readonly Item[]
  /** Looks all of these up together, so that each is at hand when it is asked for. What was before is at hand no more. */
  prepare(texts: readonly (string | null)[], results: readonly Result[]): void
  /** Another connection may have stored more. */
  refresh(): void
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

export interface Item {
  readonly id: number
  readonly link: Link | null
}

/** What a result says apart from its link. */
export interface ItemTexts {
  readonly title: string | null
  readonly snippet: string | null
  readonly source: string | null
  readonly displayedLink: string | null
  readonly matched: string | null
}

/** Entries that are remembered at least, the most recent ones; at most twice as many. */
const remembered = { texts: 12_000, links: 6_000, hosts: 1_500 }
/** Longer texts are not remembered: they seldom return, take the memory of many others, and are found in the database soon enough. */
const longestRemembered = 256
/** Texts up to this length are looked up together, and compared here. */
const longestRead = 4_000

/**
 * The dictionary of a database; for use inside transactions only.
 *
 * @param newest links and items whose hashes wait in memory
 */
export function dictionary(db: Database, newest?: number): Dictionary {
  const knownTexts = new QuickLRU<string, number>({ maxSize: remembered.texts })
  const knownLinks = new QuickLRU<string, Link>({ maxSize: remembered.links })
  const hosts = new QuickLRU<string, number>({ maxSize: remembered.hosts })
  const textsByHash = once(() =>
    db
      .prepare<[string], readonly [id: number, text: string]>(
        'SELECT t.id, t.text FROM json_each(?) wanted CROSS JOIN texts t ON t.hash = wanted.value',
      )
      .raw(),
  )
  // Longer ones are compared where they lie: read into JavaScript, they would take most of the time.
  const findText = db
    .prepare<[number, string], number>('SELECT id FROM texts WHERE hash = ? AND text = ?')
    .pluck()
  const addTexts = inserter(db, 'texts (hash, text)', 2)
  const linkIndex = hashIndex(
    db,
    {
      name: 'links',
      table: links,
      id: links.id,
      hash: links.hash,
      hashes: linkHashes,
      check: '0',
    },
    newest,
  )
  const foundLinks = once(() => {
    const row = raw`l.${links.id}, l.${links.link}, coalesce(l.${links.sameAs}, l.${links.id})`
    const byId = raw`SELECT ${row} FROM json_each(?) wanted CROSS JOIN ${links} l ON l.${links.id} = wanted.value`
    const byHash = raw`SELECT ${row} FROM json_each(?) wanted CROSS JOIN ${linkHashes} h ON h.${linkHashes.hash} = wanted.value
      CROSS JOIN ${links} l ON l.${links.id} = h.${linkHashes.id}`
    return {
      byId: db.prepare<[string], LinkRow>(byId).raw(),
      byHash: db.prepare<[string], LinkRow>(byHash).raw(),
    }
  })
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
  /** Links that were not stored before these results. */
  const newLinks = new Set<number | undefined>()
  /** Links found since the last lookup that may have been stored by a version that knew fewer tokens. */
  const unchecked: Link[] = []

  const noteStored = ([id, link, sameAs]: LinkRow): Link => {
    const found = { id, link, sameAs }
    if (link.includes('?')) unchecked.push(found)
    // It may have been stored by a version that did not know the redirect.
    const redirected = redirectedHost(link)
    if (redirected !== null) {
      const host = hostId(redirected)
      moveLink.run(host, id, host)
    }
    return found
  }

  /** Those of these links that are stored. All are looked for at once, and compared as they are. */
  const storedLinks = (hashes: ReadonlyMap<string, number>): ReadonlyMap<string, Link> => {
    const { byId, byHash } = foundLinks()
    const stored = new Map<string, Link>()
    const note = (rows: readonly LinkRow[]): void => {
      for (const row of rows)
        if (hashes.has(row[1]) && !stored.has(row[1])) stored.set(row[1], noteStored(row))
    }
    const newest = [...hashes.values()].map((hash) => linkIndex.find(hash, 0)).filter((id) => id > 0)
    if (newest.length > 0) note(byId.all(JSON.stringify(newest)))
    const rest = [...hashes].flatMap(([link, hash]) => (stored.has(link) ? [] : hash))
    if (rest.length > 0) note(byHash.all(JSON.stringify(rest)))
    return stored
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
      linkIndex.add(id, hashes.get(link) as number, 0)
      newLinks.add(id)
      added.set(link, { id, sameAs: sameAs.get(link) ?? id, link })
    }
    return added
  }

  const textsAtHand = new Map<string | null, number>()
  const itemsAtHand = new Map<Result, Item>()
  const textsOf = lookup<number>(knownTexts, textsAtHand, (wanted) => {
    const known = new Map<string, number>()
    const short: number[] = []
    for (const [text, hash] of wanted) {
      if (text.length <= longestRead) short.push(hash)
      else {
        const id = findText.get(hash, text)
        if (id !== undefined) known.set(text, id)
      }
    }
    if (short.length > 0)
      for (const [id, text] of textsByHash().all(JSON.stringify(short)))
        if (wanted.has(text)) known.set(text, id)
    const fresh = [...wanted].filter(([text]) => !known.has(text))
    const ids = addTexts(fresh.map(([text, hash]) => [hash, text]))
    for (const [index, [text]] of fresh.entries()) known.set(text, ids[index] as number)
    return known
  })
  const linksOf = lookup<Link>(knownLinks, null, (wanted) => {
    const stored = storedLinks(wanted)
    if (stored.size === wanted.size) return stored
    const fresh = new Map([...wanted].filter(([link]) => !stored.has(link)))
    return new Map([...stored, ...addNewLinks(fresh)])
  })

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

  const checkedLinks = (links: readonly (string | null)[]): readonly (Link | null)[] => {
    const found = linksOf(links)
    return unchecked.length > 0 && mendPages() ? linksOf(links) : found
  }
  const saidItems = itemStore(db, newest)
  const itemsOf = (results: readonly Result[]): readonly Item[] => {
    newLinks.clear()
    return saidItems.of(results, checkedLinks(results.map(({ link }) => link)), newLinks)
  }

  return {
    texts: textsOf,
    links: checkedLinks,
    items: (results) => {
      const atHand = results.flatMap((one) => itemsAtHand.get(one) ?? [])
      return atHand.length === results.length ? atHand : itemsOf(results)
    },
    prepare: (texts, results) => {
      textsAtHand.clear()
      itemsAtHand.clear()
      for (const [index, id] of textsOf(texts).entries()) {
        const text = texts[index]
        if (text != null && id !== null) textsAtHand.set(text, id)
      }
      for (const [index, item] of itemsOf(results).entries()) itemsAtHand.set(results[index] as Result, item)
    },
    refresh: () => {
      linkIndex.refresh()
      saidItems.refresh()
    },
    forget: () => {
      for (const one of [knownTexts, knownLinks, hosts, textsAtHand, itemsAtHand]) one.clear()
      unchecked.length = 0
      linkIndex.forget()
      saidItems.forget()
    },
  }
}

type LinkRow = readonly [id: number, link: string, sameAs: number]

/** Texts beyond this length are told apart by their hash alone. */
const longestTold = 2 ** 22

/** A number that tells items with one hash apart, by link and length; also in SQL. */
function checkOf(linkId: number | null, size: number): number {
  return (linkId ?? 0) * longestTold + Math.min(size, longestTold - 1)
}
const sqlCheck = (item: string): string =>
  raw`coalesce(${item}${items.linkId}, 0) * ${longestTold} + min(${item}${items.size}, ${longestTold - 1})`

function keyOf({ hash, check }: { readonly hash: number; readonly check: number }): string {
  return `${hash} ${check}`
}

/** What results say, as it is stored. */
function itemStore(db: Database, newest: number | undefined) {
  const index = hashIndex(
    db,
    {
      name: 'items',
      table: items,
      id: items.id,
      hash: items.hash,
      hashes: itemHashes,
      check: sqlCheck(''),
    },
    newest,
  )
  const stored = once(() =>
    db
      .prepare<[string], readonly [id: number, hash: number, check: number]>(
        raw`SELECT i.${items.id}, i.${items.hash}, ${sqlCheck('i.')} FROM json_each(?) wanted
          CROSS JOIN ${itemHashes} h ON h.${itemHashes.hash} = wanted.value
          CROSS JOIN ${items} i ON i.${items.id} = h.${itemHashes.id} AND i.${items.hash} = h.${itemHashes.hash}`,
      )
      .raw(),
  )
  const add = inserter(db, 'items (hash, size, link_id, title, snippet, source, displayed_link, matched)', 8)

  return {
    of: (
      results: readonly Result[],
      linksOf: readonly (Link | null)[],
      newLinks: ReadonlySet<number | undefined>,
    ): readonly Item[] => {
      const wanted = results.map((result, place) => {
        const link = linksOf[place] ?? null
        const texts = textsOfItem(result)
        const size = sizeOf(texts)
        const hash = itemHash(link?.link ?? null, texts)
        const check = checkOf(link?.id ?? null, size)
        return { link, texts, size, hash, check, id: index.find(hash, check) }
      })
      const unknown = wanted.filter(({ id }) => id === 0)
      if (unknown.length > 0) {
        const numbers = new Map<string, number>()
        // Of a link that nobody had stored nothing is stored.
        const older = unknown.flatMap(({ hash, link }) => (newLinks.has(link?.id) ? [] : hash))
        for (const [id, hash, check] of older.length === 0 ? [] : stored().all(JSON.stringify(older))) {
          numbers.set(keyOf({ hash, check }), id)
          index.remember(id, hash, check)
        }
        const fresh = new Map(
          unknown.flatMap((one) => (numbers.has(keyOf(one)) ? [] : [[keyOf(one), one] as const])),
        )
        const ids = add(
          [...fresh.values()].map(({ hash, size, link, texts }) => {
            const { title, snippet, source, displayedLink, matched } = texts
            return [hash, size, link?.id ?? null, title, snippet, source, displayedLink, matched]
          }),
        )
        for (const [place, [key, { hash, check }]] of [...fresh].entries()) {
          const id = ids[place] as number
          numbers.set(key, id)
          index.add(id, hash, check)
        }
        for (const one of unknown) one.id = numbers.get(keyOf(one)) as number
      }
      return wanted.map(({ id, link }) => ({ id, link }))
    },
    refresh: index.refresh,
    forget: index.forget,
  }
}

function textsOfItem({ title, snippet, source, displayedLink, snippetMatched }: Result): ItemTexts {
  return {
    title: title?.toWellFormed() ?? null,
    snippet: snippet?.toWellFormed() ?? null,
    source: source?.toWellFormed() ?? null,
    displayedLink: displayedLink?.toWellFormed() ?? null,
    matched: snippetMatched === null ? null : JSON.stringify(snippetMatched),
  }
}

/** How long the texts of an item are together. */
export function sizeOf({ title, snippet, source, displayedLink, matched }: ItemTexts): number {
  return lengthOf(title) + lengthOf(snippet) + lengthOf(source) + lengthOf(displayedLink) + lengthOf(matched)
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : text.length
}

/** A hash of 52 bits, which JavaScript holds exactly. No two items are taken for one because of it: link and length must be equal, too. */
export function itemHash(
  link: string | null,
  { title, snippet, source, displayedLink, matched }: ItemTexts,
): number {
  const parts = [link, title, snippet, source, displayedLink, matched]
  // Lengths first, so that no other parts come to the same text.
  const text = `${parts.map((part) => part?.length ?? '').join()} ${parts.join('')}`
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 13), 16)
}

/** Makes a lookup of entries: from memory; all others are found or added together, given with their hashes. */
function lookup<Entry extends number | Link>(
  known: QuickLRU<string, Entry>,
  atHand: ReadonlyMap<string | null, Entry> | null,
  findOrAdd: (wanted: ReadonlyMap<string, number>) => ReadonlyMap<string, Entry>,
): (texts: readonly (string | null)[]) => readonly (Entry | null)[] {
  const recall = (text: string): Entry | undefined =>
    atHand?.get(text) ?? (text.length <= longestRemembered ? known.get(text) : undefined)
  return (texts) => {
    let missing: Map<string, number> | null = null
    const entries = texts.map((any) => {
      if (any === null) return null
      const text = any.toWellFormed()
      const entry = recall(text)
      if (entry !== undefined || missing?.has(text) === true) return entry
      missing ??= new Map()
      missing.set(text, hashOf(text))
      return undefined
    })
    if (missing === null) return entries as (Entry | null)[]
    const found = findOrAdd(missing)
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
