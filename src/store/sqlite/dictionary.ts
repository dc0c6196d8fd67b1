import { hash } from 'node:crypto'
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

/** Between this many and twice as many are remembered: those that came last. */
const remembered = 25_000
/** Longer ones are looked up each time, for so many of them would fill the memory. */
const longestRemembered = 4096

/** The dictionary of a database; to be called inside transactions only. */
export function dictionary(db: Database): Dictionary {
  const texts = memory()
  const links = memory()
  const hosts = memory()
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
    texts.recall(text, () => {
      const digest = hashOf(text)
      return findText.get(digest, text)?.id ?? Number(addText.run(digest, text).lastInsertRowid)
    })

  const hostId = (host: string): number =>
    hosts.recall(
      host,
      () => findHost.get(host)?.id ?? Number(addHost.run(host, siteOf(host)).lastInsertRowid),
    )

  const linkId = (link: string): number =>
    links.recall(link, () => {
      const digest = hashOf(link)
      const found = findLink.get(digest, link)
      if (found !== undefined) return found.id
      const parsed = parseLink(link)
      const sameAs = parsed === null || parsed.canonical === link ? null : linkId(parsed.canonical)
      const host = parsed === null || parsed.host === '' ? null : hostId(parsed.host)
      return Number(addLink.run(digest, link, sameAs, host).lastInsertRowid)
    })

  return {
    textId: (text) => (text === null ? null : textId(text.toWellFormed())),
    linkId: (link) => (link === null ? null : linkId(link.toWellFormed())),
    forget: () => {
      texts.forget()
      links.forget()
      hosts.forget()
    },
  }
}

interface Memory {
  /** The number of a text, which is found where it is not remembered. */
  recall(text: string, find: () => number): number
  forget(): void
}

/** Remembers in two generations: what was not asked for in the younger one's time is forgotten with the older one. */
function memory(): Memory {
  let [young, old] = [new Map<string, number>(), new Map<string, number>()]
  const remember = (text: string, id: number): void => {
    if (young.size >= remembered) [young, old] = [new Map(), young]
    young.set(text, id)
  }
  return {
    recall: (text, find) => {
      const known = young.get(text)
      if (known !== undefined) return known
      const id = old.get(text) ?? find()
      if (text.length <= longestRemembered) remember(text, id)
      return id
    },
    forget: () => {
      young = new Map()
      old = new Map()
    },
  }
}

/** 48 bits: what SQLite stores in six bytes and JavaScript holds exactly. Equal hashes are told apart by the text. */
export function hashOf(text: string): number {
  return Number.parseInt(hash('md5', text, 'hex').slice(0, 12), 16)
}
