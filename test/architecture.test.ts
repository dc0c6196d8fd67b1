import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** What only these files may touch. */
const effects: readonly (readonly [effect: RegExp, RegExp])[] = [
  [/\bprocess\.env\b/, /^run\/config\.ts$/],
  [/\bprocess\.(exit\b|exitCode|stdout|stderr)/, /^(run\/config|cli\/(start|terminal|interrupts))\.ts$/],
  [/\bconsole\./, /^$/],
]

interface SourceFile {
  readonly name: string
  readonly text: string
  readonly imports: readonly Import[]
}

interface Import {
  readonly path: string
  /** Only its types are used: nothing is loaded. */
  readonly isType: boolean
}

const files: readonly SourceFile[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    const text = readFileSync(join(src, name), 'utf8')
    const imports = [
      ...text.matchAll(
        /(?<!')(?:\b(import|export)( type)?[^'()]*?\bfrom|\bimport\(|\bimport|\brequire\(|\.url\)\()\s*'([^']+)'/g,
      ),
    ].map((match) => ({ path: match[3] ?? '', isType: match[2] !== undefined }))
    return { name, text, imports }
  })

/** The rows of the table under a heading of the page, each as its cells. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

function quoted(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
}

interface Part {
  readonly folder: string
  readonly mayImport: readonly string[]
  /** Folders from which only types may be imported. */
  readonly mayImportTypes: readonly string[]
  readonly packages: readonly string[]
}

const parts: readonly Part[] = tableUnder('Imports').map(([folder, may = '', packages = '']) => ({
  folder: quoted(folder)[0] as string,
  mayImport: quoted(may.replaceAll(/`[^`]+` \(types\)/g, '')),
  mayImportTypes: quoted(may.match(/`[^`]+` \(types\)/g)?.join(' ')),
  packages: packages.split(/[ ,·]+/).filter((name) => name !== ''),
}))

/** The row of the import table that a file belongs to: that of its nearest folder. */
function partOf(name: string): Part | undefined {
  const fitting = parts.filter(({ folder }) => name.startsWith(`${folder}/`))
  return fitting.sort((a, b) => b.folder.length - a.folder.length)[0]
}

function local({ name, imports }: SourceFile): readonly Import[] {
  return imports
    .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
    .map(({ path, isType }) => ({ path: relative(src, join(src, dirname(name), path)), isType }))
}

test('the page lists every folder', () => {
  const folders = [...new Set(files.map(({ name }) => dirname(name)))].sort()
  const listed = tableUnder('Folders').map(([folder]) => quoted(folder)[0])
  expect(folders.length).toBeGreaterThan(30)
  expect([...listed].sort()).toEqual(folders)
})

test('a file has at most 600 lines', () => {
  const long = files.filter(({ text }) => text.split('\n').length > 601).map(({ name }) => name)
  expect(long).toEqual([])
})

