import { execFileSync, spawnSync } from 'node:child_process'
import { noon, type TempStore } from './build.ts'

const installed = spawnSync('sqlite3', ['--version']).status === 0

/** Rows as anybody reads them: with the plain sqlite3 program where it is installed. */
export function rowsOf({ path, sql }: TempStore, query: string): readonly Record<string, unknown>[] {
  if (!installed) return sql(query)
  // Whatever the time zone of whoever reads.
  const env = { ...process.env, TZ: 'America/New_York' }
  // Rows of a program that is explained are rows like any other.
  const asked = ['-readonly', '-json', path, '.explain off', query]
  const said = execFileSync('sqlite3', asked, { encoding: 'utf8', env })
  return said === '' ? [] : JSON.parse(said)
}

export const iso = new Date(noon).toISOString()
