import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Folder -> what it may import beside itself; `store/<name>` is a port alone. Small files at the top are named like folders. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  words: [],
  version: [],
  'text-width': [],
  terminal: ['text-width'],
  config: ['errors', 'model', 'words'],
  arguments: ['errors'],
  model: [],
  catalog: ['model', 'errors'],
  plan: ['model', 'catalog'],
  rank: ['model'],
  ledger: ['model'],
  jobfile: ['model', 'catalog', 'errors', 'words'],
  api: ['model', 'catalog'],
  store: ['model', 'plan', 'rank', 'errors'],
  run: [
    'model',
    'catalog',
    'rank',
    'api',
    'store/store',
    'store/ledger',
    'store/calls',
    'store/answers',
    'store/history',
    'store/answer-rows',
    'store/packing',
    'errors',
    'words',
  ],
  xlsx: [],
  report: [
    'model',
    'rank',
    'store/rows',
    'store/tracking',
    'xlsx',
    'errors',
    'words',
    'terminal',
    'text-width',
  ],
  sandbox: ['model', 'catalog', 'errors'],
  actions: [
    'model',
    'catalog',
    'plan',
    'jobfile',
    'ledger',
    'api',
    'store',
    'run',
    'report',
    'sandbox',
    'thread',
    'errors',
    'words',
    'terminal',
    'config',
    'version',
  ],
  thread: ['errors'],
  'store-thread': ['actions', 'run', 'store', 'thread'],
  'keeper-thread': ['actions', 'run', 'thread'],
  commands: ['actions', 'config', 'terminal'],
  mistyped: ['commands', 'words'],
  'open-terminal': ['config', 'errors', 'terminal'],
  cli: ['arguments', 'commands', 'errors', 'mistyped', 'open-terminal', 'terminal', 'version'],
  start: ['cli'],
}

/** Package -> the only files that may use it. */
const owners: Readonly<Record<string, RegExp>> = {
  undici: /^api\//,
  'p-queue': /^run\//,
  'better-sqlite3': /^store\/sqlite\//,
  'drizzle-orm': /^store\/sqlite\//,
  'csv-parse': /^jobfile\//,
  'csv-stringify': /^report\//,
  'hyparquet-writer': /^report\//,
  yaml: /^jobfile\//,
  zod: /^jobfile\//,
  croner: /^model\/cron\.ts$/,
  tldts: /^model\/link\.ts$/,
  yargs: /^(cli\.ts|commands\/)/,
  'string-width': /^text-width\.ts$/,
}

/** What only these files may touch. */
const effects: readonly (readonly [effect: RegExp, RegExp])[] = [
  [/\bprocess\.env\b/, /^config\.ts$/],
  [/\bprocess\.(exit\b|exitCode|stdout|stderr)/, /^(cli|open-terminal|config|actions\/interrupts)\.ts$/],
  [/\bconsole\./, /^$/],
]

interface SourceFile {
  readonly name: string
  readonly text: string
  readonly imports: readonly string[]
}

const files: readonly SourceFile[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    const text = readFileSync(join(src, name), 'utf8')
    const imports = [...text.matchAll(/(?<!')(?:\bfrom|\bimport\(|\bimport|\.url\)\()\s*'([^']+)'/g)].map(
      (match) => match[1] ?? '',
    )
    return { name, text, imports }
  })

/** The part of the program that a file belongs to: its folder, or its own name at the top. */
function partOf(name: string): string {
  return name.includes('/') ? (name.split('/')[0] as string) : name.replace(/\.ts$/, '')
}

function local({ name, imports }: SourceFile): readonly string[] {
  return imports
    .filter((path) => path.startsWith('.') && path.endsWith('.ts'))
    .map((path) => relative(src, join(src, dirname(name), path)))
}

test('the sources were found, and every part of the program has its place in the table', () => {
  expect(files.length).toBeGreaterThan(100)
  expect([...new Set(files.map(({ name }) => partOf(name)))].sort()).toEqual(Object.keys(mayImport).sort())
})

test('imports point one way', () => {
  const wrong = files.flatMap((file) => {
    const allowed = mayImport[partOf(file.name)] ?? []
    const fits = (path: string): boolean =>
      partOf(path) === partOf(file.name) ||
      allowed.some((one) => path === `${one}.ts` || path.startsWith(`${one}/`))
    return local(file)
      .filter((path) => !fits(path))
      .map((path) => `${file.name} imports ${path}`)
  })
  expect(wrong).toEqual([])
})

test('what runs in a browser takes from reports and the model alone, and nothing of Node', () => {
  const byName = new Map(files.map((file) => [file.name, file]))
  const reached = new Set<string>()
  const walk = (file: SourceFile): void => {
    if (reached.has(file.name)) return
    reached.add(file.name)
    for (const name of local(file)) walk(byName.get(name) as SourceFile)
  }
  for (const file of files) if (file.name.startsWith('report/page/client/')) walk(file)
  expect(reached.size).toBeGreaterThan(50)
  const wrong = [...reached].flatMap((name) => {
    const { imports } = byName.get(name) as SourceFile
    const packages = imports.filter((path) => !path.startsWith('.'))
    return /^(report|model)\//.test(name) ? packages.map((path) => `${name} uses ${path}`) : [name]
  })
  expect(wrong).toEqual([])
})

test('each package is used in its one place', () => {
  const wrong = files.flatMap(({ name, imports }) =>
    imports
      .filter((path) => !path.endsWith('/package.json'))
      .map((path) => Object.keys(owners).find((owner) => path === owner || path.startsWith(`${owner}/`)))
      .filter((owner) => owner !== undefined && !owners[owner]?.test(name))
      .map((owner) => `${name} uses ${owner}`),
  )
  expect(wrong).toEqual([])
})

test('no module imports itself in a circle', () => {
  const graph = new Map(files.map((file) => [file.name, local(file)]))
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' -> '))
    if (done.has(name) || path.includes(name)) return
    for (const next of graph.get(name) ?? []) walk(next, [...path, name])
    done.add(name)
  }
  for (const { name } of files) walk(name, [])
  expect(circles).toEqual([])
})

test('environment, exit code and output are touched at the edge only', () => {
  const wrong = effects.flatMap(([effect, allowed]) =>
    files
      .filter(({ name, text }) => effect.test(text) && !allowed.test(name))
      .map(({ name }) => `${name}: ${effect}`),
  )
  expect(wrong).toEqual([])
})
