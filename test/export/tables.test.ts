import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { exportToPostgres } from '../../src/cli/commands/report/export.ts'
import { type DeliveredKind, labelled, tableKey } from '../../src/export/export.ts'
import { openPostgres, type Postgres } from '../../src/machines/postgres/connection.ts'
import { exportInto } from '../../src/machines/postgres/export.ts'
import { writeCsv } from '../../src/output/formats/csv.ts'
import { dropOldResults } from '../../src/store/sqlite/maintenance/prune.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { RowFilter } from '../../src/store/sqlite/rankings/rows.ts'
import { aResult } from '../catalog/results.ts'
import { aLookup, settlement, understood, work } from '../store/answers.ts'
import { aStore, noon, plan, type TempStore } from '../store/build.ts'
import { anyText } from '../support/any-text.ts'
import { type TestPostgres, testPostgres } from '../support/postgres.ts'

let server: TestPostgres
let url: string
let postgres: Postgres
beforeAll(async () => {
  server = await testPostgres()
  url = await server.database()
  postgres = await openPostgres(url)
}, 60_000)
afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

let schemas = 0
const newSchema = (): string => `export_${++schemas}`
const silent = { write: async () => {}, log: () => {}, status: null, columns: 80, color: false }

interface Asked {
  readonly store: Pick<Store, 'snapshot'>
  readonly schema: string
  readonly kind: DeliveredKind
  readonly filter?: RowFilter
  readonly since?: string
}

const exported = ({ store, schema, kind, filter = {}, since }: Asked) =>
  exportToPostgres({ store, kind, filter, since: since ?? null, to: `${url}/${schema}` }, silent)

type Cells = Readonly<Record<string, unknown>>

/** What the table has, with its cells as those of CSV. */
async function tableRows(schema: string, kind: DeliveredKind): Promise<readonly Cells[]> {
  const order = ['run_id', ...tableKey(kind).key].join(', ')
  const rows = await postgres.query<Cells>(
    `SELECT * FROM ${schema}."${kind}" ORDER BY ${kind === 'calls' ? 'call_id' : order}`,
  )
  const plain = (value: unknown) =>
    value === null
      ? ''
      : value instanceof Date
        ? value.toISOString()
        : typeof value === 'object'
          ? value
          : `${value}`
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !['task_id', 'place'].includes(name) || kind === 'calls')
        .map(([name, value]) => [name, plain(value)]),
    ),
  )
}

/** Text as Postgres can have it. */
function storable(text: string): string {
  return Buffer.from(text.replaceAll('\0', '\ufffd')).toString()
}

/** What the export of everything has in CSV. */
async function csvRows({ store }: TempStore, kind: DeliveredKind): Promise<readonly Cells[]> {
  using snapshot = store.snapshot()
  const { rows, columns } = labelled(snapshot, kind, { after: 0 })
  const pieces: string[] = []
  for await (const piece of writeCsv(rows, { columns, csv: 'raw' })) pieces.push(piece)
  const typeOf = new Map<string, string>(columns.map(({ name, type }) => [name, type]))
  const parsed: Record<string, string>[] = parse(pieces.join(''), { columns: true })
  const stored = (name: string, cell: string): unknown =>
    typeOf.get(name) === 'json' && cell !== ''
      ? JSON.parse(cell, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
      : storable(cell)
  return parsed.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, stored(name, cell)])),
  )
}

/** Columns of labels that no query carries any more stay, and are empty. */
const withoutEmptyLabels = (rows: readonly Cells[]) =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).filter(([name, cell]) => !name.startsWith('label_') || cell !== ''),
    ),
  )

const oddText = fc.oneof(
  fc.constantFrom(
    '\0',
    'a\0b',
    "it's",
    '"',
    '\\',
    '\\u0000',
    'a,b\nc',
    '{NULL}',
    'NULL',
    '🙂',
    '\ud83d',
    '=1',
  ),
  anyText({ maxLength: 6 }),
)
const labels = fc.dictionary(fc.constantFrom('team', 'Team', 'a"b', "it's \\"), oddText, { maxKeys: 3 })
const page = fc.array(fc.record({ title: oddText, matched: fc.array(oddText, { maxLength: 2 }) }), {
  maxLength: 4,
})

