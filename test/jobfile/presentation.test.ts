import path from 'node:path'
import { expect, test } from 'vitest'
import { notesAbout } from '../../src/report/presentation/presentation.ts'
import { testTable } from '../support/test-table.ts'
import { readJob, yamlProblems } from './reading.ts'

const job = (more: string): string => `name: acme\ntargets: [acme.com]\nqueries: [desk]\n${more}\n`

test('notes are about one keyword or all, and stand in the job file or in a file beside it', async () => {
  const notes = async (csv: string, more = 'notes: { file: notes.csv }') => {
    const read = await readJob({ 'acme.yaml': job(more), 'notes.csv': csv })
    return { notes: read.settings?.notes, problems: read.problems, notices: read.notices }
  }
  const site = { date: '2026-10-01', text: 'New site', url: 'https://acme.com/news' }
  const desk = { date: '2026-10-02', text: 'Page, rewritten', url: null, query: 'Standing desk' }
  expect(
    await notes('', `notes: [${JSON.stringify(site)}, ${JSON.stringify({ ...desk, url: undefined })}]`),
  ).toEqual({
    notes: [site, desk],
    problems: [],
    notices: ["acme.yaml: the note of 2026-10-02 is about 'Standing desk', which this job does not ask"],
  })
  expect(
    await notes(
      '\ufeffDate;Text;Query;URL\r\n2026-10-01;New site;;https://acme.com/news\r\n;;;\r\n2026-10-02;"Page, rewritten";DESK;\r\n',
    ),
  ).toEqual({ notes: [site, { ...desk, query: 'DESK' }], problems: [], notices: [] })
  const mistakes = async (csv: string) => (await notes(csv)).problems
  expect(
    await mistakes(
      'date,text,url\n2026-02-30,A\n2026-02-03,\n,C\n2026-02-03,D,ftp://a.com\n2026-02-03,E,https://a.com,more\n',
    ),
  ).toEqual([
    "notes.csv:2: date cannot be '2026-02-30'; write a day such as 2026-01-31",
    'notes.csv:3: text is empty; give it a value or leave it out',
    "notes.csv:4: date cannot be ''; write a day such as 2026-01-31",
    "notes.csv:5: url cannot be 'ftp://a.com'; write a full address such as https://acme.com/desks",
    'notes.csv:6: the row has more cells than the first line; put a text with commas in quotes',
  ])
  expect(await mistakes('date,txt,query,page\n2026-02-03,A,b,c\n')).toEqual([
    "notes.csv:1: a file of notes has no column 'txt'; write 'text'",
    "notes.csv:1: a file of notes has no column 'page'; name it date, text, url, query, or take it out",
  ])
  expect(await mistakes('2026-02-03,A\n')).toContain(
    "notes.csv:1: the column 'date' is missing; write a first line such as date,text,url,query",
  )
  expect(await mistakes('')).toEqual([
    "notes.csv: the file is empty; write a first line with the columns 'date' and 'text'",
  ])
  expect((await notes('', 'notes: { file: note.csv }')).problems).toEqual([
    expect.stringMatching(/acme.yaml:4:16: note.csv cannot be read: .*did you mean notes.csv/),
  ])
})

test('a chart has the notes about its keywords, each by name where there are several', () => {
  const [all, desk, oak] = [
    { date: '2026-10-02', text: 'New site', url: null },
    { date: '2026-10-03', text: 'Rewritten', url: null, query: 'Standing desk' },
    { date: '2026-10-01', text: 'Link won', url: null, query: 'oak desk' },
  ]
  const about = (...queries: readonly string[]) =>
    notesAbout(
      { notes: [all, desk, oak] },
      queries.map((query) => ({ query })),
    ).map(({ text }) => text)
  expect(about('standing desk')).toEqual(['New site', 'Rewritten'])
  expect(about('oak desk', 'standing desk')).toEqual([
    'New site',
    'Standing desk: Rewritten',
    'oak desk: Link won',
  ])
  expect(about('pine desk')).toEqual(['New site'])
})

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
