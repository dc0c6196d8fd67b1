/** Counts the sources: files, lines, folders, statements in SQL, and the tests. `npm run count-house`. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * A text in the code that begins as a statement does, whether SQLite is given it as it is or in Drizzle's `sql`. Parts of
 * statements begin otherwise: a condition, a subquery in parentheses. Definitions (CREATE) and pragmas are left out.
 */
const statement = /(sql(?:<[^`]*>)?)?['"`]\s*(?:SELECT|INSERT|REPLACE|UPDATE|DELETE|WITH)\s/g

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const sources = read('src')
const tests = read('test')
const sizes = sources.map(({ lines }) => lines).sort((a, b) => a - b)
const largest = sources.find(({ lines }) => lines === sizes.at(-1))
const widest = ['src', ...new Set(sources.map(({ path }) => dirname(path)))]
  .map((folder) => ({ folder, entries: readdirSync(folder).length }))
  .sort((a, b) => b.entries - a.entries)[0]
const statements = sources.flatMap(({ text }) => [...text.matchAll(statement)])

print('files in src', sources.length)
print('lines in src', sum(sizes))
print('largest', `${largest.lines} (${largest.path})`)
print('median', sizes[Math.floor(sizes.length / 2)])
print('widest folder', `${widest.entries} entries (${widest.folder})`)
print('files that import drizzle-orm', sources.filter(({ text }) => /from 'drizzle-orm/.test(text)).length)
print(
  'statements in SQL',
  `${statements.length}, ${statements.filter(([, sql]) => sql).length} of them in sql\`\``,
)
print('files in test', tests.length)
print('lines in test', sum(tests.map(({ lines }) => lines)))

function read(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(path, 'utf8')
      return { path, text, lines: text.split('\n').length - 1 }
    })
}

function sum(numbers) {
  return numbers.reduce((all, one) => all + one, 0)
}

function print(name, value) {
  process.stdout.write(`${name.padEnd(30)} ${value}\n`)
}