const action = fc.oneof(
  fc.record({
    does: fc.constant('collect' as const),
    job: fc.constantFrom('a', 'b'),
    text: oddText,
    labels,
    pages: fc.array(page, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ does: fc.constant('derive' as const), answer: fc.nat(), keep: fc.nat(3) }),
  fc.record({ does: fc.constant('label' as const), labels }),
  fc.record({ does: fc.constant('call' as const) }),
  fc.record({
    does: fc.constant('export' as const),
    kind: fc.constantFrom<DeliveredKind>('organic', 'calls'),
    filter: fc.constantFrom<RowFilter>({}, { job: 'a' }),
    diesAfter: fc.option(fc.nat(3)),
  }),
)

/** A store whose rows end in an error, as an export that is killed. */
function dying(store: Store, rowsBefore: number): Pick<Store, 'snapshot'> {
  return {
    snapshot: () => {
      const snapshot = store.snapshot()
      return {
        ...snapshot,
        *rows(...args: Parameters<typeof snapshot.rows>) {
          let left = rowsBefore
          for (const row of snapshot.rows(...args)) {
            if (left-- === 0) break
            yield row
          }
          throw new Error('killed')
        },
      }
    },
  }
}

test('After any sequence of exports a table has what an export of everything has in CSV', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 12 }), async (actions) => {
      const temp = await aStore()
      const { store } = temp
      const schema = newSchema()
      const open: number[] = []
      let now = noon
      for (const one of actions) {
        now += 60_000
        if (one.does === 'collect') {
          const queries = [{ text: `q${one.text}`, pages: one.pages.length, labels: one.labels }]
          const run = await plan(store, { job: { name: one.job }, queries, now })
          const says = (number: number) =>
            understood(
              (one.pages[number - 1] ?? []).map(({ title, matched }) =>
                aResult('organic', { title, snippetMatched: matched }),
              ),
            )
          await work(store, run, (task) => says(task.page), now)
        } else if (one.does === 'derive')
          temp.exec(
            `UPDATE answers_ SET normaliser = normaliser + 1, items = (
              SELECT json_group_object(of.key, json((
                SELECT json_group_array(value) FROM json_each(of.value) WHERE key < ${one.keep}))) FROM json_each(items) of)
            WHERE id = ${one.answer % 5}`,
          )
        else if (one.does === 'label')
          temp.exec(
            `UPDATE run_queries SET labels = '${JSON.stringify(one.labels).replaceAll("'", "''")}' WHERE run_id = 1`,
          )
        else if (one.does === 'call') open.push(await store.beginCall(aLookup({ sentAt: now })))
        else if (one.diesAfter === null) await exported({ ...one, store, schema })
        else
          await expect(exported({ ...one, store: dying(store, one.diesAfter), schema })).rejects.toThrow(
            'killed',
          )
      }
      for (const call of open) await store.settleCall(call, settlement({ finishedAt: now }), null)
      for (const kind of ['organic', 'calls'] as const) {
        await exported({ store, schema, kind })
        const [got, wanted] = await Promise.all([tableRows(schema, kind), csvRows(temp, kind)])
        expect(withoutEmptyLabels(got)).toEqual(withoutEmptyLabels(wanted))
      }
    }),
    { numRuns: 10 },
  )
})

/** A job whose pages say that. */
async function collect(store: Store, job: string, titles: readonly string[], labels = {}): Promise<void> {
  const run = await plan(store, { job: { name: job }, queries: [{ text: 'desk', labels }] })
  await work(store, run, () => understood(titles.map((title) => aResult('organic', { title }))))
}

const titlesIn = async (schema: string) => (await tableRows(schema, 'organic')).map(({ title }) => title)
const positionsOf = (schema: string) =>
  postgres.query(`SELECT kind, filter, cursor, exported_at FROM ${schema}.positions ORDER BY kind, filter`)

test('Each set of filters has a position of its own', async () => {
  const { store } = await aStore()
  const schema = newSchema()
  await collect(store, 'a', ['first'])
  await collect(store, 'b', ['second'])
  await exported({ store, schema, kind: 'organic', filter: { job: 'b', query: 'desk' } })
  expect(await titlesIn(schema)).toEqual(['second'])
  await exported({ store, schema, kind: 'organic', filter: { query: 'desk', job: 'b' } })
  await exported({ store, schema, kind: 'organic', filter: { job: 'a' } })
  expect(await titlesIn(schema)).toEqual(['first', 'second'])
  const filters = (await positionsOf(schema)).map((row) => (row as { filter: string }).filter)
  expect(filters).toEqual(['{"job":"a"}', '{"job":"b","query":"desk"}'])
})

