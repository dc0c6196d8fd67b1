import { expect, test } from 'vitest'
import { workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

test('free lookups show what the service says, cost nothing and stand in the ledger', async () => {
  const { sandbox, place } = await staged({
    account: { subscription: { total: 500, used: 20 }, perSecond: 40 },
  })

  const usage = await place.call(['usage'])
  const countries = await place.call(['countries', 'UNITED'])
  const languages = await place.call(['languages', 'german', '--json'])
  const health = await place.call(['health'])
  const path = await place.call(['health', '/v1/alpha/search', '--json'])

  expect(usage.stdout).toMatch(/remaining +480/)
  expect(usage.stdout).toMatch(/calls per second +40/)
  expect(countries.stdout).toMatch(/^us +United States$/m)
  expect(JSON.parse(languages.stdout)).toContainEqual({ language_code: 'de', language_name: 'German' })
  expect(
    health.stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0]),
  ).toEqual(['alpha', 'beta', 'gamma'])
  expect(JSON.parse(path.stdout)).toMatchObject({ engine: 'alpha', path: '/v1/alpha/search', window: '1h' })
  expect(sandbox.ledger.charged).toBe(0)
  expect(place.sql('SELECT operation, billed, credits FROM calls ORDER BY call_id')).toEqual(
    ['usage', 'finder.countries', 'finder.languages', 'stats', 'stats', 'stats', 'stats'].map(
      (operation) => ({
        operation,
        billed: 0,
        credits: 0,
      }),
    ),
  )
})

test.each([
  ['stats that are not enabled', ['health', 'alpha'], { statsEnabled: false }, 2, /not enabled|Forbidden/],
  ['an unknown engine', ['health', 'delta'], {}, 2, /Engines are alpha, beta, gamma/],
  ['a refused key', ['countries', 'a'], { keyActive: false }, 5, /RANKLINE_API_KEY/],
] as const)('%s is one sentence', async (_, args, account, code, words) => {
  const { place } = await staged({ account })

  const ended = await place.call(args)

  expect(ended.stderr).toMatch(words)
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  expect(ended.code).toBe(code)
})

/** What a usage record says beside a balance, and what that means for a run. */
const accounts = [
  ['an inactive key', { api_key: { active: false } }, 5, 'auth', 'the API key is inactive'],
  ['an expired key', { api_key: { expires: '2026-01-02' } }, 5, 'auth', 'The API key expired on 2026-01-02'],
  ['no calls per minute', { rate_limit: { per_minute: 0 } }, 4, 'quota', '0 calls per minute'],
] as const
test.each(accounts)(
  'a usage record of %s stops a run before anything is bought; plan and usage say it, too',
  async (_, said, code, reason, words) => {
    const record = { remaining: 500, total_used: 0, rate_limit: {}, ...said }
    const { sandbox, place } = await staged({ rules: [{ operation: 'usage', do: { body: record } }] })
    const job = await place.file('job.csv', 'query\na\n')

    const run = await place.call(['run', job, '--json'])
    const usage = await place.call(['usage'])
    const plan = await place.call(['plan', job])

    expect([run.code, usage.code, plan.code]).toEqual([code, 0, 0])
    for (const { stderr } of [run, usage, plan]) expect(stderr).toContain(words)
    expect(JSON.parse(run.stdout)).toMatchObject({ finish_reason: reason, tasks: { pending: 1 } })
    expect(sandbox.ledger.charged).toBe(0)
  },
)

test('a search is one call: shown, stored and in the ledger', async () => {
  const { sandbox, place } = await staged()

  const shown = await place.call(['search', 'alpha.search', 'standing desk', '-p', 'gl=us', '-p', 'num=5'])
  const json = await place.call([
    'search',
    'alpha.news',
    'desk',
    '--style',
    'post',
    '-p',
    'location=Paris',
    '--json',
  ])

  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(/^ +1 {2}.*https:/m)
  expect(JSON.parse(json.stdout)).toMatchObject({ search_parameters: { q: 'desk', location: 'Paris' } })
  expect(sandbox.ledger.charged).toBe(2)
  expect(sandbox.ledger.requestsFor(({ method }) => method === 'POST')).toHaveLength(1)
  expect(place.sql('SELECT job, query, count(*) AS n FROM organic_results GROUP BY 1, 2')).toEqual([
    { job: 'search', query: 'standing desk', n: 5 },
  ])
  expect(place.sql('SELECT sum(credits) AS credits FROM calls WHERE billed = 1')).toEqual([{ credits: 2 }])
})

test('operations are listed with prices, and every one of them with its parameters as JSON', async () => {
  await using place = await workspace()

  const table = await place.call(['operations'])
  const json = await place.call(['operations', '--json'])

  expect(table.stdout).toMatch(/^alpha\.ai +3 /m)
  expect(JSON.parse(json.stdout)).toHaveLength(15)
  expect(JSON.parse(json.stdout)[0]).toMatchObject({
    name: 'alpha.search',
    credits: 1,
    styles: ['get', 'post'],
  })
})