test('flags, as a person types them, end in cli: below it options have names', () => {
  // A parameter or a property of that name with its type, a type, an option read by the name that is typed.
  const ofFlags =
    /\b\w*[Ff]lags?\??: (?:[A-Z{]|string|boolean|readonly)|\b(?:interface|type) \w*Flags?\b|\boptions\['[a-z]+-/
  const below = files.filter(({ name }) => !name.startsWith('cli/'))
  expect(below.length).toBeGreaterThan(200)
  expect(below.filter(({ text }) => ofFlags.test(text)).map(({ name }) => name)).toEqual([])
})

test('objects are written out, not packed', () => {
  const packed = files.filter(({ text }) => text.includes('...{')).map(({ name }) => name)
  expect(packed).toEqual([])
})

test('a type has a name of its own', () => {
  const places = new Map<string, string[]>()
  for (const { name, text } of files)
    for (const match of text.matchAll(/^\s*(?:export )?(?:interface (\w+)|type (\w+)(?:<[^=]*>)? =)/gm)) {
      const type = match[1] ?? (match[2] as string)
      places.set(type, [...(places.get(type) ?? []), name])
    }
  expect(places.size).toBeGreaterThan(200)
  expect([...places].filter(([, names]) => names.length > 1)).toEqual([])
})

test('files that the page names are there', () => {
  const named = [...page.matchAll(/`([a-z][a-z/-]*\/[a-z-]+)(\.[a-z]+)?`/g)].map(
    (match) => match[1] as string,
  )
  const isThere = (path: string): boolean =>
    [`${path}.ts`, path].some((one) => existsSync(join(src, one))) ||
    /^(test|docs|scripts|bench)\//.test(path)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !isThere(path))).toEqual([])
})

test('what is looked for stands where the page says', () => {
  const rows = tableUnder('Where is …')
  expect(rows.length).toBeGreaterThan(14)
  const wrong = rows.flatMap(([question, place = '', names = '']) => {
    const links = [...place.matchAll(/\]\(\.\.\/src\/([^)]+)\)/g)].map((match) => match[1])
    const found = files.filter(({ name }) => links.includes(name)).map(({ text }) => text)
    const isDeclared = (name: string): boolean =>
      found.some((text) =>
        new RegExp(`^(export )?(async )?(const|function\\*?|class) ${name}\\b`, 'm').test(text),
      )
    if (links.length === 0 || found.length < links.length) return [question]
    return quoted(names).flatMap((name) => (isDeclared(name) ? [] : [`${question} ${name}`]))
  })
  expect(wrong).toEqual([])
})

test('imports point one way', () => {
  const wrong = files.flatMap((file) => {
    const own = partOf(file.name)
    if (own === undefined) return [`${file.name} has no row in the table`]
    if (own.mayImport.length === 0 && own.folder === 'cli') return []
    const fits = ({ path, isType }: Import): boolean => {
      const other = partOf(path)
      if (other === undefined) return false
      const { folder } = other
      return (
        folder === own.folder ||
        own.mayImport.includes(folder) ||
        (isType && own.mayImportTypes.includes(folder))
      )
    }
    return local(file)
      .filter((one) => !fits(one))
      .map(({ path }) => `${file.name} imports ${path}`)
  })
  expect(wrong).toEqual([])
})

test('what runs in a browser takes from reports and the model alone, and nothing of Node', () => {
  const byName = new Map(files.map((file) => [file.name, file]))
  const reached = new Set<string>()
  const walk = (file: SourceFile): void => {
    if (reached.has(file.name)) return
    reached.add(file.name)
    for (const { path } of local(file)) walk(byName.get(path) as SourceFile)
  }
  for (const file of files) if (file.name.startsWith('page/client/')) walk(file)
  expect(reached.size).toBeGreaterThan(30)
  const wrong = [...reached].flatMap((name) => {
    const { imports } = byName.get(name) as SourceFile
    const packages = imports.filter(({ path }) => !path.startsWith('.'))
    return /^(page|report|model)\//.test(name) ? packages.map(({ path }) => `${name} uses ${path}`) : [name]
  })
  expect(wrong).toEqual([])
})

test('each package is used in its folders only', () => {
  const owners = new Map<string, readonly string[]>()
  for (const { folder, packages } of parts)
    for (const name of packages) owners.set(name, [...(owners.get(name) ?? []), folder])
  expect(owners.size).toBeGreaterThan(10)
  const wrong = files.flatMap(({ name, imports }) =>
    imports
      .filter(({ path }) => !/^(\.|node:)/.test(path) && !path.endsWith('/package.json'))
      .map(
        ({ path }) =>
          [...owners.keys()].find((owner) => path === owner || path.startsWith(`${owner}/`)) ?? path,
      )
      .filter((owner) => owners.get(owner)?.includes(partOf(name)?.folder ?? '') !== true)
      .map((owner) => `${name} uses ${owner}`),
  )
  expect(wrong).toEqual([])
})

test('no module imports itself in a circle', () => {
  const graph = new Map(files.map((file) => [file.name, local(file).map(({ path }) => path)]))
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
