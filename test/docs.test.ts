import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { operations } from '../src/catalog/index.ts'
import { commands } from '../src/cli/commands/index.ts'
import { reportCommand } from '../src/cli/commands/report/report-command.ts'
import { type ExportColumn, exportKinds, tableKey } from '../src/export/kinds.ts'
import { jobFileJsonSchema } from '../src/jobfile/schema.ts'
import { workspaceJsonSchema } from '../src/jobfile/workspace.ts'
import { exitCodes } from '../src/model/run.ts'
import { reportFormats } from '../src/report/formats/index.ts'
import { columnTypes } from '../src/store/postgres/export/cells.ts'

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')

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

describe('README', () => {
  test('names every operation as the catalog has it', () => {
    const rows = operations.flatMap((one) => {
      if (!one.billable) return []
      const pageSize = one.paging === null ? 'one page' : String(one.paging.pageSize ?? 'not documented')
      const params = Object.keys(one.params).join(', ')
      return `| \`${one.name}\` | ${one.cost} | ${one.styles.join(', ')} | ${pageSize} | ${params} | ${one.title} |`
    })
    expect(tableRows('README.md', 'operations')).toEqual(rows)
  })

  test('explains every exit code of a run', () => {
    const codes = tableAfter('| code | meaning | next |').flatMap(
      (row) => row.split('|')[1]?.split(',') ?? [],
    )
    for (const code of new Set(Object.values(exitCodes))) expect(codes.map(Number)).toContain(code)
  })

  test('shows only commands that exist', () => {
    const known = commands.map(({ usage }) => usage.split(' ')[0])
    const text = read('README.md')
    const blocks = [...text.matchAll(/```sh\n[\s\S]*?```/g)].join('\n')
    const named = [...blocks.matchAll(/^rankline ([a-z]+)/gm), ...text.matchAll(/`rankline ([a-z]+)/g)]
    expect(named.length).toBeGreaterThan(10)
    for (const [, name] of named) expect(known).toContain(name)
  })
})

function tableAfter(head: string): readonly string[] {
  const lines = read('README.md').split('\n')
  const start = lines.indexOf(head) + 2
  return lines.slice(start, lines.indexOf('', start))
}

describe('docs/exports', () => {
  test('names every column of every kind with its type', () => {
    const types = { text: 'STRING', integer: 'INT32', long: 'INT64', instant: 'TIMESTAMP', json: 'STRING' }
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
  expect(told).toEqual(Object.keys(reportFormats))
  const { help } = reportCommand.flags.format
  expect(help.replace(' [table]', '').split(/, | or /)).toEqual(Object.keys(reportFormats))
})

test('every example in YAML can be read', () => {
  const pages = readdirSync(fileURLToPath(new URL('../docs', import.meta.url))).filter((name) =>
    name.endsWith('.md'),
  )
  const examples = ['README.md', 'jobs/README.md', ...pages.map((name) => `docs/${name}`)].flatMap((path) =>
    [...read(path).matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => ({ path, text })),
  )
  expect(examples.length).toBeGreaterThan(10)
  const mistakes = examples.flatMap(({ path, text }) =>
    parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => `${path}: ${message}`)),
  )
  expect(mistakes).toEqual([])
})
