import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Ended, type Workspace, workspace } from '../support/rankline.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const nasty = '<b>Desk</b>&amp;\u0000\u001b[31m\u202e\ud800 end'

/** By operation, an answer as it should not be. */
const bodies: Readonly<Record<string, unknown>> = {
  'alpha.search': {
    error: false,
    pagination: { current: '1', other_pages: { 2: '/x' }, has_next_page: 'false' },
    organic_results: [
      null,
      { position: '1', title: nasty, link: ' https://first.example/a ', snippet: null },
      'text',
      { position: 2, title: ['In a list'], link: '//second.example/', domain: 7, snippet_matched: 'x' },
      17,
      { position: 3.0, link: 'https://acme.com/desks', domain: 'wrong.example', sitelinks: [1] },
      { title: 2026, link: '/url?nothing=1' },
    ],
    related_searches: ['plain', { query: 'documented' }, {}],
    search_parameters: { ['__proto__']: { hl: 'de' }, hl: 7, gl: ['us'], toString: 'x' },
    search_information: { total_results: 'About 1,200 results', error: null },
    novelty: { kept: true },
  },
  'alpha.light': {
    organic_results: { 1: { link: 'https://acme.com/' }, 0: { link: 'www.other.example' } },
    search_parameters: null,
  },
  'alpha.autocomplete': {
    suggestions: ['desk', { value: 'desk lamp' }, 2026, null, { value: 'a', text: 'b' }],
  },
  'alpha.ai': {
    references: [{ title: 'No link' }, { index: '4', link: 'https://acme.com/ai' }, false],
    text_blocks: [
      { type: 'carousel', cards: [{ a: 1 }] },
      { type: 'paragraph', snippet: 'P', tone: 'dry' },
    ],
  },
  'alpha.news': { organic_results: [{ title: 'N', date: 7 }, []], pagination: [] },
  'alpha.videos': { organic_results: [{ title: 'V', video_id: '\ud800', duration: { s: 3 } }] },
  'alpha.images': { images: { url: 'https://i.example/p.jpg', image_width: '640', image_height: 'tall' } },
  'gamma.search': { organic_results: 'none', search_parameters: {} },
  'gamma.images': { images: {}, search_parameters: {} },
}
const operations = [...Object.keys(bodies), 'beta.search']
const malformed = {
  'alpha.search': [null, 'text', 17, {}],
  'alpha.autocomplete': [null, { value: 'a', text: 'b' }],
}

let sandbox: Sandbox
let place: Workspace
let ended: Ended

beforeAll(async () => {
  const rules = Object.entries(bodies).map(([operation, body]) => ({ operation, do: { body } }))
  sandbox = await startSandbox({ rules })
  place = await workspace(sandbox)
  await place.file(
    'messy.csv',
    `operation,query\n${operations.map((name) => `${name},standing desk\n`).join('')}`,
  )
  ended = await place.call(['run', 'messy.csv', '--target', 'acme.com', '--json'])
})
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

test('one answer that lists nothing fails its task, and costs no other', () => {
  expect(ended.stderr).toBe('')
  expect(ended.code).toBe(3)
  expect(place.sql("SELECT operation, cause FROM tasks WHERE state <> 'done'")).toEqual([
    { operation: 'gamma.search', cause: "'organic_results' of the answer is not a list" },
  ])
  expect(JSON.parse(ended.stdout)).toMatchObject({
    tasks: { done: operations.length - 1, failed: 1, pending: 0 },
    results: { organic: 16, suggestion: 3, related: 2, reference: 2, news: 1, video: 1, image: 1 },
    malformed_items: 8,
  })
})

test('the books are right, and every answer is stored as it came', async () => {
  expect(JSON.parse(ended.stdout).credits).toMatchObject({ spent: sandbox.ledger.charged, ambiguous: 0 })
  expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: operations.length }])
  expect((await place.call(['db', 'check'])).code).toBe(0)
})

