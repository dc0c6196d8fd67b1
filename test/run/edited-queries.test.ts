import { expect } from 'vitest'
import type { Continues } from '../../src/model/job.ts'
import { editLines } from '../../src/run/plan-jobs.ts'
import type { EditedQueries } from '../../src/store/sqlite/planning/planned.ts'
import { testTable } from '../support/test-table.ts'

type Pair = EditedQueries['pairs'][number]
type Params = Pair['was']['params']

const pair = (
  queries: number,
  was: Params,
  now: Params,
  more: { text?: string; before?: string; from?: string } = {},
): Pair => {
  const { text = 'desk', before = text, from = 'alpha.search' } = more
  return {
    queries,
    was: { operation: from, text: before, params: was },
    now: { operation: 'alpha.search', text, params: now },
  }
}
const edited = (fresh: number, gone: number, ...pairs: Pair[]): EditedQueries => ({ fresh, gone, pairs })
const was = (given: Partial<Continues>): Continues => ({ params: {}, operation: null, texts: {}, ...given })

const location = pair(60, { gl: 'us' }, { gl: 'us', location: 'Austin' })

testTable<[string, string, Continues | null, EditedQueries, readonly string[]]>([
  [
    'a location that was added',
    'acme.yaml',
    null,
    edited(60, 60, location),
    [
      'acme: 60 queries become new because location was added; their history ends. Keep it with continues: { params: { location: null } } in the job file',
    ],
  ],
  [
    'the same in a list of queries',
    'acme.csv',
    null,
    edited(60, 60, location),
    [
      'acme: 60 queries become new because location was added; their history ends. Keep it with --continues "location="',
    ],
  ],
  [
    'what goes on',
    'acme.yaml',
    was({ params: { location: null } }),
    edited(60, 60, location),
    ['acme: 60 queries go on with the history of before, which is not compared.'],
  ],
  [
    'a matrix: each is paired with what it differs least from',
    'acme.yaml',
    null,
    edited(
      2,
      2,
      pair(1, { gl: 'us' }, { gl: 'us', num: 20 }),
      pair(1, { gl: 'gb' }, { gl: 'us', num: 20 }),
      pair(1, { gl: 'us' }, { gl: 'gb', num: 20 }),
      pair(1, { gl: 'gb' }, { gl: 'gb', num: 20 }),
    ),
    [
      'acme: 2 queries become new because num was added; their history ends. Keep it with continues: { params: { num: null } } in the job file',
    ],
  ],
  [
    'what was changed and removed',
    'acme.yaml',
    null,
    edited(1, 1, pair(1, { gl: 'us', tbs: 'qdr:d' }, { gl: 'gb' })),
    [
      `acme: 1 query becomes new because gl was changed from 'us' and tbs was removed; its history ends. Keep it with continues: { params: { gl: "us", tbs: "qdr:d" } } in the job file`,
    ],
  ],
  [
    'another operation',
    'acme.yaml',
    null,
    edited(3, 3, pair(3, {}, {}, { from: 'alpha.light' })),
    [
      'acme: 3 queries become new because the operation was changed from alpha.light to alpha.search; their history ends. Keep it with continues: { operation: alpha.light } in the job file',
    ],
  ],
  [
    'the case of texts',
    'acme.yaml',
    null,
    edited(
      2,
      2,
      pair(1, {}, {}, { text: 'desk', before: 'Desk' }),
      pair(1, {}, {}, { text: 'lamp', before: 'Lamp' }),
    ),
    [
      `acme: 2 queries become new because the case of texts was changed, such as 'Desk' to 'desk'; their history ends. Keep it with continues: { texts: { "desk": "Desk", "lamp": "Lamp" } } in the job file`,
    ],
  ],
  [
    'texts that came and went',
    'acme.yaml',
    null,
    edited(3, 1),
    ['acme: 3 queries are new, and 1 query of the last run is no longer asked, so its history ends.'],
  ],
  ['keywords that were added', 'acme.yaml', null, edited(3, 0), []],
])('%s', (_, file, continues, edit, lines) => {
  expect(editLines({ name: 'acme', file: `/jobs/${file}`, continues }, edit)).toEqual(lines)
})
