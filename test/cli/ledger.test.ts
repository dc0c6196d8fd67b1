import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, type Workspace, workspace } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

const numbers = { calls: 0, billed: 0, free: 0, ambiguous: 0, credits: 0, credits_ambiguous: 0 }

async function sums(place: Workspace, ...args: readonly string[]) {
  const { code, stdout, stderr } = await place.call(['ledger', ...args, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** Two jobs: of `tags`, b is lost once and then billed; `other` buys an AI answer. One free lookup of no run. */
async function collected() {
  const staged = await stage({ rules: [{ query: 'bb', times: 1, do: { hangUp: 'after' } }] })
  const { place, sandbox } = staged
  const tags = await place.file('tags.csv', 'query,tags\naa,head;review\nbb,head\ncc,\n')
  const other = await place.file('other.csv', 'query,operation\ndd,alpha.ai\n')
  for (const job of [tags, other]) expect((await place.call(['run', job])).code).toBe(0)
  expect((await place.call(['usage'])).code).toBe(0)
  return { ...staged, charged: sandbox.ledger.charged }
}

describe('the ledger', () => {
  let all: Awaited<ReturnType<typeof collected>>
  beforeAll(async () => {
    all = await collected()
  })
  afterAll(() => all[Symbol.asyncDispose]())

  test('is added up by run, day, job and tag', async () => {
    const { place } = all
    const lookup = { ...numbers, calls: 1, free: 1 }
    const tagged = { calls: 6, billed: 3, free: 2, ambiguous: 1, credits: 3, credits_ambiguous: 1 }
    const other = { ...numbers, calls: 3, billed: 1, free: 2, credits: 3 }
    const day = String(place.sql('SELECT min(sent_at) AS at FROM calls')[0]?.at).slice(0, 10)
    const total = { calls: 10, billed: 4, free: 5, ambiguous: 1, credits: 6, credits_ambiguous: 1 }

    expect(await sums(place, '--by', 'run')).toEqual([
      { run: null, ...lookup },
      { run: 1, ...tagged },
      { run: 2, ...other },
    ])
    expect(await sums(place, '--by', 'job')).toEqual([
      { job: null, ...lookup, shared_calls: 0 },
      { job: 'other', ...other, shared_calls: 0 },
      { job: 'tags', ...tagged, shared_calls: 0 },
    ])
    expect(await sums(place)).toEqual([{ day, ...total }])
    expect(all.charged).toBe(total.credits + total.credits_ambiguous)
    const tags = await sums(place, '--by', 'tag')
    expect(tags.map(({ tag, credits }: Record<string, unknown>) => [tag, credits])).toEqual([
      [null, 4],
      ['head', 1.5],
      ['review', 0.5],
    ])
  })

  test('is added up for a job, and for a time', async () => {
    const { place } = all
    expect(
      (await sums(place, '--by', 'run', '--job', 'other')).map(({ run }: { run: number }) => run),
    ).toEqual([2])
    const [first] = place.sql<{ at: string }>(
      "SELECT min(sent_at) AS at FROM calls WHERE operation = 'alpha.ai'",
    )
    const at = first?.at ?? ''
    expect(await sums(place, '--by', 'job', '--until', at)).toMatchObject([{ job: 'other' }, { job: 'tags' }])
    expect(await sums(place, '--by', 'job', '--from', at, '--job', 'tags')).toEqual([])
    // An instant is one of UTC, wherever this machine stands.
    const env = { TZ: 'America/New_York' }
    const { stdout } = await place.call(['ledger', '--json', '--from', at.replace('Z', '')], env)
    expect(JSON.parse(stdout)).toEqual(await sums(place, '--from', at))
  })

  test('is a table for a person, that fits the terminal', async () => {
    const { place } = all
    const { stdout, stderr } = await place.call(['ledger', '--by', 'tag'])
    expect(stdout).toBe(
      'tag     calls  billed  free  ambiguous  credits  possibly billed\n' +
        '(none)      7       2     5          0     4.00             0.00\n' +
        'head        3       2     0          1     1.50             1.00\n' +
        'review      1       1     0          0     0.50             0.00\n',
    )
    expect(stderr).toBe(
      'The credits of a call for which several jobs of one command asked are split between them, and equally between the tags of a query; the call counts for each.\n',
    )
  })

  test('of nobody is empty', async () => {
    await using place = await workspace()
    expect(await place.call(['ledger'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The ledger holds no such calls.\n',
    })
    expect(await sums(place)).toEqual([])
    expect(await sums(place, 'verify')).toEqual([])
    const { code, stderr } = await place.call(['ledger', 'verify'])
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('was never read') })
  })
})

test('every key is compared by itself', async () => {
  await using sandbox = await startSandbox()
  await using second = await startSandbox({ key: 'another-key' })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(4))
  await place.call(['run', job])
  const env = { RANKLINE_BASE_URL: second.url, RANKLINE_API_KEY: second.key }
  for (let turn = 1; turn <= 2; turn++) await place.call(['run', job], env)

  const { code, stdout } = await place.call(['ledger', 'verify', '--json'])
  expect(code).toBe(0)
  const unverified = { before: 0, after: 0 }
  expect(JSON.parse(stdout)).toMatchObject([
    { total: { used: 4, billed: 4, by_others: 0 }, unverified },
    { total: { used: 8, billed: 8, by_others: 0 }, unverified },
  ])
  const { stdout: text } = await place.call(['ledger', 'verify'])
  expect(text.match(/^sandbox \(key /gm)).toHaveLength(2)
})

describe('asking the ledger with', () => {
  let place: Workspace
  beforeAll(async () => {
    await using sandbox = await startSandbox()
    place = await workspace(sandbox)
    await place.call(['run', await place.file('queries.csv', queriesCsv(1))])
  })
  afterAll(() => place[Symbol.asyncDispose]())

  test.each<[string, readonly string[], string]>([
    ['a word that means nothing', ['check'], "There is no 'ledger check', only 'ledger verify'."],
    ['a group in place of the flag', ['job'], 'For credits by job, write: rankline ledger --by job'],
    ['a group that is none', ['--by', 'foo'], "--by cannot be 'foo'; write one of run, day, job, tag"],
    ['a job to verify', ['verify', '--job', 'queries'], '--job has no meaning for ledger verify'],
    ['groups to verify', ['verify', '--by', 'run'], '--by has no meaning for ledger verify'],
    ['a time to verify', ['verify', '--from', '2026-01-01'], '--from has no meaning for ledger verify'],
    ['a job that is not there', ['--job', 'querys'], 'Did you mean queries?'],
    ['a day that is none', ['--from', '2026-02-30'], "--from cannot be '2026-02-30'; write a day such as"],
    ['an instant that is none', ['--until', '2026-02-01T25:00'], "--until cannot be '2026-02-01T25:00'"],
  ])('%s is refused in a sentence, with exit code 2', async (_, args, words) => {
    const { code, stdout, stderr } = await place.call(['ledger', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
