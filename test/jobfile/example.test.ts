import { describe, expect, test } from 'vitest'
import { jobFileJsonSchema } from '../../src/jobfile/json-schema.ts'
import { noBudget } from '../run/build.ts'
import { readJob } from './reading.ts'

const example = `name: acme-us                      # default: the file's name
operation: alpha.search            # or a list
params: { gl: us, hl: en }         # checked against the operation's own parameters
matrix: { gl: [us, gb] }           # every combination
depth: 30                          # look at 30 results: three pages of ten
paging: all                        # all | until-found | smart
style: get                         # get | post, where the service has both
async: auto                        # auto | always | never, for alpha.images
freshness: 12h                     # use a stored answer to the same call if it is younger
timezone: America/New_York
schedule: "0 6 * * *"
every: mon, thu
cadence: { money: 1d, long-tail: month }
targets: [acme.com, { site: acme.com/shop, match: prefix, label: Shop }]
competitors: [rival.com]
queries:
  - standing desk
  - { query: buy standing desk, tags: [money], priority: 10, volume: 2400, url: "https://acme.com/desks", every: 12h, params: { location: Austin } }
  - file: keywords.csv
budget: { max_credits: 500, keep: 1000 }
strict_echo: true
ctr: own
freshness_of_runs: { warn_after: 26h, error_after: 50h }
alerts: [{ when: drop, by: 3, top: 20, for: { tags: [money] }, confirm: 2, to: [mail] }]
ping: { url_env: PING_URL }
digest: { every: "mon 08:00", to: [mail], for: client }
report: { title: Acme in the US, client: Acme Inc., agency: North, logo: logo.svg, accent: "#0a5", footer: Confidential, period: 28d, language: en }
views: [{ name: Money, tags: [money], targets: [acme.com], kinds: [organic] }]
continues: { params: { location: null } }
notes: [{ date: 2026-10-01, text: New site, url: "https://acme.com/news" }]
`

const keywords = 'query,gl,tags,team\nsit stand desk,,a; b,red\ndesk legs,de,,\n'

describe('a job file with every key', () => {
  test('gives its settings', async () => {
    const { settings, problems } = await readJob({ 'job.yaml': example, 'keywords.csv': keywords })
    expect(problems).toEqual([])
    expect(settings).toEqual({
      name: 'acme-us',
      file: expect.stringMatching(/^\/.*\/job\.yaml$/),
      style: 'get',
      async: 'auto',
      paging: 'all',
      until: 'own',
      ctr: 'own',
      deepEveryMs: 604_800_000,
      freshnessMs: 43_200_000,
      strictEcho: true,
      timezone: 'America/New_York',
      schedule: '0 6 * * *',
      every: 'mon,thu',
      cadence: { money: '1d', 'long-tail': 'month' },
      freshnessOfRuns: { warnAfterMs: 93_600_000, errorAfterMs: 180_000_000 },
      targets: [
        { site: 'acme.com', match: 'domain', also: [], label: 'acme.com', own: true },
        { site: 'acme.com/shop', match: 'prefix', also: [], label: 'Shop', own: true },
        { site: 'rival.com', match: 'domain', also: [], label: 'rival.com', own: false },
      ],
      ping: { urlEnv: 'PING_URL' },
      digest: { cron: '0 8 * * 1', to: ['mail'], for: 'client' },
      report: {
        title: 'Acme in the US',
        client: 'Acme Inc.',
        agency: 'North',
        logo: expect.stringMatching(/^\/.*\/logo\.svg$/),
        accent: '#0a5',
        footer: 'Confidential',
        period: '28d',
        compare: null,
        language: 'en',
      },
      views: [{ name: 'Money', tags: ['money'], targets: ['acme.com'], kinds: ['organic'] }],
      continues: { params: { location: null }, operation: null, texts: {} },
      notes: [{ date: '2026-10-01', text: 'New site', url: 'https://acme.com/news' }],
      alerts: [
        {
          when: 'drop',
          by: 3,
          top: 20,
          below: null,
          for: { tags: ['money'], targets: null },
          confirm: 2,
          to: ['mail'],
        },
      ],
      budget: { ...noBudget, maxCredits: 500, keep: 1000 },
    })
  })

  test('gives its queries in the order of the file, each for every combination of the matrix', async () => {
    const { queries } = await readJob({ 'job.yaml': example, 'keywords.csv': keywords })
    expect(queries.map(({ text, params, source }) => [text, params, source.line])).toEqual([
      ['standing desk', { gl: 'us', hl: 'en' }, 17],
      ['standing desk', { gl: 'gb', hl: 'en' }, 17],
      ['buy standing desk', { gl: 'us', hl: 'en', location: 'Austin' }, 18],
      ['buy standing desk', { gl: 'gb', hl: 'en', location: 'Austin' }, 18],
      ['sit stand desk', { gl: 'us', hl: 'en' }, 2],
      ['sit stand desk', { gl: 'gb', hl: 'en' }, 2],
      ['desk legs', { gl: 'de', hl: 'en' }, 3],
    ])
    expect(queries[2]).toEqual({
      operation: 'alpha.search',
      text: 'buy standing desk',
      params: { gl: 'us', hl: 'en', location: 'Austin' },
      depth: 30,
      pages: null,
      tags: ['money'],
      priority: 10,
      volume: 2400,
      url: 'https://acme.com/desks',
      every: '12h',
      labels: {},
      targets: [],
      marksLeftOut: false,
      source: { file: expect.stringMatching(/job\.yaml$/), line: 18 },
    })
    expect(queries[4]).toMatchObject({ tags: ['a', 'b'], labels: { team: 'red' } })
  })

  test('has all its keys in the JSON Schema, each with a description', () => {
    const schema = jobFileJsonSchema() as { properties: Record<string, { description?: string }> }
    const keys = [...example.matchAll(/^(\w+):/gm)].map((match) => match[1] ?? '')
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(keys))
    for (const key of Object.keys(schema.properties))
      expect(schema.properties[key]?.description, key).toMatch(/\w{3}/)
    expect(schema).toMatchObject({
      additionalProperties: false,
      required: ['queries'],
      properties: {
        depth: { type: 'integer', minimum: 1 },
        paging: { enum: ['all', 'until-found', 'smart'] },
        queries: { type: 'array', minItems: 1 },
      },
    })
  })
})

test('a file with nothing but queries has the defaults', async () => {
  const { settings, queries } = await readJob({ 'shop.yml': 'queries: [desk]\n' })
  expect(settings).toMatchObject({
    name: 'shop',
    style: 'get',
    async: 'auto',
    paging: 'all',
    until: 'own',
    deepEveryMs: 604_800_000,
    freshnessMs: null,
    timezone: 'UTC',
    schedule: null,
    targets: [],
    budget: noBudget,
  })
  expect(queries).toMatchObject([
    {
      operation: 'alpha.search',
      text: 'desk',
      params: {},
      depth: null,
      pages: null,
      priority: 0,
      volume: null,
      url: null,
    },
  ])
})

test('two readings of the same files have the same digest, and a changed file another one', async () => {
  const files = { 'job.yaml': example, 'keywords.csv': keywords }
  const first = await readJob(files)
  expect(first.digest).toMatch(/^[0-9a-f]{64}$/)
  expect((await readJob(files)).digest).toBe(first.digest)
  expect((await readJob({ ...files, 'keywords.csv': `${keywords}more,,,\n` })).digest).not.toBe(first.digest)
  expect((await readJob({ ...files, 'job.yaml': `${example}#` })).digest).not.toBe(first.digest)
})
