import path from 'node:path'
import { expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { readJob, yamlProblems } from './reading.ts'

const job = (more: string): string => `name: acme\ntargets: [acme.com]\nqueries: [desk]\n${more}\n`

test('what reports of a folder share stands in rankline.yaml, the logo beside it; a job overrides it key by key', async () => {
  const { settings, problems } = await readJob({
    'acme.yaml': job('report: { client: Acme Inc., footer: For Acme }'),
    'rankline.yaml':
      'defaults: { report: { agency: North, logo: pictures/logo.svg, footer: North GmbH, language: de } }\n',
  })
  expect(problems).toEqual([])
  expect(settings?.report).toMatchObject({
    ...{ client: 'Acme Inc.', agency: 'North', footer: 'For Acme', language: 'de', title: null },
    logo: path.join(path.dirname(settings?.file ?? ''), 'pictures', 'logo.svg'),
  })
})

testTable([
  ['report: { accent: red }', `accent cannot be 'red'; write a colour such as "#0a5" or "#00aa55"`],
  ['report: { language: fr }', "language cannot be 'fr'"],
  ['report: { lgo: a.png }', ''],
  [
    'notes: [{ date: 2026-02-30, text: New site }]',
    "date cannot be '2026-02-30'; write a day such as 2026-01-31",
  ],
  ['notes: [{ date: 2026-02-03 }]', 'text'],
  ['notes: [{ date: 2026-02-03, text: New, url: "javascript:alert(1)" }]', 'url'],
  ['notes: [{ date: 2026-02-03, text: New, url: "ftp://acme.com" }]', 'url'],
  ['views: [{ tags: [money] }]', 'name'],
  [`report: { footer: ${'x'.repeat(1001)} }`, 'is too long; write at most 1000 characters'],
  [`notes: [{ date: 2026-02-03, text: ${'x'.repeat(1001)} }]`, 'is too long; write at most 1000 characters'],
  ['views: [{ name: Mine, targets: [nothere.test] }]', 'in this job; write one of acme.com'],
])('%s is a mistake', async (line, words) => {
  const problems = await yamlProblems(job(line))
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(words)
})
