import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { operations } from '../src/catalog/index.ts'
import { formatArguments } from '../src/cli/arguments.ts'
import { reportCommand } from '../src/cli/commands/report/report-command.ts'
import { type ExportColumn, exportKinds, importedKinds, tableKey } from '../src/export/export.ts'
import { jobFileJsonSchema, workspaceJsonSchema } from '../src/jobfile/json-schema.ts'
import { columnTypes } from '../src/machines/postgres/export.ts'
import { exitCodes } from '../src/model/run.ts'

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')

const pages = readdirSync(fileURLToPath(new URL('../docs', import.meta.url))).filter((name) =>
  name.endsWith('.md'),
)

/** The rows of the table that stands between two comments of that name. */
function tableRows(path: string, name: string): readonly string[] {
  const [, table = ''] =
    read(path).match(new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)\n<!-- /${name} -->`)) ?? []
  return table.split('\n').slice(2)
}

interface SchemaPart {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly items?: { readonly anyOf?: readonly SchemaPart[] }
}

const schema = jobFileJsonSchema() as SchemaPart & { readonly properties: Record<string, SchemaPart> }

function keyRows(properties: Readonly<Record<string, SchemaPart>>): readonly string[] {
  return Object.entries(properties).map(([key, { description }]) => `| \`${key}\` | ${description} |`)
}

test('docs/operations names every operation as the catalog has it', () => {
  const rows = operations.flatMap((one) => {
    if (!one.billable) return []
    const pageSize = one.paging === null ? 'one page' : String(one.paging.pageSize ?? 'not documented')
    const params = Object.keys(one.params).join(', ')
    return `| \`${one.name}\` | ${one.cost} | ${one.styles.join(', ')} | ${pageSize} | ${params} | ${one.title} |`
  })
  expect(tableRows('docs/operations.md', 'operations')).toEqual(rows)
})

test('docs/cron explains every exit code of a run', () => {
  const codes = tableAfter('docs/cron.md', '| code | meaning | next |').flatMap(
    (row) => row.split('|')[1]?.split(',') ?? [],
  )
  for (const code of new Set(Object.values(exitCodes))) expect(codes.map(Number)).toContain(code)
})

function tableAfter(path: string, head: string): readonly string[] {
  const lines = read(path).split('\n')
  const start = lines.indexOf(head) + 2
  return lines.slice(start, lines.indexOf('', start))
}

describe('README', () => {
  test('can be read in one go: 1,200 to 1,500 words', () => {
    const words = read('README.md').trim().split(/\s+/).length
    expect(words).toBeGreaterThanOrEqual(1_200)
    expect(words).toBeLessThanOrEqual(1_500)
  })
})

describe('docs/README', () => {
  test('names every page', () => {
    const named = [...read('docs/README.md').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name)
    expect(pages.filter((name) => name !== 'README.md' && !named.includes(name))).toEqual([])
  })
})

describe('docs/messages', () => {
  const source = readdirSync(fileURLToPath(new URL('../src', import.meta.url)), { recursive: true })
    .filter((name): name is string => typeof name === 'string' && name.endsWith('.ts'))
    .map((name) => read(`src/${name}`))
    .join('\n')
  const tables = [...read('docs/messages.md').matchAll(/<!-- sentences -->\n(.*?)<!-- \/sentences -->/gs)]
  const sentences = tables.flatMap(([, table = '']) =>
    [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, sentence = '']) => sentence),
  )

  test('explains sentences of every place', () => {
    expect(sentences.length).toBeGreaterThan(80)
  })

  test.each(sentences)('%s: is a sentence that the program says', (sentence) => {
    const missing = sentence.split('…').filter((part) => !source.includes(part.trim()))
    expect(missing).toEqual([])
  })

  const common = [
    ...told('collect/stop', /^(?:Stopped|The service|\$\{name\}) /),
    ...told('collect/account', /^(?:The|Insufficient) /),
    ...told('run/config', /^The (?:API key|key file|address|base URL) /),
    ...told('cli/progress', /^(?:completed|stopped|interrupted|crashed|ended by a crash)/),
  ]

  test('explains how runs stop, and what is wrong with key and address', () => {
    expect(common.length).toBeGreaterThan(30)
    const isIn = (text: string) => (sentence: string) => {
      const parts = sentence.split('…').map((part) => part.trim())
      return (
        parts.some((part) => part.includes(' ') || part === text) &&
        parts.every((part) => text.includes(part))
      )
    }
    const unexplained = common.filter((text) => text !== 'completed' && !sentences.some(isIn(text)))
    expect(unexplained).toEqual([])
  })

  /** The texts of a file of the source that begin so. */
  function told(file: string, beginning: RegExp): readonly string[] {
    const code = read(`src/${file}.ts`).replace(/\/\*\*.*?\*\//gs, '')
    return [...code.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)]
      .map(([, template, plain]) => template ?? plain ?? '')
      .filter((text) => beginning.test(text))
  }
})

