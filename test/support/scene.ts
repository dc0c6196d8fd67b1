import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** What the database of a killed process says. */
export interface Scene {
  /** Ids of the calls in the air. */
  readonly inTheAir: readonly number[]
  /** Those of them that cost something. */
  readonly billableInTheAir: number
  /** Ids of the calls that a later process marked ambiguous. */
  readonly ambiguous: readonly number[]
  readonly calls: number
  readonly tasks: { readonly open: number; readonly answered: number; readonly settled: number }
  readonly finished: boolean
}

const nothing: Scene = {
  inTheAir: [],
  billableInTheAir: 0,
  ambiguous: [],
  calls: 0,
  tasks: { open: 0, answered: 0, settled: 0 },
  finished: false,
}

/**
 * Reads a copy of what a killed process left: opening the files themselves would put them right, and the next
 * process is the one that has to.
 */
export async function readScene(folder: string): Promise<Scene> {
  const copies = await mkdtemp(join(tmpdir(), 'rankline-scene-'))
  try {
    const files = (await readdir(folder)).filter((name) => /^rankline\.db(-wal|-journal)?$/.test(name))
    for (const name of files) await cp(join(folder, name), join(copies, name))
    return files.length === 0 ? nothing : read(join(copies, 'rankline.db'))
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

function read(path: string): Scene {
  const db = new Database(path)
  const all = <T>(query: string): readonly T[] => db.prepare<[], T>(query).all()
  const count = (query: string): number => Number(db.prepare(query).pluck().get())
  try {
    if (count("SELECT count(*) FROM sqlite_schema WHERE name IN ('calls', 'tasks', 'runs')") < 3)
      return nothing
    const calls = all<{ id: number; outcome: string | null; credits: number }>(
      'SELECT call_id AS id, outcome, credits FROM calls ORDER BY 1',
    )
    const inTheAir = calls.filter(({ outcome }) => outcome === null)
    return {
      inTheAir: inTheAir.map(({ id }) => id),
      billableInTheAir: inTheAir.filter(({ credits }) => credits > 0).length,
      ambiguous: calls.filter(({ outcome }) => outcome === 'ambiguous').map(({ id }) => id),
      calls: calls.length,
      tasks: {
        open: count("SELECT count(*) FROM tasks WHERE state IN ('pending', 'sent', 'accepted')"),
        answered: count("SELECT count(*) FROM tasks WHERE state = 'answered'"),
        settled: count("SELECT count(*) FROM tasks WHERE state IN ('done', 'failed', 'skipped')"),
      },
      finished:
        count('SELECT count(*) FROM runs') > 0 &&
        count("SELECT count(*) FROM runs WHERE finish_reason IS NOT 'completed'") === 0,
    }
  } finally {
    db.close()
  }
}
