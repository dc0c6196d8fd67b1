/**
 * Counts the sources: files, names, types, statements in SQL, and the tests. What has a bound is printed with it, and the script ends with 1
 * where one is not held. `npm run count-house`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * A text in the code that begins as a statement does, whether SQLite is given it as it is or in Drizzle's `sql`. Parts of
 * statements begin otherwise: a condition, a subquery in parentheses. Definitions (CREATE) and pragmas are left out.
 */
const statement = /(sql(?:<[^`]*>)?)?['"`]\s*(?:SELECT|INSERT|REPLACE|UPDATE|DELETE|WITH)\s/g

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const sources = read('src').filter(({ path }) => !path.includes('/migrations/'))
const tests = read('test')
const sizes = sources.map(({ lines }) => lines).sort((a, b) => a - b)
const largest = sources.find(({ lines }) => lines === sizes.at(-1))
const statements = sources.flatMap(({ text }) => [...text.matchAll(statement)])
const types = sources.flatMap(({ text }) =>
  [...text.matchAll(/^\s*(?:export )?(?:interface (\w+)|type (\w+)(?:<[^=]*>)? =(?=\s*\{))/gm)].map(
    ([, one, other]) => one ?? other,
  ),
)
const imports = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/^(?:import|export)(?: type)? \{([^}]*)\} from '(\.[^']+)'/gm)].map(
    ([, names, from]) => ({
      importer: path,
      from: normalize(join(dirname(path), from)),
      names: names
        .split(',')
        .map((name) =>
          name
            .replace(/^\s*type /, '')
            .split(' as ')[0]
            .trim(),
        )
        .filter((name) => name !== ''),
    }),
  ),
)
const crossing = new Set(imports.flatMap(({ from, names }) => names.map((name) => `${from} ${name}`)))
const splinters = sources.filter(({ path, lines }) => {
  const importers = new Set(imports.filter(({ from }) => from === path).map(({ importer }) => importer))
  return lines < 100 && importers.size === 1 && dirname([...importers][0]) === dirname(path)
})

bounded('files in src', sources.length, 340)
bounded('median of their lines, at least', sizes[Math.floor(sizes.length / 2)], 140, -1)
bounded('files under 100 lines with one importer, in its folder', splinters.length, 15)
bounded('names imported across files', crossing.size, 1300)
bounded('interfaces and type aliases of objects', types.length, 500)
bounded('type names declared twice', types.length - new Set(types).size, 0)
bounded('packed objects', sources.filter(({ text }) => text.includes('...{')).length, 0)
print('lines in src', sum(sizes))
print('largest file', `${largest.lines} (${largest.path})`)
print('files that import drizzle-orm', sources.filter(({ text }) => /from 'drizzle-orm/.test(text)).length)
print(
  'statements in SQL',
  `${statements.length}, ${statements.filter(([, sql]) => sql).length} of them in sql\`\``,
)
print('files in test', tests.length)
print('lines in test', sum(tests.map(({ lines }) => lines)))

function bounded(name, value, bound, sign = 1) {
  const isBroken = sign * value > sign * bound
  if (isBroken) process.exitCode = 1
  print(name, `${value} (${bound}${isBroken ? ', not held' : ''})`)
}

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
  process.stdout.write(`${name.padEnd(56)} ${value}\n`)
}
