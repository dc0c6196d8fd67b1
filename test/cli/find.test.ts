import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

let sandbox: Sandbox
let place: Workspace

const item = (title: string, snippet: string, position: number) => ({
  position,
  title,
  link: `https://a${position}.example/oak-desk`,
  domain: `a${position}.example`,
  displayed_link: 'a',
  snippet,
})
const page = {
  search_parameters: { q: 'desk', engine: 'google' },
  organic_results: [
    item('=cmd|oak \u001b[31mred', 'Free returns', 1),
    item('Plain', 'No free lunch and no returns', 2),
  ],
  pagination: { current: 1, next: 2, has_next_page: false },
}

beforeAll(async () => {
  sandbox = await startSandbox({
    rules: [{ operation: 'alpha.search', query: 'desk', do: { body: page } }],
  })
  place = await workspace(sandbox)
  await place.file('acme.yaml', 'operation: alpha.search\nqueries: [desk]\n')
  await place.file('ai.yaml', 'operation: alpha.ai\nqueries: [oak]\n')
  for (const job of ['acme.yaml', 'ai.yaml']) {
    const { code, stderr } = await place.call(['run', job])
    expect(code, stderr).toBe(0)
  }
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

test('find needs an index, which is made and dropped on demand, its size told', async () => {
  const without = await place.call(['find', 'oak'])
  expect(without).toMatchObject({ code: 2, stdout: '' })
  expect(without.stderr).toContain(
    'There is no index of words in this database yet. Make it with: rankline db index',
  )

  const made = await place.call(['db', 'index'])
  expect(made.code).toBe(0)
  expect(made.stderr).toMatch(
    /^\d+ texts to index, which takes about \S+ \w+ more than the 0 bytes of the index now\.\n/,
  )
  expect(made.stdout).toMatch(/^The index has the words of \d+ texts and takes \d[\d.]* kB\./)
  expect((await place.call(['db', 'index'])).stderr).toBe('')
  expect((await place.call(['db', 'check'])).code).toBe(0)

  const table = await place.call(['find', 'oak', '--in', 'titles', '--job', 'acme'])
  expect(table).toMatchObject({ code: 0, stderr: '' })
  expect(table.stdout).toMatch(
    /^query +day +kind +rank +title +link +match\ndesk +\S+ +organic +1 +=cmd\|oak red +https:\/\/a1\.example/,
  )
  expect(table.stdout).not.toContain('\u001b')

  const asked = async (...args: readonly string[]) => {
    const { code, stdout } = await place.call(['find', ...args, '--json'])
    expect(code).toBe(0)
    return JSON.parse(stdout) as readonly Record<string, unknown>[]
  }
  expect(await asked('"free returns"')).toMatchObject([
    {
      query: 'desk',
      rank: 1,
      title: '=cmd|oak \u001b[31mred',
      matched_in: 'snippets',
      match: 'Free returns',
    },
  ])
  expect((await asked('free returns', '--job', 'acme')).map(({ rank }) => rank)).toEqual([1, 2])
  expect((await asked('" free')).length).toBe(2)
  expect(await asked('oak', '--in', 'ai')).toMatchObject([{ job: 'ai', kind: 'ai', matched_in: 'ai' }])
  const few = await place.call(['find', 'oak-desk', '--in', 'links', '--limit', '1'])
  expect(few.stderr).toBe('There are more than 1 result. List more with --limit\n')
  expect((await place.call(['find', 'nowhere'])).stderr).toBe('Nothing that is stored has these words.\n')

  const exported = async (...args: readonly string[]) => {
    const { code, stdout } = await place.call(['export', ...args, '--format', 'jsonl'])
    expect(code).toBe(0)
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  expect(await exported('organic', '--match', '"free returns"')).toMatchObject([
    { query: 'desk', rank: 1, snippet: 'Free returns' },
  ])
  expect((await exported('organic', '--match', 'oak-desk')).map(({ rank }) => rank)).toEqual([1, 2])
  expect(await exported('news', '--match', 'oak-desk')).toEqual([])

  await place.call(['run', 'acme.yaml', '--fresh'])
  await place.file('more.yaml', 'operation: alpha.search\nqueries: [lamp]\n')
  await place.call(['run', 'more.yaml'])
  expect((await place.call(['find', 'oak'])).stderr).toMatch(
    /^The index lacks \d+ texts that came since it was made\. Bring it up to date with: rankline db index\n/,
  )

  const dropped = await place.call(['db', 'index', '--drop'])
  expect(dropped.stdout).toMatch(/^The index of words is dropped; \d[\d.]* kB of the file are free/)
  expect((await place.call(['db', 'index', '--drop'])).stdout).toBe('There is no index of words.\n')
})

test.each([
  [['find', '" - *'], `'" - *' has no letter or digit to look for. Write a word, or several`],
  [['find', 'oak', '--in', 'title'], "--in cannot be 'title'; write titles"],
  [['find', 'oak', '--job', 'acmee'], 'Did you mean acme?'],
  [['export', 'organic', '--match', '-'], "'-' has no letter or digit to look for"],
  [
    ['export', 'calls', '--match', 'oak'],
    '--match has no meaning for calls, which are no results. Leave it out',
  ],
  [['db', 'check', '--drop'], 'rankline db check takes no --drop. It belongs to: rankline db index'],
])('%j is refused with a sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await place.call(args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(sentence)
})
