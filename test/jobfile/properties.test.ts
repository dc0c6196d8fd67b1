import { createWriteStream } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify as toYaml } from 'yaml'
import * as z from 'zod'
import { mapSchema, strict } from '../../src/jobfile/issues.ts'
import { openJob } from '../../src/jobfile/open.ts'
import { normalText } from '../../src/model/text.ts'
import { anyText } from '../support/any-text.ts'
import { folderOf, readIn } from './reading.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: texts with them are refused
const refused = /[\u0000-\u001f\u007f\ufffd\p{Surrogate}]/u
const signs = fc.constantFrom(
  '"',
  "'",
  ',',
  ';',
  '=',
  '#',
  ':',
  '-',
  ' ',
  '\u00a0',
  'é',
  '日',
  '😀',
  '&',
  '*',
  '<<',
  '%',
  '@',
  '\\',
)
const text = fc
  .oneof(
    anyText({ maxLength: 20 }),
    fc.array(fc.oneof(signs, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((parts) => parts.join('')),
  )
  .filter((value) => !refused.test(value) && normalText(value) !== '')

const runs = { numRuns: 30 }

test('any text written as CSV is read back in its one spelling, and labels as they were', async () => {
  const folder = await folderOf({})
  const row = fc.record({ query: text, note: fc.oneof(text, fc.constant('')) })
  const form = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t'),
    record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.boolean(),
    quoted: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), form, async (rows, options) => {
      const csv = stringify(rows, { header: true, columns: ['query', 'note'], ...options })
      await writeFile(path.join(folder, 'k.csv'), csv)
      const { queries, problems } = await readIn(folder, 'k.csv')
      expect(problems).toEqual([])
      expect(queries.map(({ text, labels }) => [text, labels.note ?? ''])).toEqual(
        rows.map(({ query, note }) => [normalText(query), note.trim() === '' ? '' : note]),
      )
      await rm(path.join(folder, 'k.csv'))
    }),
    runs,
  )
})

test('any text written as YAML is read back in its one spelling', async () => {
  const folder = await folderOf({})
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (texts) => {
      await writeFile(path.join(folder, 'job.yaml'), toYaml({ queries: texts }, { lineWidth: 0 }))
      const { queries, problems } = await readIn(folder, 'job.yaml')
      expect(problems).toEqual([])
      expect(queries.map((query) => query.text)).toEqual(texts.map(normalText))
    }),
    runs,
  )
})

test('the order of the columns never matters', async () => {
  const folder = await folderOf({})
  const columns = ['query', 'gl', 'depth', 'tags', 'team', 'location', 'priority']
  const cells = ['desk', 'us', '20', 'a;b', 'red', 'Austin', '2']
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...columns.keys()], { minLength: 7 }), async (order) => {
      const line = (from: readonly string[]) => order.map((index) => from[index]).join(',')
      await writeFile(path.join(folder, 'k.csv'), `${line(columns)}\n${line(cells)}\n`)
      const { queries } = await readIn(folder, 'k.csv')
      expect(queries).toMatchObject([
        {
          text: 'desk',
          params: { gl: 'us', location: 'Austin' },
          depth: 20,
          tags: ['a', 'b'],
          labels: { team: 'red' },
          priority: 2,
        },
      ])
    }),
    runs,
  )
})

test('no bytes at all make the reader throw', async () => {
  const folder = await folderOf({})
  const piece = fc.oneof(
    fc.constantFrom(
      ...['query', 'queries:', '\n', '\r\n', '"', ',', ';', '- ', ': ', '[', '{', '&a '],
      ...['*a', '<<', '!x ', '|', 'gl', '\t', ' '],
    ),
    fc.string({ maxLength: 4 }),
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
    fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(''))),
  )
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom('x.csv', 'x.yaml'), async (content, name) => {
      await writeFile(path.join(folder, name), content)
      const { queries, problems } = await readIn(folder, name)
      expect(queries.length + problems.length).toBeGreaterThan(0)
      for (const problem of problems) expect(problem).toMatch(/^x\.(csv|yaml)(:\d+(:\d+)?)?: .+; .+$/)
    }),
    { numRuns: 75 },
  )
})

test('eight thousand rows are streamed, never held together', async () => {
  const folder = await folderOf({})
  const file = path.join(folder, 'k.csv')
  function* lines() {
    yield 'query,gl,tags,team\n'
    for (let row = 0; row < 8_000; row++)
      yield `standing desk ${row},${row % 2 ? 'us' : 'gb'},a;b,team ${row % 7}\n`
  }
  await pipeline(Readable.from(lines()), createWriteStream(file))
  const job = await openJob(file, { param: ['hl=en'] }, (problem) => expect.unreachable(problem.message))
  let count = 0
  let last = ''
  for await (const query of job?.queries() ?? []) {
    if (query.source.line !== count + 2) expect.unreachable(`line ${query.source.line}`)
    count++
    last = query.text
  }
  expect([count, last]).toEqual([8_000, 'standing desk 7999'])
})

test('a map is judged by the schemas of its own keys alone, as it would be by all of them', () => {
  const shape = {
    asked: z.string(),
    wanted: z.string(),
    number: z.number().optional(),
    list: z.array(z.string()).optional(),
  }
  const made = new Set<string>()
  const parts = Object.fromEntries(
    Object.entries(shape).map(([key, schema]) => [
      key,
      () => {
        made.add(key)
        return schema
      },
    ]),
  )
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()))
  const maps = fc.dictionary(
    fc.constantFrom(...Object.keys(shape), 'listt', 'constructor', 'toString'),
    value,
  )
  fc.assert(
    fc.property(maps, (map) => {
      made.clear()
      const result = mapSchema(parts as never, ['asked', 'wanted'] as never)
        .fitting(map as never)
        .safeParse(map)
      const { success, data, error } = strict(shape).safeParse(map)
      expect(result).toMatchObject({ success })
      expect([result.data, result.error?.issues]).toEqual([data, error?.issues])
      const fitting = Object.keys(shape).filter((key) => Object.hasOwn(map, key) || /asked|wanted/.test(key))
      expect([...made].filter((key) => !fitting.includes(key))).toEqual([])
    }),
  )
})
