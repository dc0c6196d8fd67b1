import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { jobPlaces, yamlTexts } from '../../src/jobfile/files.ts'
import { openJob } from '../../src/jobfile/open.ts'
import { mistakeLines } from '../../src/jobfile/source.ts'
import { testTable } from '../support/test-table.ts'
import { folderOf, readIn, readJob } from './reading.ts'

describe('the path', () => {
  const extensions = 'write a file that ends in .yaml, .yml, .csv, .tsv, .txt'
  test.each<[string, string]>([
    ['nope.yaml', 'nope.yaml: there is no such file; check the path'],
    ['words.csv/x.csv', 'words.csv/x.csv: there is no such file; check the path'],
    ['sub', 'sub: this is a directory; name the job file in it'],
    ['book.xlsx', `book.xlsx: a file .xlsx cannot be read; ${extensions}`],
    ['bare', `bare: the file has no extension; ${extensions}`],
  ])('%s', async (name, problem) => {
    const folder = await folderOf({ 'words.csv': 'query\na\n', 'book.xlsx': 'PK', bare: 'query\na\n' })
    await mkdir(path.join(folder, 'sub'))
    expect(await readIn(folder, name)).toMatchObject({ opened: false, problems: [problem] })
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be read is told', async () => {
    const folder = await folderOf({ 'k.csv': 'query\na\n' })
    await chmod(path.join(folder, 'k.csv'), 0)
    expect((await readIn(folder, 'k.csv')).problems).toEqual([
      'k.csv: you are not allowed to read the file; change its permissions',
    ])
  })

  test('what is no regular file is told', async () => {
    const problems: string[] = []
    await openJob('/dev/null', {}, (problem) => problems.push(mistakeLines.format(problem)))
    expect(problems).toEqual(['/dev/null: this is not a regular file; save it as a file first'])
  })
})

describe('files in a file', () => {
  test('stand in the place of their entry, relative to the job file, with their own names and lines', async () => {
    const { queries, problems } = await readJob({
      'jobs/job.yaml': 'queries: [a, { file: ../words/k.csv }, z, { file: ../words/k.tsv }]',
      'words/k.csv': 'query,gl\nb,us\nc,usa\n',
      'words/k.tsv': 'query\tgl\nd\tus\n',
    })
    expect(queries.map(({ text, source }) => [text, path.basename(source.file), source.line])).toEqual([
      ['a', 'job.yaml', 1],
      ['b', 'k.csv', 2],
      ['z', 'job.yaml', 1],
      ['d', 'k.tsv', 2],
    ])
    expect(problems).toEqual([
      "words/k.csv:3: gl cannot be 'usa'; write a two-letter country code such as us",
    ])
  })

  test('must be CSV', async () => {
    const { problems } = await readJob({
      'job.yaml': 'queries: [{ file: other.yaml }]',
      'other.yaml': 'queries: [a]',
    })
    expect(problems).toEqual([
      'job.yaml:1:19: other.yaml cannot be read: a file .yaml cannot be read; write a file that ends in .csv, .tsv, .txt',
    ])
  })

  test('without rows are fine as long as there is a query', async () => {
    expect(await readJob({ 'job.yaml': 'queries: [a, { file: k.csv }]', 'k.csv': 'query\n' })).toMatchObject({
      problems: [],
    })
    expect(await readJob({ 'job.yaml': 'queries: [{ file: k.csv }]', 'k.csv': 'query\n' })).toMatchObject({
      problems: ['job.yaml: there is no query; write at least one'],
    })
  })
})

test('the queries can be read again and again, and a change in between is seen', async () => {
  const folder = await folderOf({ 'job.yaml': 'queries: [{ file: k.csv }]', 'k.csv': 'query\na\nb\n' })
  const problems: string[] = []
  const job = await openJob(path.join(folder, 'job.yaml'), {}, (problem) => problems.push(problem.message))
  const read = async () => {
    const texts: string[] = []
    for await (const query of job?.queries() ?? []) texts.push(query.text)
    return [texts.join(' '), job?.contentHash()]
  }
  expect(job?.contentHash()).toBeNull()
  const first = await read()
  expect(first[0]).toBe('a b')
  expect(await read()).toEqual(first)
  await writeFile(path.join(folder, 'k.csv'), 'query\na\nc\n')
  const second = await read()
  expect(second[0]).toBe('a c')
  expect(second[1]).not.toBe(first[1])
  expect(problems).toEqual([])
  await writeFile(path.join(folder, 'job.yaml'), 'queries: [x]')
  await read()
  expect(problems).toEqual(['the file changed while it was being read'])
})

test('a file whose own name cannot be the name of a job is told', async () => {
  expect(await readJob({ 'a\\b.csv': 'query\na\n' })).toMatchObject({
    problems: ["a\\b.csv: the file's name cannot be 'a\\b'; give the job a name"],
  })
  expect(await readJob({ 'a\\b.csv': 'query\na\n' }, { name: 'ab' })).toMatchObject({
    problems: [],
    settings: { name: 'ab' },
  })
})

testTable<[string, boolean]>([
  ['name: x\nqueries: [a]\n', true],
  ['\ufeff# words\r\n\r\n---\r\nqueries:\r\n  - a\r\n', true],
  ['{ queries: [a] }', true],
  ['"name": x', true],
  ['queries:', true],
  ['query\nfoo: bar\n', false],
  ['query,note: x\na,b\n', false],
  ['"note: x",query\n', false],
  ['sep=;\nquery;gl\n', false],
  ['query;https://a.example\n', false],
  ['- a\n- b\n', false],
  ['', false],
])('%j is YAML: %s', (text, yaml) => {
  expect(yamlTexts.isMap(Buffer.from(text))).toBe(yaml)
})

test('what cannot be looked at is no folder', async () => {
  const folder = await folderOf({})
  const loop = path.join(folder, 'loop.yaml')
  await symlink('loop.yaml', loop)
  expect([folder, loop, 'x'.repeat(5_000)].map(jobPlaces.isFolder)).toEqual([true, false, false])
})
