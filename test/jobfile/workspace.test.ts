import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { mistakeLines } from '../../src/jobfile/source.ts'
import { readWorkspace } from '../../src/jobfile/workspace.ts'
import type { JobOptions } from '../../src/model/job.ts'
import { noBudget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { folderOf, readIn, readJob } from './reading.ts'

const whole = `defaults: { timezone: Europe/Berlin, params: { hl: de } }
budget: { per_day: 2000, per_month: 40000, by_tag: { acme: { per_month: 9000 } } }
channels:
  ops:  { type: webhook, url_env: OPS_URL, secret_env: OPS_SECRET }     # signed by the Standard Webhooks rules
  chat: { type: slack, url_env: SLACK_URL }                            # also discord, teams
  mail: { type: email, to: [seo@acme.com] }                            # SMTP_URL and SMTP_FROM in the environment
  log:  { type: file, path: alerts.jsonl }
  call: { type: exec, command: [notify, --stdin] }
keep: { answers: 90d, results: 2y }
`

const dayMs = 86_400_000

/** What reading `rankline.yaml` of a folder gives, and its mistakes without the folder. */
async function read(text: string | null, name = 'rankline.yaml') {
  const folder = await folderOf(text === null ? {} : { [name]: text })
  const problems: string[] = []
  const file = await readWorkspace(folder, (problem) =>
    problems.push(mistakeLines.format(problem).replaceAll(`${folder}${path.sep}`, '')),
  )
  return { workspace: file?.workspace ?? null, problems, folder }
}

test('every key of rankline.yaml is read', async () => {
  const { workspace, problems, folder } = await read(whole)
  expect(problems).toEqual([])
  expect(workspace).toEqual({
    folder,
    channels: {
      ops: { type: 'webhook', urlEnv: 'OPS_URL', secretEnv: 'OPS_SECRET' },
      chat: { type: 'slack', urlEnv: 'SLACK_URL' },
      mail: { type: 'email', to: ['seo@acme.com'] },
      log: { type: 'file', path: 'alerts.jsonl' },
      call: { type: 'exec', command: ['notify', '--stdin'] },
    },
    budget: { perDay: 2000, perMonth: 40_000, byTag: { acme: { perDay: null, perMonth: 9000 } } },
    keep: { answersMs: 90 * dayMs, resultsMs: 2 * 365 * dayMs },
  })
})

testTable<[string, string | null]>([
  ['there is no file', null],
  ['the file is empty', ''],
  ['the file holds comments only', '# later\n'],
])('the workspace is empty where %s', async (_, text) => {
  const { workspace, problems, folder } = await read(text)
  expect(problems).toEqual([])
  expect(workspace).toEqual({
    folder,
    channels: {},
    budget: { perDay: null, perMonth: null, byTag: {} },
    keep: { answersMs: null, resultsMs: null },
  })
})

describe('a mistake in rankline.yaml has its line and says what to write', () => {
  testTable<[string, string]>([
    ['chanels: {}', "1:1: unknown key 'chanels'; write 'channels'"],
    [
      '- defaults',
      "1:1: the file is not a map of settings; write settings such as 'defaults:', 'channels:' or 'budget:'",
    ],
    ['keep: {}\n---\nkeep: {}', '2:1: a second YAML document begins here; write one map, without a line ---'],
    [
      'keep: { answers: 90 }',
      "1:18: answers cannot be '90'; write an age in days, weeks or years such as 90d or 2y",
    ],
    ['keep: { answer: 90d }', "1:9: unknown key 'answer'; write 'answers'"],
    ['budget: { per_dya: 1 }', "1:11: unknown key 'per_dya'; write 'per_day'"],
    ['budget: { per_day: many }', "1:20: per_day cannot be 'many'; write a whole number from 0 up"],
    ['budget: { by_tag: { acme: 5 } }', "1:27: acme cannot be '5'; write a map such as { key: value }"],
    [
      'budget: { by_tag: { acme: { max_credits: 5 } } }',
      "1:29: unknown key 'max_credits'; write one of per_day, per_month",
    ],
    ['channels: { a: { type: slak, url_env: X } }', "1:24: type cannot be 'slak'; write 'slack'"],
    [
      'channels: { a: { type: fax } }',
      "1:24: type cannot be 'fax'; write one of webhook, slack, discord, teams, email, file, exec",
    ],
    [
      'channels: { "a\\nb": { type: file, path: x } }',
      "1:11: channels cannot have the name 'a\ufffdb'; write one such as ops",
    ],
    ['channels: { a: { url_env: X } }', "1:16: type is missing; add 'type:'"],
    ['channels: { a: slack }', "1:16: a cannot be 'slack'; write a map such as { key: value }"],
    ['channels: { a: { type: slack } }', "1:16: url_env is missing; add 'url_env:'"],
    ['channels: { a: { type: slack, url_evn: X } }', "1:31: unknown key 'url_evn'; write 'url_env'"],
    [
      'channels: { a: { type: email, to: [me] } }',
      "1:36: to cannot be 'me'; write one address such as seo@acme.com",
    ],
    [
      'channels: { a: { type: email, to: me@acme.com } }',
      "1:35: to cannot be 'me@acme.com'; write a list such as [a, b]",
    ],
    [
      'channels: { a: { type: exec, command: notify --all } }',
      "1:39: command cannot be 'notify --all'; write a list such as [a, b]",
    ],
    [
      'channels: { a: { type: exec, command: [] } }',
      '1:39: command is an empty list; write at least one entry, or leave it out',
    ],
    ['defaults: { name: x }', "1:13: unknown key 'name'; write one of "],
    ['defaults: { timezon: UTC }', "1:13: unknown key 'timezon'; write 'timezone'"],
    ['defaults: { timezone: Berlin }', "1:23: timezone cannot be 'Berlin'; write Europe/Berlin"],
    ['defaults: { depth: 10, pages: 2 }', '1:24: depth and pages cannot both be set; keep one of them'],
    ['defaults: { params: { hll: de } }', "1:23: no operation has a parameter 'hll'; write 'hl'"],
    ['defaults: { params: { gl: uk } }', "1:27: gl cannot be 'uk'; write gb"],
    ['defaults: { matrix: { gl: [us, uk] } }', "1:32: gl cannot be 'uk'; write gb"],
    [
      'defaults: { targets: [acme] }',
      "1:23: target cannot be 'acme'; write a site such as acme.com or acme.com/shop",
    ],
    [
      'defaults: { targets: [a.com], competitors: [a.com] }',
      "1:45: 'a.com' is both a target and a competitor; keep it in one of the lists",
    ],
    ['defaults: { queries: [a] }', "1:13: unknown key 'queries'; write one of "],
  ])('%s', async (text, problem) => {
    const { workspace, problems } = await read(text)
    expect(workspace).toBeNull()
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(`rankline.yaml:${problem}`)
  })

  test('where an address stands in the place of a variable, without repeating the secret', async () => {
    const { problems } = await read(
      'channels: { a: { type: slack, url_env: "https://hooks.example/T0/secret" } }',
    )
    expect(problems).toEqual([
      'rankline.yaml:1:40: url_env is not the name of an environment variable; put the secret into .env, and write the name of its variable here, such as SLACK_URL',
    ])
  })

  test('where the file has the other extension', async () => {
    expect((await read('budget: { per_day: 1 }', 'rankline.yml')).problems).toEqual([
      'rankline.yml: the file is not read; call it rankline.yaml',
    ])
  })
})

describe('a job in the folder', () => {
  const shared = `defaults:
  timezone: Europe/Berlin
  depth: 30
  style: post
  params: { hl: de, location: Berlin }
  budget: { max_credits: 100, keep: 7 }
  every: 1d
  cadence: { money: 1d, blog: 7d }
  freshness_of_runs: { warn_after: 26h, error_after: 50h }
  alerts: [{ when: drop }, { when: lost }]
  targets: [acme.com]
  competitors: [rival.com]
`

  async function job(text: string, flags?: JobOptions) {
    return await readJob({ 'job.yaml': `${text}\nqueries: [a]`, 'rankline.yaml': shared }, flags)
  }

  testTable<[string, JobOptions, string, unknown]>([
    ['', {}, 'timezone', 'Europe/Berlin'],
    ['timezone: Europe/Paris', {}, 'timezone', 'Europe/Paris'],
    ['timezone: Europe/Paris', { timezone: 'Asia/Tokyo' }, 'timezone', 'Asia/Tokyo'],
    ['', { timezone: 'Asia/Tokyo' }, 'timezone', 'Asia/Tokyo'],
    ['', {}, 'budget', { ...noBudget, maxCredits: 100, keep: 7 }],
    ['budget: { keep: 1 }', {}, 'budget', { ...noBudget, maxCredits: 100, keep: 1 }],
    ['budget: { keep: 1 }', { maxCredits: '5' }, 'budget', { ...noBudget, maxCredits: 5, keep: 1 }],
    ['', {}, 'params', { hl: 'de', location: 'Berlin' }],
    ['params: { gl: at }', {}, 'params', { gl: 'at', hl: 'de', location: 'Berlin' }],
    ['params: { hl: en }', {}, 'params', { hl: 'en', location: 'Berlin' }],
    ['params: { hl: en }', { param: ['hl=fr'] }, 'params', { hl: 'fr', location: 'Berlin' }],
    ['params: { uule: w+CAIQ }', {}, 'params', { hl: 'de', uule: 'w+CAIQ' }],
    ['matrix: { hl: [en] }', {}, 'params', { hl: 'en', location: 'Berlin' }],
    ['every: 7d', {}, 'every', '7d'],
    ['cadence: { blog: 14d, news: 1d }', {}, 'cadence', { money: '1d', blog: '14d', news: '1d' }],
    ['freshness_of_runs: { warn_after: 2d }', {}, 'freshnessOfRuns.errorAfterMs', 50 * 3_600_000],
    ['freshness_of_runs: { warn_after: 2d }', {}, 'freshnessOfRuns.warnAfterMs', 2 * dayMs],
    ['alerts: [{ when: gain }]', {}, 'alerts', [expect.objectContaining({ when: 'gain' })]],
    ['', {}, 'depth', 30],
    ['pages: 2', {}, 'depth', null],
    ['pages: 2', {}, 'pages', 2],
    ['', { pages: '4' }, 'depth', null],
    ['', {}, 'sites', ['acme.com', 'rival.com']],
    ['targets: [rival.com]', {}, 'sites', ['rival.com']],
    ['', { target: ['x.com'] }, 'sites', ['x.com', 'rival.com']],
  ])('with %o and flags %o has %s', async (text, flags, key, value) => {
    const { settings, queries, problems } = await job(text, flags)
    expect(problems).toEqual([])
    const sites = settings?.targets.map(({ site }) => site)
    const [{ params, depth, pages } = { params: null, depth: undefined, pages: undefined }] = queries
    expect({ ...settings, params, depth, pages, sites }).toHaveProperty(key, value)
  })

  test('takes what its operations have, a CSV as much as a YAML', async () => {
    const rows = 'query,operation\na,beta.search\nb,alpha.autocomplete\n'
    const defaults = 'defaults: { style: post, timezone: Europe/Berlin, params: { cc: de, hl: de } }'
    const { queries, settings, problems } = await readJob({ 'k.csv': rows, 'rankline.yaml': defaults })
    expect(problems).toEqual([])
    expect(settings?.timezone).toBe('Europe/Berlin')
    expect(queries.map(({ params }) => params)).toEqual([{ cc: 'de' }, { hl: 'de' }])
  })

  test('that does not fit the paging of its folder is named itself', async () => {
    const { problems } = await readJob({
      'k.csv': 'query\na\n',
      'rankline.yaml': 'defaults: { paging: until-found }',
    })
    expect(problems).toEqual([
      "k.csv: paging until-found has no target to find; name your site under 'targets:', or write 'paging: all'",
    ])
  })

  test('has another digest when the folder says something else', async () => {
    const files = { 'k.csv': 'query\na\n', 'rankline.yaml': 'defaults: { depth: 10 }' }
    const { digest } = await readJob(files)
    expect((await readJob(files)).digest).toBe(digest)
    expect((await readJob({ ...files, 'rankline.yaml': 'defaults: { depth: 20 }' })).digest).not.toBe(digest)
  })

  test('is not opened when rankline.yaml has a mistake, and rankline.yaml itself is no job', async () => {
    const folder = await folderOf({ 'job.yaml': 'queries: [a]', 'rankline.yaml': 'defaults: { depth: x }' })
    expect(await readIn(folder, 'job.yaml')).toMatchObject({
      opened: false,
      problems: ["rankline.yaml:1:20: depth cannot be 'x'; write a whole number from 1 to 10000"],
    })
    expect((await readIn(folder, 'rankline.yaml')).problems).toEqual([
      'rankline.yaml: this file holds what the jobs of its folder share, and no job; name a job file beside it',
    ])
  })
})
