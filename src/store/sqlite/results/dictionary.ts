import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import QuickLRU from 'quick-lru'
import { siteOf } from '../../../model/public-suffix.ts'
import type { Result } from '../../../model/result.ts'
import { pageAddress, parseLink } from '../../../model/url.ts'
import { redirectedHost } from '../../../rank/match.ts'
import { inserter, once, raw, type Value } from '../connection/statements.ts'
import { itemHashes, items, linkHashes, links } from '../schema.ts'
import { hashIndex } from './hash-index.ts'

/** Texts, links and what results say return every day: each is stored once and named by a number. All are well-formed Unicode, for other programs. */
export type Dictionary = ReturnType<typeof dictionary>

interface Link {
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
export type ItemTexts = Omit<typeof items.$inferSelect, 'id' | 'hash' | 'size' | 'linkId'>

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
export function dictionary(db: Database, newest?: number) {
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
  /** The first link that was not stored before these results: numbers rise. */
  let firstNewLink = Number.POSITIVE_INFINITY
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

  /** Finds those of these links that are stored. All are looked for at once, and compared as they are. */
  const findLinks = (wanted: WantedTexts<Link>): void => {
    const { byId, byHash } = foundLinks()
    const note = (rows: readonly LinkRow[]): void => {
      for (const row of rows) {
        const one = wanted.get(row[1])
        if (one !== undefined && one.entry === undefined) one.entry = noteStored(row)
      }
    }
    const newest: number[] = []
    for (const { hash } of wanted.values()) {
      const id = linkIndex.find(hash, 0)
      if (id > 0) newest.push(id)
    }
    if (newest.length > 0) note(byId.all(JSON.stringify(newest)))
    const rest = hashesOf(wanted)
    if (rest.length > 0) note(byHash.all(JSON.stringify(rest)))
  }

  /** Adds those of these links that were not found. */
  const addMissing = (wanted: WantedTexts<Link>): void => {
    const fresh: { readonly link: WantedText<Link>; readonly host: string | null }[] = []
    const pages: (string | null)[] = []
    for (const link of wanted.values()) {
      if (link.entry !== undefined) continue
      const parsed = parseLink(link.text)
      fresh.push({ link, host: redirectedHost(link.text) ?? (parsed?.host || null) })
      pages.push(parsed === null || parsed.page === link.text ? null : parsed.page)
    }
    const same = linksOf(pages)
    for (const page of same) {
      // The address of the page of another is stored by now.
      const one = page === null ? undefined : wanted.get(page.link)
      if (page !== null && one !== undefined) one.entry = page
    }
    const added: { readonly link: WantedText<Link>; readonly sameAs: number | null }[] = []
    const values: Value[] = []
    for (const [index, { link, host }] of fresh.entries()) {
      if (link.entry !== undefined) continue
      const sameAs = same[index]?.id ?? null
      added.push({ link, sameAs })
      values.push(link.hash, link.text, sameAs, host === null ? null : hostId(host))
    }
    if (added.length === 0) return
    let id = addLinks(values)
    firstNewLink = Math.min(firstNewLink, id)
    for (const { link, sameAs } of added) {
      linkIndex.add(id, link.hash, 0)
      link.entry = { id, sameAs: sameAs ?? id, link: link.text }
      id += 1
    }
  }

  const textsOf = lookup<number>(
    knownTexts,
    (wanted) => {
      const short: number[] = []
      for (const one of wanted.values())
        if (one.text.length <= longestRead) short.push(one.hash)
        else one.entry = findText.get(one.hash, one.text)
      if (short.length > 0)
        for (const [id, text] of textsByHash().all(JSON.stringify(short))) {
          const one = wanted.get(text)
          if (one !== undefined) one.entry = id
        }
    },
    (wanted) => {
      const fresh: WantedText<number>[] = []
      const values: Value[] = []
      for (const one of wanted.values()) {
        if (one.entry !== undefined) continue
        fresh.push(one)
        values.push(one.hash, one.text)
      }
      if (fresh.length === 0) return
      let id = addTexts(values)
      for (const one of fresh) one.entry = id++
    },
  )
  const linksOf = lookup<Link>(knownLinks, findLinks, addMissing)

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

  return {
    /** The numbers of these texts, in their order. */
    texts: textsOf,
    links: checkedLinks,
    /** What these results say, in their order. */
    items: (results: readonly Result[]): readonly Item[] => {
      firstNewLink = Number.POSITIVE_INFINITY
      const links = checkedLinks(results.map(({ link }) => link))
      return saidItems.of(results, links, firstNewLink)
    },
    /** Another connection may have stored more. */
    refresh: () => {
      linkIndex.refresh()
      saidItems.refresh()
    },
    /** Clears its memory, after a rollback. */
    forget: () => {
      for (const one of [knownTexts, knownLinks, hosts]) one.clear()
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

/** What a result says that was not found in memory. */
interface WantedItem {
  /** 0 until it is known. */
  id: number
  readonly link: Link | null
  readonly texts: ItemTexts
  readonly size: number
  readonly hash: number
  readonly check: number
  /** The first one that says the same; null where this is it. */
  readonly first: WantedItem | null
  /** The one before it with the same hash. */
  readonly other: WantedItem | null
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

  /** Adds those of these items that were not found. */
  const addMissing = (wanted: readonly WantedItem[]): void => {
    const fresh = wanted.filter(({ id, first }) => id === 0 && first === null)
    if (fresh.length === 0) return
    const values: Value[] = []
    for (const { hash, size, link, texts } of fresh) {
      const { title, snippet, source, displayedLink, matched } = texts
      values.push(hash, size, link?.id ?? null, title, snippet, source, displayedLink, matched)
    }
    let id = add(values)
    for (const one of fresh) {
      one.id = id++
      index.add(one.id, one.hash, one.check)
    }
  }

  return {
    /** @param firstNewLink with links from this one on, which nobody had stored before, nothing is stored yet */
    of: (
      results: readonly Result[],
      linksOf: readonly (Link | null)[],
      firstNewLink: number,
    ): readonly Item[] => {
      const unknown: WantedItem[] = []
      const byHash = new Map<number, WantedItem>()
      const older: number[] = []
      const all: Item[] = []
      for (let place = 0; place < results.length; place++) {
        const link = linksOf[place] ?? null
        const texts = textsOfItem(results[place] as Result)
        const size = sizeOf(texts)
        const hash = itemHash(link?.link ?? null, texts)
        const check = checkOf(link?.id ?? null, size)
        const id = index.find(hash, check)
        if (id > 0) {
          all.push({ id, link })
          continue
        }
        const others = byHash.get(hash) ?? null
        const one = { id, link, texts, size, hash, check, first: withCheck(others, check), other: others }
        unknown.push(one)
        all.push(one)
        if (one.first !== null) continue
        byHash.set(hash, one)
        if (link === null || link.id < firstNewLink) older.push(hash)
      }
      if (unknown.length === 0) return all
      for (const [id, hash, check] of older.length === 0 ? [] : stored().all(JSON.stringify(older))) {
        index.remember(id, hash, check)
        const one = withCheck(byHash.get(hash) ?? null, check)
        if (one !== null) one.id = id
      }
      addMissing(unknown)
      for (const one of unknown) if (one.first !== null) one.id = one.first.id
      return all
    },
    refresh: index.refresh,
    forget: index.forget,
  }
}

/** The one with this check among those with one hash. */
function withCheck(first: WantedItem | null, check: number): WantedItem | null {
  for (let one = first; one !== null; one = one.other) if (one.check === check) return one
  return null
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
function sizeOf({ title, snippet, source, displayedLink, matched }: ItemTexts): number {
  return lengthOf(title) + lengthOf(snippet) + lengthOf(source) + lengthOf(displayedLink) + lengthOf(matched)
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : text.length
}

/** Where what an item says is put together: as a text it would be as long as the answer, and V8 would have to clean that away. */
const scratch = Buffer.allocUnsafeSlow(16_384)
/** Bytes of a character in UTF-8, of those that JavaScript counts, at most. */
const mostBytes = 3

/** A hash of 52 bits, which JavaScript holds exactly. No two items are taken for one because of it: link and length must be equal, too. */
function itemHash(link: string | null, texts: ItemTexts): number {
  const { title, snippet, source, displayedLink, matched } = texts
  // Lengths first, so that no other parts come to the same bytes.
  const lengths = `${link?.length ?? ''},${title?.length ?? ''},${snippet?.length ?? ''},${source?.length ?? ''},${displayedLink?.length ?? ''},${matched?.length ?? ''} `
  const most = (lengths.length + lengthOf(link) + sizeOf(texts)) * mostBytes
  const bytes = most <= scratch.length ? scratch : Buffer.allocUnsafe(most)
  let end = bytes.write(lengths)
  for (const part of [link, title, snippet, source, displayedLink, matched])
    if (part !== null) end += bytes.write(part, end)
  return headOf(hash('sha1', bytes.subarray(0, end), 'binary'), 52)
}

/** A text that is looked for, and what was found or added of it. */
interface WantedText<Entry> {
  readonly text: string
  readonly hash: number
  entry: Entry | undefined
}

type WantedTexts<Entry> = ReadonlyMap<string, WantedText<Entry>>

/** The hashes of those that were not found. */
function hashesOf(wanted: WantedTexts<unknown>): readonly number[] {
  const hashes: number[] = []
  for (const { hash, entry } of wanted.values()) if (entry === undefined) hashes.push(hash)
  return hashes
}

/** Makes a lookup of entries: from memory; all others are found or added together. What is added is remembered once it returns, as most never does. */
function lookup<Entry extends number | Link>(
  known: QuickLRU<string, Entry>,
  find: (wanted: WantedTexts<Entry>) => void,
  add: (wanted: WantedTexts<Entry>) => void,
): (texts: readonly (string | null)[]) => readonly (Entry | null)[] {
  const recall = (text: string): Entry | undefined =>
    text.length <= longestRemembered ? known.get(text) : undefined
  return (texts) => {
    const wanted = new Map<string, WantedText<Entry>>()
    const entries: (Entry | WantedText<Entry> | null)[] = []
    for (const any of texts) {
      const text = any === null ? null : any.toWellFormed()
      const known = text === null ? null : (recall(text) ?? wanted.get(text))
      entries.push(known ?? null)
      if (text === null || known !== undefined) continue
      const missing = { text, hash: hashOf(text), entry: undefined }
      wanted.set(text, missing)
      entries[entries.length - 1] = missing
    }
    if (wanted.size === 0) return entries as (Entry | null)[]
    find(wanted)
    for (const { text, entry } of wanted.values())
      if (entry !== undefined && text.length <= longestRemembered) known.set(text, entry)
    add(wanted)
    return entries.map(entryOf<Entry>)
  }
}

function entryOf<Entry>(one: Entry | WantedText<Entry> | null): Entry | null {
  return typeof one === 'object' && one !== null && 'entry' in one ? (one.entry as Entry) : one
}

/** A hash of 48 bits, which SQLite stores in six bytes and JavaScript holds exactly. Texts with equal hashes are compared. */
function hashOf(text: string): number {
  return headOf(hash('md5', text, 'binary'), 48)
}

/** The first bits of a hash, as a number. Its bytes are the characters of a text: to read the number from hexadecimal digits takes half as long again. */
function headOf(bytes: string, bits: 48 | 52): number {
  const high = (bytes.charCodeAt(0) << 16) | (bytes.charCodeAt(1) << 8) | bytes.charCodeAt(2)
  const low = (bytes.charCodeAt(3) << 16) | (bytes.charCodeAt(4) << 8) | bytes.charCodeAt(5)
  const head = high * 2 ** 24 + low
  return bits === 48 ? head : head * 16 + (bytes.charCodeAt(6) >> 4)
}

/** By which texts and what results say are told apart. */
export const checksums = {
  ofText: hashOf,
  ofItem: itemHash,
  size: sizeOf,
}
