import type { Database } from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { appliedMigration, newestMigration } from './applied.ts'
import { inspect, isDamage } from './inspect.ts'
import { invariants } from './invariants.ts'
import { type Found, type Summed, spoiledRows, summed } from './spoiled.ts'

/** Something that is not as it must be. */
export interface Finding {
  readonly what: string
  readonly count: number
  /** The first one, for instance `task 17`, or what SQLite says of it. */
  readonly first: string | null
}

/** What a check looked at (null where it cannot be counted), and what it found broken. */
export interface Checked {
  readonly runs: number | null
  readonly calls: number | null
  readonly answers: number | null
  /** Calls that may cost and have no end: in the air, or left by a process that died. The next run makes them ambiguous. */
  readonly openCalls: number | null
  /** Whether SQLite itself finds the file damaged. */
  readonly isDamaged: boolean
  readonly findings: readonly Finding[]
}

type Look = () => readonly Finding[]

/** Checks a database as SQLite does, and whether it says what rankline's always say; changes nothing. */
export async function checkDatabase(path: string): Promise<Checked> {
  return await inspect(path, (db) => {
    if ((appliedMigration(db) ?? 0) < newestMigration)
      throw new UsageError(
        `${path} was last written by an older rankline. Bring it up to date first: rankline db migrate`,
      )
    const count = (table: string): number | null =>
      unlessDamaged(() => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0)
    const damage = seen([() => wholeFile(db)])
    return {
      runs: count('runs_'),
      calls: count('calls_'),
      answers: count('answers_'),
      openCalls: count('calls_ WHERE outcome IS NULL AND credits > 0'),
      isDamaged: damage.length > 0,
      findings: [...damage, ...seen([...brokenInvariants(db), ...spoiled(db)])],
    }
  })
}

function seen(looks: readonly Look[]): readonly Finding[] {
  const found = looks.map(unlessDamaged)
  const findings = found.flatMap((one) => one ?? [])
  const unseen = found.filter((one) => one === null).length
  if (unseen === 0) return findings
  return [
    ...findings,
    { what: 'Checks that the damage keeps from coming to an end', count: unseen, first: null },
  ]
}

/** Null where the file cannot be read that far. */
function unlessDamaged<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (isDamage(error)) return null
    throw error
  }
}

function wholeFile(db: Database): readonly Finding[] {
  const said = complaints(db)
  if (said.length === 0) return []
  return [{ what: 'Places where SQLite finds the file damaged', count: said.length, first: said[0] ?? null }]
}

/** What SQLite finds wrong; it may give up after some, as it does where a page cannot be read at all. */
function complaints(db: Database): readonly string[] {
  const said: string[] = []
  try {
    for (const line of db.prepare<[], string>('PRAGMA integrity_check').pluck().iterate()) said.push(line)
  } catch (error) {
    if (!isDamage(error) || said.length === 0) throw error
  }
  return said.filter((line) => line !== 'ok').map((line) => line.replace('*** in database main ***\n', ''))
}

function brokenInvariants(db: Database): readonly Look[] {
  return invariants.map(({ broken, of, sql }) => () => {
    const find = db.prepare<[], Found>(`SELECT count(*) AS count, min(id) AS first FROM (${sql})`)
    return findings({ broken, of }, find.get() as Found)
  })
}

function spoiled(db: Database): readonly Look[] {
  return summed.map((one) => () => findings(one, spoiledRows(db, one)))
}

function findings(
  { broken, of }: Pick<Summed, 'broken' | 'of'>,
  { count, first }: Found,
): readonly Finding[] {
  return count === 0 ? [] : [{ what: broken, count, first: `${of} ${first}` }]
}
