import { expect, test } from 'vitest'
import { exportTarget } from '../../src/cli/commands/report/export.ts'
import { UsageError } from '../../src/model/errors.ts'
import { testTable } from '../support/test-table.ts'

testTable<[string, string, string]>([
  ['postgres://bi@db.example/warehouse', 'postgres://bi@db.example/warehouse', 'rankline_export'],
  ['postgres://bi@db.example/warehouse/', 'postgres://bi@db.example/warehouse', 'rankline_export'],
  ['postgresql://db.example:5433/w/ranks', 'postgresql://db.example:5433/w', 'ranks'],
  ['postgres://b:p%40ss@h/w/a%2Fb?sslmode=require', 'postgres://b:p%40ss@h/w?sslmode=require', 'a/b'],
  ['postgres:///w/ranks?host=/run/postgresql', 'postgres:///w?host=/run/postgresql', 'ranks'],
  ['postgres://h/w/Büro', 'postgres://h/w', 'Büro'],
])('%s is the database %s and the schema %s', (text, url, schema) => {
  expect(exportTarget(text)).toEqual({ url, schema })
})

testTable<[string, RegExp]>([
  ['', /not the address of a Postgres schema/],
  ['warehouse', /Write it like postgres:\/\/user@host\/database\/schema$/],
  ['mysql://h/w', /not the address/],
  ['postgres://', /not the address/],
  ['postgres://h', /not the address/],
  ['postgres://h/', /not the address/],
  ['postgres://b:secret@h/w/a/b', /not the address/],
  ['postgres://b:secret@h:port/w', /not the address/],
  ['postgres://h/w/%zz', /cannot be the name of a schema/],
  ['postgres://h/w/%00', /cannot be the name of a schema/],
  [`postgres://h/w/${'ä'.repeat(32)}`, /cannot be the name of a schema/],
  ['postgres://h/w/rankline', /names the schema rankline, whose tables are not those of exports/],
  ['postgres://h/w/pg_catalog', /pg_catalog/],
  ['postgres://h/w/information_schema', /information_schema/],
])('%s is refused', (text, sentence) => {
  expect(() => exportTarget(text)).toThrow(UsageError)
  expect(() => exportTarget(text)).toThrow(sentence)
  expect(() => exportTarget(text)).not.toThrow(/secret/)
})

test('a schema of the name of a longest possible one is taken', () => {
  expect(exportTarget(`postgres://h/w/${'x'.repeat(63)}`).schema).toHaveLength(63)
})
