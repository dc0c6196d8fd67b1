import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/query.ts'
import { readIn } from '../jobfile/reading.ts'
import type { Workspace } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'

let staged: Stage
let place: Workspace
beforeAll(async () => {
  staged = await stage()
  place = staged.place
})
afterAll(() => staged[Symbol.asyncDispose]())

const list = [
  'query,gl,hl,num,location,tags,volume,url,depth,Client,note',
  'standing desk,us,en,,,head;money,2400.0,https://acme.com/desks,20,Acme,=1+1',
  '-inurl:x desk,us,en,20,"Austin,Texas,United States",,"1,300",,10,Acme,"a;-b"',
  "'=quoted,de,de,,,head,,,10,,",
].join('\n')

/** What was asked of a query, without its place in a file. */
function asked({ text, operation, params, tags, volume, url, labels }: JobQuery) {
  return { text, operation, params: Object.entries(params).sort(), tags, volume, url, labels: { ...labels } }
}

test('what was exported can be a list again: what was asked comes back, what came of it does not', async () => {
  await place.file('list.csv', list)
  expect(
    (await place.call(['run', 'list.csv', '--target', 'acme.com', '--competitor', 'rival.com'])).code,
  ).toBe(0)
  const first = await readIn(place.folder, 'list.csv')
  expect(first.problems).toEqual([])
  expect(first.queries.map(({ volume }) => volume)).toEqual([2400, 1300, null])

  for (const [file, ...form] of [
    ['report.csv', 'report', 'list'],
    ['excel.csv', 'report', 'list', '--excel'],
    ['organic.csv', 'export', 'organic', '--job', 'list'],
  ] as const) {
    expect((await place.call([...form, '--out', file])).code).toBe(0)
    const { queries, problems, notices } = await readIn(place.folder, file)
    expect(problems).toEqual([])
    expect(notices[0]).toContain(`${file}: an export of rankline: `)
    const kinds = new Map(queries.map((query) => [query.text, query]))
    // Exports of results have nothing of a query but what was sent, and its labels.
    const notThere = file === 'organic.csv' ? { volume: null, tags: [], url: null } : {}
    for (const query of first.queries) {
      const back = kinds.get(query.text)
      expect(back).toMatchObject({ depth: null, pages: null, targets: [] })
      expect(asked(back as JobQuery)).toEqual({ ...asked(query), ...notThere })
    }
  }

  // It is planned as one list, in which the rows of each target join.
  const { code, stdout, stderr } = await place.call(['plan', 'report.csv', '--json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { queries: 3, duplicates: 3 }])
  expect(stderr).toContain('an export of rankline')
  expect(stderr).toContain('kept as labels: Client, note')

  const db = new Database(path.join(place.folder, 'data/rankline.db'), { readonly: true })
  const volumes = 'SELECT DISTINCT typeof(volume) AS type FROM'
  expect(db.prepare(`${volumes} rankings UNION ${volumes} rank_counts ORDER BY 1`).pluck().all()).toEqual([
    'integer',
    'null',
  ])
  db.close()
})

test('a list of another tool comes through a pipe, and what was made of it is said', async () => {
  const csv = 'Ranks of Acme\nKeyword;Country;Rank;URL\noak desk;us;3;https://acme.com/oak\n'
  const args = ['-', '--name', 'piped', '--column', 'query=Keyword']
  const planned = await place.call(['plan', ...args], {}, csv)
  expect(planned.code).toBe(0)
  expect(planned.stderr.split('\n').slice(0, 3)).toEqual([
    "stdin: the header is on line 2; what stands above it is read over: 'Ranks of Acme'",
    "stdin: column 'URL' is left out: beside 'Rank' it is the page that ranks. If it is the one that is meant to, add --column url=URL",
    "stdin: kept as labels: Country, Rank. 'Country' may be gl: add --column gl=Country",
  ])
  const collected = await place.call(['run', ...args, '--json'], {}, csv)
  expect(collected.code).toBe(0)
  expect(JSON.parse(collected.stdout)).toMatchObject({ tasks: { planned: 1, done: 1 } })
  expect(collected.stderr).toContain('the header is on line 2')
  expect(collected.stderr).not.toContain('kept as labels')
})
