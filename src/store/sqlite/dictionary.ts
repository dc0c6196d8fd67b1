import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { siteOf } from '../../model/link.ts'
import { parseLink } from '../../model/url.ts'

/** Text and links that come back every day are stored once and named by a number. */
export interface Dictionary {
  textId(text: string | null): number | null
  linkId(link: string | null): number | null
  /** Forgets what it remembers, after a rollback. */
  forget(): void
}

const remembered = 20_000
/** Longer ones are looked up each time, for so many of them would fill the memory. */
const longestRemembered = 4096

/** The dictionary of a database; to be called inside transactions only. */
export function dictionary(db: Database): Dictionary {
  const texts = new Map<string, number>()
  const links = new Map<string, number>()
  const hosts = new Map<string, number>()
  const findText = db.prepare<[number, string], { id: number }>(
    'SELECT id FROM texts WHERE hash = ? AND text = ?',
  )
  const addText = db.prepare<[number, string]>('INSERT INTO texts (hash, text) VALUES (?, ?)')
  const findLink = db.prepare<[number, string], { id: number }>(
    'SELECT id FROM links WHERE hash = ? AND link = ?',
  )
  const addLink = db.prepare<[number, string, number | null, number | null]>(
    'INSERT INTO links (hash, link, same_as, host_id) VALUES (?, ?, ?, ?)',
  )
  const findHost = db.prepare<[string], { id: number }>('SELECT id FROM hosts WHERE host = ?')
  const addHost = db.prepare<[string, string | null]>('INSERT INTO hosts (host, site) VALUES (?, ?)')

  const textId = (text: string): number =>
    recall(texts, text, () => {
      const hash = hashOf(text)
      return findText.get(hash, text)?.id ?? Number(addText.run(hash, text).lastInsertRowid)
    })

  const hostId = (host: string): number =>
    recall(
      hosts,
      host,
      () => findHost.get(host)?.id ?? Number(addHost.run(host, siteOf(host)).lastInsertRowid),
    )

  const linkId = (link: string): number =>
    recall(links, link, () => {
      const hash = hashOf(link)
      const found = findLink.get(hash, link)
      if (found !== undefined) return found.id
      const parsed = parseLink(link)
      const sameAs = parsed === null || parsed.canonical === link ? null : linkId(parsed.canonical)
      const host = parsed === null || parsed.host === '' ? null : hostId(parsed.host)
      return Number(addLink.run(hash, link, sameAs, host).lastInsertRowid)
    })

  return {
    textId: (text) => (text === null ? null : textId(text.toWellFormed())),
    linkId: (link) => (link === null ? null : linkId(link.toWellFormed())),
    forget: () => {
      texts.clear()
      links.clear()
      hosts.clear()
    },
  }
}

function recall<T>(memory: Map<string, T>, key: string, find: () => T): T {
  const known = memory.get(key)
  if (known !== undefined) return known
  const found = find()
  if (key.length > longestRemembered) return found
  if (memory.size >= remembered) memory.clear()
  memory.set(key, found)
  return found
}

/** 48 bits: what SQLite stores in six bytes and JavaScript holds exactly. Equal hashes are told apart by the text. */
export function hashOf(text: string): number {
  return createHash('md5').update(text).digest().readUIntBE(0, 6)
}
