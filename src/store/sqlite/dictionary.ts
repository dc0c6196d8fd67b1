import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { siteOf } from '../../model/link.ts'
import { type ParsedLink, parseLink } from '../../model/url.ts'
import { redirectedHost } from '../../rank/unwrap.ts'

/** Text and links that come back every day are stored once and named by a number. They are well-formed. */
export interface Dictionary {
  textId(text: string | null): number | null
  linkOf(link: string | null): Link | null
  /** Forgets what it remembers, after a rollback. */
  forget(): void
}

export interface Link {
  readonly id: number
  /** The number that it shares with all links that are equal to it after WHATWG parsing without the fragment. */
  readonly sameAs: number
}

/** Between this many characters and twice as many are remembered: those that came last. */
const remembered = { texts: 4_000_000, links: 2_000_000, hosts: 500_000 }
/** What a short text takes beside its characters. */
const perEntry = 64
/** Longer ones are looked up each time: they would drive out many that are more likely to return. */
const longestRemembered = 4096

/** The dictionary of a database; to be called inside transactions only. */
export function dictionary(db: Database): Dictionary {
  const texts = memory<number>(remembered.texts)
  const links = memory<Link>(remembered.links)
  const hosts = memory<number>(remembered.hosts)
  const findText = db.prepare<[number, string], { id: number }>(
    'SELECT id FROM texts WHERE hash = ? AND text = ?',
  )
  const addText = db.prepare<[number, string]>('INSERT INTO texts (hash, text) VALUES (?, ?)')
  const findLink = db.prepare<[number, string], Link>(
    'SELECT id, coalesce(same_as, id) AS sameAs FROM links WHERE hash = ? AND link = ?',
  )
  const addLink = db.prepare<[number, string, number | null, number | null]>(
    'INSERT INTO links (hash, link, same_as, host_id) VALUES (?, ?, ?, ?)',
  )
  const moveLink = db.prepare<[number, number, number]>(
    'UPDATE links SET host_id = ? WHERE id = ? AND host_id IS NOT ?',
  )
  const findHost = db.prepare<[string], { id: number }>('SELECT id FROM hosts WHERE host = ?')
  const addHost = db.prepare<[string, string | null]>('INSERT INTO hosts (host, site) VALUES (?, ?)')

  const textId = (text: string): number =>
    texts.recall(text, () => {
      const digest = hashOf(text)
      return findText.get(digest, text)?.id ?? Number(addText.run(digest, text).lastInsertRowid)
    })

  const hostId = (host: string): number =>
    hosts.recall(
      host,
      () => findHost.get(host)?.id ?? Number(addHost.run(host, siteOf(host)).lastInsertRowid),
    )

  const linkOf = (link: string): Link =>
    links.recall(link, () => {
      const digest = hashOf(link)
      const found = findLink.get(digest, link)
      const redirected = redirectedHost(link)
      if (found !== undefined) {
        // Stored before it was known for a redirect.
        const host = redirected === null ? null : hostId(redirected)
        if (host !== null) moveLink.run(host, found.id, host)
        return found
      }
      const parsed = parseLink(link)
      const sameAs = parsed === null || parsed.canonical === link ? null : linkOf(parsed.canonical).id
      const name = redirected ?? hostNameOf(parsed)
      const host = name === null ? null : hostId(name)
      const id = Number(addLink.run(digest, link, sameAs, host).lastInsertRowid)
      return { id, sameAs: sameAs ?? id }
    })

  return {
    textId: (text) => (text === null ? null : textId(text)),
    linkOf: (link) => (link === null ? null : linkOf(link)),
    forget: () => {
      texts.forget()
      links.forget()
      hosts.forget()
    },
  }
}

function hostNameOf(parsed: ParsedLink | null): string | null {
  return parsed === null || parsed.host === '' ? null : parsed.host
}

interface Memory<Entry> {
  /** What stands for a text, which is found where it is not remembered. */
  recall(text: string, find: () => Entry): Entry
  forget(): void
}

/**
 * Remembers in two generations of so many characters: what was not asked for in the younger one's time is forgotten with
 * the older one.
 */
function memory<Entry>(characters: number): Memory<Entry> {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let taken = 0
  const remember = (text: string, entry: Entry): void => {
    if (taken >= characters) {
      old = young
      young = new Map()
      taken = 0
    }
    young.set(text, entry)
    taken += text.length + perEntry
  }
  return {
    recall: (text, find) => {
      const known = young.get(text)
      if (known !== undefined) return known
      const entry = old.get(text) ?? find()
      if (text.length <= longestRemembered) remember(text, entry)
      return entry
    },
    forget: () => {
      young = new Map()
      old = new Map()
      taken = 0
    },
  }
}

/** 48 bits: what SQLite stores in six bytes and JavaScript holds exactly. Equal hashes are told apart by the text. */
export function hashOf(text: string): number {
  return Number.parseInt(hash('md5', text, 'hex').slice(0, 12), 16)
}