test('malformed items are kept as they were sent, and take no rank', () => {
  const kept = place.sql<{ operation: string; items: string }>(
    'SELECT operation, malformed_items AS items FROM answers WHERE malformed_items IS NOT NULL ORDER BY operation',
  )
  expect(Object.fromEntries(kept.map(({ operation, items }) => [operation, JSON.parse(items)]))).toEqual({
    ...malformed,
    'alpha.ai': [false],
    'alpha.news': [[]],
  })
  expect(
    place.sql(
      "SELECT rank, position, link, domain, snippet_matched FROM organic_results WHERE operation = 'alpha.search'",
    ),
  ).toEqual([
    {
      rank: 1,
      position: 1,
      link: ' https://first.example/a ',
      domain: 'first.example',
      snippet_matched: null,
    },
    { rank: 2, position: 2, link: '//second.example/', domain: 'second.example', snippet_matched: '["x"]' },
    { rank: 3, position: 3, link: 'https://acme.com/desks', domain: 'acme.com', snippet_matched: null },
    { rank: 4, position: null, link: '/url?nothing=1', domain: null, snippet_matched: null },
  ])
  expect(
    place.sql("SELECT operation, rank FROM rankings WHERE state = 'ranked' AND operation <> 'beta.search'"),
  ).toEqual([
    { operation: 'alpha.search', rank: 3 },
    { operation: 'alpha.light', rank: 2 },
    { operation: 'alpha.ai', rank: 2 },
  ])
})

test('what nobody knows of an AI answer is kept', () => {
  const [row] = place.sql("SELECT ai_blocks, ai_markdown FROM answers WHERE operation = 'alpha.ai'")
  expect(row).toEqual({
    ai_blocks: JSON.stringify((bodies['alpha.ai'] as { text_blocks: unknown }).text_blocks),
    ai_markdown: null,
  })
  expect(place.sql('SELECT reference_index FROM ai_references')).toEqual([
    { reference_index: null },
    { reference_index: 4 },
  ])
})

test('an export is whole, with its text as it was sent, but for half characters', async () => {
  const { stdout } = await place.call([
    'export',
    'organic',
    '--format',
    'json',
    '--operation',
    'alpha.search',
  ])
  expect(JSON.parse(stdout).map(({ title }: { title: unknown }) => title)).toEqual([
    nasty.toWellFormed(),
    'In a list',
    null,
    '2026',
  ])
})

const script = '/usr/bin/script'

describe.skipIf(!existsSync(script) || process.platform !== 'linux')('a terminal', () => {
  // The sandbox answers in this process, so it must not be blocked.
  const onTerminal = async (args: readonly string[]): Promise<string> => {
    const command = [process.execPath, program, ...args].map((one) => `'${one}'`).join(' ')
    const child = spawn(script, ['-qec', command, '/dev/null'], {
      cwd: place.folder,
      env: {
        PATH: process.env.PATH ?? '',
        TERM: 'xterm',
        LANG: 'C.UTF-8',
        CI: '1',
        RANKLINE_BASE_URL: sandbox.url,
        RANKLINE_API_KEY: sandbox.key,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return (await text(child.stdout)).replaceAll('\r\n', '\n')
  }

  test.each([
    ['export', ['export', 'organic', '--raw']],
    ['export of JSON', ['export', 'organic', '--json']],
    ['the answer of a search', ['search', 'alpha.search', 'standing desk', '--json']],
  ])('is shown control characters as text: %s', async (_, args) => {
    const said = await onTerminal(args)
    expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
    expect(said).toContain('\\u001b[31m\\u202e')
  })

  test('is shown the colors of a table', async () => {
    expect(await onTerminal(['report', 'messy'])).toContain('\u001b[1m')
  })
})

test('what is shown moves no cursor, and says how many items were kept aside', async () => {
  const line = '8 malformed items were kept aside; see the column malformed_items of the view answers'
  const shown = await Promise.all([
    place.call(['runs', '1']),
    place.call(['report', 'messy']),
    place.call(['run', 'messy.csv', '--target', 'acme.com']),
  ])
  expect(shown[0]?.stdout).toContain(line)
  expect(shown[2]?.stdout).toContain(line)
  const found = await place.call(['search', 'alpha.search', 'standing desk'])
  expect(found.stdout).toContain('<b>Desk</b>&amp;')
  expect(found.stderr).toContain('4 malformed items were kept aside')
  for (const { stdout, stderr } of [...shown, found])
    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
})
