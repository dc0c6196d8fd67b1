import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))

/** What a report as a page works with, where it is shown. */
const entries = [
  'report/history/filter-history.ts',
  'report/data.ts',
  'report/summary.ts',
  'report/headline.ts',
  'report/daily.ts',
  'report/ctr.ts',
  ...readdirSync(join(src, 'report/metrics')).map((name) => `report/metrics/${name}`),
]

test('metrics need neither node nor a package, nor anything that does', () => {
  const foreign: string[] = []
  const done = new Set<string>()
  const walk = (name: string): void => {
    if (done.has(name)) return
    done.add(name)
    const text = readFileSync(join(src, name), 'utf8')
    // What is imported as a type alone is gone when the page is built.
    for (const [, path = ''] of text.matchAll(/^(?:import|export) (?!type )[^']*?from '([^']+)'/gm))
      if (path.startsWith('.')) walk(relative(src, join(src, dirname(name), path)))
      else foreign.push(`${name} imports ${path}`)
  }
  entries.forEach(walk)
  expect(done.size).toBeGreaterThan(15)
  expect(foreign).toEqual([])
})