test('An export that dies changes nothing, neither rows nor columns', async () => {
  const { store } = await aStore()
  const schema = newSchema()
  await collect(store, 'a', ['first'])
  await exported({ store, schema, kind: 'organic' })
  const before = [await tableRows(schema, 'organic'), await positionsOf(schema)]
  // More rows than one statement takes.
  await collect(store, 'a', Array<string>(1500).fill('more'), { team: 'A' })
  const dies = exported({ store: dying(store, 1200), schema, kind: 'organic' })
  await expect(dies).rejects.toThrow('killed')
  expect([await tableRows(schema, 'organic'), await positionsOf(schema)]).toEqual(before)
  await exported({ store, schema, kind: 'organic' })
  expect(await tableRows(schema, 'organic')).toHaveLength(1501)
})

test('New labels become columns with a comment, and views of the table stay', async () => {
  const { store } = await aStore()
  const schema = newSchema()
  await collect(store, 'a', ['first'], { team: 'A' })
  await exported({ store, schema, kind: 'organic' })
  await postgres.query(`CREATE VIEW ${schema}.titles AS SELECT title, label_team FROM ${schema}.organic`)
  const [one, other] = [`${'ä'.repeat(40)}1`, `${'ä'.repeat(40)}2`]
  await collect(store, 'a', ['second'], { "it's \\": 'B', [one]: 'one', [other]: 'other' })
  await exported({ store, schema, kind: 'organic' })
  const columns = await postgres.query<{ name: string; meaning: string }>(
    `SELECT attname AS name, col_description(attrelid, attnum) AS meaning FROM pg_attribute
    WHERE attrelid = '${schema}.organic'::regclass AND attname LIKE 'label%' ORDER BY attnum`,
  )
  expect(columns).toEqual([
    { name: 'label_team', meaning: 'Label team of the query' },
    { name: "label_it's \\", meaning: "Label it's \\ of the query" },
    { name: expect.stringMatching(/^label_ä{24}_[0-9a-f]{8}$/), meaning: `Label ${one} of the query` },
    { name: expect.stringMatching(/^label_ä{24}_[0-9a-f]{8}$/), meaning: `Label ${other} of the query` },
  ])
  const [, last = {}] = await tableRows(schema, 'organic')
  expect(columns.map(({ name }) => last[name])).toEqual(['', 'B', 'one', 'other'])
  expect(await postgres.query(`SELECT * FROM ${schema}.titles`)).toHaveLength(2)
})

test('Results that retention dropped stay, also where their query is given again', async () => {
  const temp = await aStore()
  const schema = newSchema()
  await collect(temp.store, 'a', ['first', 'second'])
  await temp.store.finishRun(1, 'completed', noon)
  await exported({ store: temp.store, schema, kind: 'organic' })
  const later = noon + 1_000_000_000_000
  expect(await dropOldResults(temp.path, { before: later, now: later })).toMatchObject({ results: 2 })
  temp.exec(`UPDATE run_queries SET labels = '{"team":"A"}'`)
  await exported({ store: temp.store, schema, kind: 'organic' })
  expect(await titlesIn(schema)).toEqual(['first', 'second'])
})

test('Exports into a schema take turns', async () => {
  const { store } = await aStore()
  const schema = newSchema()
  await collect(store, 'a', ['first'])
  const said: string[] = []
  let second: Promise<void> | undefined
  await exportInto({ url, schema, onWait: () => {} }, async () => {
    second = exportToPostgres(
      { store, kind: 'organic', filter: {}, since: null, to: `${url}/${schema}` },
      { ...silent, log: (line) => void said.push(line) },
    )
    await vi.waitUntil(() => said.length > 0, { timeout: 20_000, interval: 1 })
    expect(said).toEqual([`Waiting for another export into ${schema} to end.`])
  })
  await second
  expect(await titlesIn(schema)).toEqual(['first'])
})

test('A server that dies in the midst is told with exit code 6, and the next export writes everything', async () => {
  const { store } = await aStore()
  const schema = newSchema()
  await collect(store, 'a', ['first'])
  const columns = [{ name: 'task_id', type: 'long', meaning: 'Number of the task' }] as const
  const table = { name: 'organic', meaning: 'Web results', columns, key: ['task_id'] }
  const ended = exportInto({ url, schema, onWait: () => {} }, async (tables) => {
    await tables.prepare(table)
    await server.crash()
    await tables.clear(table, [1])
  })
  await expect(ended).rejects.toMatchObject({
    exitCode: 6,
    message: expect.stringMatching(
      / cannot be reached: .*\. An export is written as a whole or not at all: check/,
    ),
  })
  await server.start()
  await exported({ store, schema, kind: 'organic' })
  expect(await titlesIn(schema)).toEqual(['first'])
})