test('every link of the docs leads to a page and a heading', () => {
  const dead = ['README.md', 'jobs/README.md', ...pages.map((name) => `docs/${name}`)].flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, to = '', heading]) => {
        const target = to === '' ? path : join(dirname(path), to)
        const isThere = existsSync(fileURLToPath(new URL(`../${target}`, import.meta.url)))
        return !isThere || (heading !== undefined && !anchors(read(target)).includes(heading))
      })
      .map(([link]) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

/** The headings of a page as GitHub names them. */
function anchors(page: string): readonly string[] {
  return [...page.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('docs/exports', () => {
  test('names every column of every kind with its type', () => {
    const types = {
      text: 'STRING',
      integer: 'INT32',
      long: 'INT64',
      decimal: 'DOUBLE',
      instant: 'TIMESTAMP',
      json: 'STRING',
    }
    const row = (kind: string, { name, type, meaning }: ExportColumn) =>
      `| ${kind} | \`${name}\` | ${types[type]} | ${columnTypes[type]} | ${meaning} |`
    const shared = exportKinds.organic.columns.filter((column) =>
      exportKinds.related.columns.includes(column),
    )
    const own = Object.entries(exportKinds).flatMap(([kind, { columns }]) =>
      columns
        .filter((column) => !shared.includes(column) && column.name !== 'params')
        .map((column) => row(kind, column)),
    )
    expect(tableRows('docs/exports.md', 'columns')).toEqual([
      ...shared.map((column) => row('all', column)),
      ...own,
    ])
    expect(tableRows('docs/exports.md', 'imported')).toEqual(
      Object.entries(importedKinds).flatMap(([kind, { columns }]) =>
        columns.map((column) => row(kind, column)),
      ),
    )
    for (const { name, type, meaning } of tableKey('organic').columns)
      expect(read('docs/exports.md')).toContain(`| \`${name}\` | ${columnTypes[type]} | ${meaning} |`)
  })
})

describe('jobs/README', () => {
  test('explains every setting as the schema of job files does', () => {
    expect(tableRows('jobs/README.md', 'settings')).toEqual(keyRows(schema.properties))
  })

  test('explains every key of a query as the schema of job files does', () => {
    const query = schema.properties.queries?.items?.anyOf?.find(
      (part) => part.properties?.query !== undefined,
    )
    expect(tableRows('jobs/README.md', 'queries')).toEqual(keyRows(query?.properties ?? {}))
  })

  test('is accompanied by the JSON Schema of job files', async () => {
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../jobs/job.schema.json')
  })
})

describe('docs/workspace', () => {
  const workspace = workspaceJsonSchema() as typeof schema

  test('explains every key of rankline.yaml as its schema does', () => {
    expect(tableRows('docs/workspace.md', 'workspace')).toEqual(keyRows(workspace.properties))
  })

  test('is accompanied by the JSON Schema of rankline.yaml', async () => {
    await expect(`${JSON.stringify(workspace, null, 2)}\n`).toMatchFileSnapshot(
      '../jobs/workspace.schema.json',
    )
  })
})

test('the forms of a report are all told, in their order, in the docs and in the help', () => {
  const told = tableRows('docs/report-formats.md', 'forms').map((row) => row.match(/^\| `(\w+)`/)?.[1])
  expect(told).toEqual(Object.keys(formatArguments.ofReports))
  const { help } = reportCommand.flags.format
  expect(help.replace(' [table]', '').split(/, | or /)).toEqual(Object.keys(formatArguments.ofReports))
})

test('every example in YAML can be read', () => {
  const examples = ['README.md', 'jobs/README.md', ...pages.map((name) => `docs/${name}`)].flatMap((path) =>
    [...read(path).matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => ({ path, text })),
  )
  expect(examples.length).toBeGreaterThan(10)
  const mistakes = examples.flatMap(({ path, text }) =>
    parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => `${path}: ${message}`)),
  )
  expect(mistakes).toEqual([])
})
