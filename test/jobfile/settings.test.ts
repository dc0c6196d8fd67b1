import { Cron } from 'croner'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobOptions } from '../../src/model/job.ts'
import { type JobQuery, queryKey } from '../../src/model/query.ts'
import { schedule } from '../../src/schedule/slots.ts'
import { noBudget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { csvProblems, readJob, yamlProblems } from './reading.ts'

const q = 'queries: [a]\n'
const operations =
  'alpha.search, alpha.light, alpha.autocomplete, alpha.ai, alpha.news, alpha.videos, alpha.images, beta.search, gamma.search, gamma.images'

describe('codes of countries and languages', () => {
  const country = 'write the code of a country; find it with: rankline countries <name>'
  const language = 'write the code of a language; find it with: rankline languages <name>'

  testTable<[string, string, string]>([
    ['{ gl: uk }', 'gl', "gl cannot be 'uk'; write gb"],
    ['{ gl: UK }', 'gl', "gl cannot be 'UK'; write gb"],
    ['{ gl: zz }', 'gl', `gl cannot be 'zz'; ${country}`],
    ['{ gl: ja }', 'gl', "gl cannot be 'ja'; write jp"],
    ['{ hl: jp }', 'hl', "hl cannot be 'jp'; write ja"],
    ['{ hl: qq }', 'hl', `hl cannot be 'qq'; ${language}`],
    ['{ hl: qq-DE }', 'hl', `hl cannot be 'qq-DE'; ${language}`],
  ])('that are none are told with their place: %s', async (params, _, problem) => {
    expect(await yamlProblems(`params: ${params}\n${q}`)).toEqual([`job.yaml:1:15: ${problem}`])
  })

  test('are those of the second engine, of a CSV cell and of a flag, too', async () => {
    expect(await csvProblems('query,operation,cc\na,beta.search,uk\n')).toEqual([
      "k.csv:2: cc cannot be 'uk'; write gb",
    ])
    expect(await yamlProblems(q, { param: ['gl=xx'] })).toEqual([`-p: gl cannot be 'xx'; ${country}`])
  })

  test.each([
    ['gl', 'us GB de xk im tw ps no'],
    ['hl', 'en EN iw he fil zh-CN zh-tw pt-br pt-PT es-419 en-gb sr-Latn no nb haw'],
  ])('of any place are taken: %s', async (name, codes) => {
    const { problems } = await readJob({
      'k.csv': `query,${name}\n${codes
        .split(' ')
        .map((code) => `a,${code}\n`)
        .join('')}`,
    })
    expect(problems).toEqual([])
  })
})

test('forty mistakes in one file are forty lines, in the order of the file', async () => {
  const text = `name: a/b
operation: [alpha.search, alpha.images]
params: { gl: usa, hll: en, num: x, location: [a], page: 2, async: "true", query: z, uule: }
matrix: { hl: [en, e], lat: [1, 2], tbs: { a: b } }
depht: 30
depth: 3.5
pages: 0
paging: until-foud
until: both
async: yes
freshness: 12
timezone: Amerika/New_York
schedule: daily
targets: [acme, { site: acme.com, mach: host }, { site: acme.com, match: prefx }, { label: x }, "*.acme.com"]
competitors: rival.com
budget: { max_credits: 5.5, kep: 1 }
queries:
  - { qery: x }
  - { query: a, tags: money, priority: high, volume: many, url: acme, target: acme }
  - { query: "", params: { gl: uk1 } }
  - { query: a, depth: 1, pages: 1 }
  - [a]
  -
  - what: is this
  - { file: a.csv, tags: [x] }
  - { file: nope.csv }
  - { query: a, operation: alpha.serch }
  - "a\\u0007b"
`
  const problems = await yamlProblems(text)
  expect(problems).toEqual([
    "job.yaml:1:7: name cannot be 'a/b'; write a name without slashes",
    "job.yaml:3:15: gl cannot be 'usa'; write a two-letter country code such as us",
    "job.yaml:3:20: alpha.search and alpha.images have no parameter 'hll'; write 'hl'",
    "job.yaml:3:34: num cannot be 'x'; write a whole number from 1 up",
    'job.yaml:3:47: location cannot be a list; write one value',
    "job.yaml:3:52: 'page' is not a parameter to set; use 'depth:' or 'pages:'",
    "job.yaml:3:61: 'async' is not a parameter to set; use 'async: always' among the settings",
    "job.yaml:3:76: 'query' is not a parameter to set; write the text under 'queries:'",
    'job.yaml:3:86: uule is empty; give it a value or leave it out',
    "job.yaml:4:20: hl cannot be 'e'; write a two-letter language code such as en",
    "job.yaml:4:24: alpha.search and alpha.images have no parameter 'lat'; write one of tbs, location, uule, gl, hl, num, alpha_domains",
    'job.yaml:4:42: tbs cannot be a map; write a list of values',
    "job.yaml:5:1: unknown key 'depht'; write 'depth'",
    "job.yaml:6:8: depth cannot be '3.5'; write a whole number from 1 to 10000",
    "job.yaml:7:8: pages cannot be '0'; write a whole number from 1 to 1000",
    "job.yaml:8:9: paging cannot be 'until-foud'; write 'until-found'",
    "job.yaml:9:8: until cannot be 'both'; write one of own, all",
    "job.yaml:10:8: async cannot be 'yes'; write one of auto, always, never",
    "job.yaml:11:12: freshness cannot be '12'; write a time span such as 30m, 12h, 7d or 2w",
    "job.yaml:12:11: timezone cannot be 'Amerika/New_York'; write America/New_York",
    'job.yaml:13:11: schedule cannot be \'daily\'; write five or six cron fields in quotes, such as "0 6 * * *"',
    "job.yaml:14:11: target cannot be 'acme'; write a site such as acme.com or acme.com/shop",
    "job.yaml:14:35: unknown key 'mach'; write 'match'",
    "job.yaml:14:74: match cannot be 'prefx'; write 'prefix'",
    "job.yaml:14:83: site is missing; add 'site:'",
    "job.yaml:14:97: target cannot be '*.acme.com'; write the domain alone, which includes its subdomains",
    "job.yaml:15:14: competitors cannot be 'rival.com'; write a list such as [a, b]",
    "job.yaml:16:24: max_credits cannot be '5.5'; write a whole number from 0 up",
    "job.yaml:16:29: unknown key 'kep'; write 'keep'",
    "job.yaml:18:7: unknown key 'qery'; write 'query'",
    "job.yaml:19:23: tags cannot be 'money'; write a list such as [a, b]",
    "job.yaml:19:40: priority cannot be 'high'; write a whole number",
    "job.yaml:19:54: volume cannot be 'many'; write a whole number from 0 up",
    "job.yaml:19:65: url cannot be 'acme'; write a full address such as https://acme.com/desks",
    "job.yaml:19:79: target cannot be 'acme'; write a site such as acme.com or acme.com/shop",
    'job.yaml:20:14: query is empty; write the text to search for',
    "job.yaml:20:32: gl cannot be 'uk1'; write a two-letter country code such as us",
    'job.yaml:21:27: depth and pages cannot both be set; keep one of them',
    'job.yaml:22:5: query cannot be a list; write one value',
    'job.yaml:23:4: query is empty; give it a value or leave it out',
    'job.yaml:24:5: unknown key \'what\'; write "what: is this" with quotes if it is the text of a query',
    "job.yaml:25:20: unknown key 'tags'; write one of file, columns",
    'job.yaml:25:13: a.csv cannot be read: there is no such file; check the path',
    'job.yaml:26:13: nope.csv cannot be read: there is no such file; check the path',
    "job.yaml:27:28: operation cannot be 'alpha.serch'; write 'alpha.search'",
    "job.yaml:28:5: query 'a\ufffdb' contains a control character or a line break; remove it",
  ])
})

describe('what is wrong with a setting', () => {
  testTable<[string, readonly string[]]>([
    [
      `operation: usage\n${q}`,
      [
        `job.yaml:1:12: operation cannot be 'usage', a free lookup with its own command; write one of ${operations}`,
      ],
    ],
    [
      `matrix: { num: [${Array.from({ length: 101 }, (_, i) => i + 1)}], tbs: [${Array.from({ length: 100 }, (_, i) => `t${i}`)}] }\n${q}`,
      ['job.yaml:1:1: matrix turns each query into 10,100; write fewer values: up to 10,000 combinations'],
    ],
  ])('is said with its place: %s', async (text, problems) => {
    expect(await yamlProblems(text)).toEqual(problems)
  })
})

describe('a schedule that no clock could run', () => {
  const fields = 'write five or six cron fields in quotes, such as "0 6 * * *"'
  testTable([
    ['a b c d e', ': a is not a valid minute; write 0 to 59'],
    ['*/0 * * * *', ': 0 is not a valid step; write a step from 1 to 60'],
    ['5-1 * * * *', ': 5-1 ends before it begins; write 5-59,0-1'],
    ['0 0 31 2 *', ': that day never comes; write a day that the month has'],
    ['0 0 31 4,6 *', ': that day never comes; write a day that the month has'],
    ['0 0 32 * *', ': 32 is not a valid day of the month; write 1 to 31'],
    ['0 0 1-32/2 * *', ': 32 is not a valid day of the month; write 1 to 31'],
    ['0 0 0 * *', ': 0 is not a valid day of the month; write 1 to 31'],
    ['0 24 * * *', ': 24 is not a valid hour; write 0 to 23'],
    ['60 0 6 * * *', ': 60 is not a valid second; write 0 to 59'],
    ['0 6 * 13 *', ': 13 is not a valid month; write 1 to 12, or jan to dec'],
    ['0 6 * nov-feb *', ': nov-feb ends before it begins; write nov-dec,jan-feb'],
    ['0 6 * * 8', ': 8 is not a valid day of the week; write 0 to 7, or sun to sat'],
    ['0 6 * * fri-mon', ': fri-mon ends before it begins; write fri-sat,sun-mon'],
    ['0 6 * * monday', ': monday is not a valid day of the week; write 0 to 7, or sun to sat'],
    ['0 6 * * mon,,fri', ': the day of the week is missing; write 0 to 7, or sun to sat'],
    ['5/15 * * * *', ': 5/15 has no range to step through; write 5-59/15'],
    ['*/x * * * *', ': x is not a valid step; write a step from 1 to 60'],
    ['1-2-3 * * * *', `; ${fields}`],
    ['0 6 + * *', `; ${fields}`],
    ['0 6 * *', `; ${fields}`],
    ['0 0 6 * * * 2027', `; ${fields}`],
    ['@daily', `; ${fields}`],
  ])('is told what is wrong with %s', async (pattern, said) => {
    expect(await yamlProblems(`schedule: "${pattern}"\n${q}`)).toEqual([
      `job.yaml:1:11: schedule cannot be '${pattern}'${said}`,
    ])
  })

  test('is refused, and any other is taken, as the parser that will run it has it', () => {
    const end = fc.oneof(
      fc.integer({ min: 0, max: 62 }).map(String),
      fc.constantFrom('*', '?', 'L', 'mon', 'Jan', 'x', ''),
    )
    const range = fc.oneof(
      end,
      fc.tuple(end, end).map((ends) => ends.join('-')),
    )
    const part = fc.oneof(
      range,
      fc.tuple(range, end).map((parts) => parts.join('/')),
    )
    const field = fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(','))
    const usual = fc.constantFrom('*', '0', '1')
    const pattern = fc
      .array(fc.oneof(usual, field), { minLength: 5, maxLength: 6 })
      .map((parts) => parts.join(' '))
    fc.assert(
      fc.property(pattern, (text) => {
        // Of a range with a step, the parser looks at no number that it steps over: without the step it looks at all of them.
        const whole = text.replaceAll(/(-[^,/ ]*)\/[^, ]*/g, '$1')
        expect('value' in schedule(text)).toBe(comes(text) && comes(whole))
      }),
      { numRuns: 2_000 },
    )
  })

  function comes(pattern: string): boolean {
    try {
      return new Cron(pattern, { timezone: 'UTC', paused: true }).nextRun('2026-03-04T05:06:07Z') !== null
    } catch {
      return false
    }
  }
})

describe('what is right in a setting', () => {
  testTable<[string, object]>([
    [`freshness: 30m\n${q}`, { freshnessMs: 1_800_000 }],
    [`freshness: 2w\n${q}`, { freshnessMs: 1_209_600_000 }],
    [`schedule: "*/5 0 6  * * mon-fri"\n${q}`, { schedule: '*/5 0 6 * * mon-fri' }],
    [`schedule: 0 6 * * fri-sun\n${q}`, { schedule: '0 6 * * fri-sun' }],
    [`schedule: 0 6 29 2 *\n${q}`, { schedule: '0 6 29 2 *' }],
    [`schedule: 0 6 31 2 7\n${q}`, { schedule: '0 6 31 2 7' }],
    [
      `freshness_of_runs: { warn_after: 26h, error_after: 50h }\n${q}`,
      { freshnessOfRuns: { warnAfterMs: 93_600_000, errorAfterMs: 180_000_000 } },
    ],
    [
      `freshness_of_runs: { error_after: 2d }\n${q}`,
      { freshnessOfRuns: { warnAfterMs: null, errorAfterMs: 172_800_000 } },
    ],
    [`budget: { keep: 0 }\n${q}`, { budget: { ...noBudget, keep: 0 } }],
    [`paging: until-found\nuntil: all\ncompetitors: [b.com]\n${q}`, { paging: 'until-found', until: 'all' }],
    [
      `targets: [acme.com, ACME.com, "https://acme.com/", bücher.de, 1.2.3.4]\n${q}`,
      {
        targets: ['acme.com', 'bücher.de', '1.2.3.4'].map((site) => ({
          site,
          match: 'domain',
          also: [],
          label: site,
          own: true,
        })),
      },
    ],
    [`targets: [{ site: "https://acme.com/a?b=c", match: url }]\n${q}`, { targets: [{ match: 'url' }] }],
    [
      `targets: [{ site: acme.com, also: [mobile, amp, mobile] }]\ncompetitors: [{ site: b.com, also: [] }]\n${q}`,
      {
        targets: [
          { site: 'acme.com', also: ['amp', 'mobile'] },
          { site: 'b.com', also: [] },
        ],
      },
    ],
    [
      `targets: [acme.com, { site: acme.com, also: [amp], label: with AMP }]\n${q}`,
      { targets: [{ also: [] }, { also: ['amp'], label: 'with AMP' }] },
    ],
  ])('is read: %s', async (text, settings) => {
    const read = await readJob({ 'job.yaml': text })
    expect(read.problems).toEqual([])
    expect(read.settings).toMatchObject(settings)
  })
})

describe('params go to the operations that have them', () => {
  test('operations outside, matrix inside; a param is left out where an operation lacks it', async () => {
    const { queries, problems } = await readJob({
      'job.yaml': `operation: [alpha.search, gamma.search, gamma.images]
params: { safe: off, location: Austin }
matrix: { gl: [us, gb], hl: [en, de] }
queries: [a]
`,
    })
    expect(problems).toEqual([])
    const markets = [
      ['us', 'en'],
      ['us', 'de'],
      ['gb', 'en'],
      ['gb', 'de'],
    ]
    expect(queries.map(({ operation, params }) => [operation, params])).toEqual([
      ...markets.map(([gl, hl]) => ['alpha.search', { gl, hl, location: 'Austin' }]),
      ['gamma.search', {}],
      ...markets.map(([gl, hl]) => ['gamma.images', { gl, hl, safe: 'off' }]),
    ])
    expect(queries.map(({ params }) => Object.keys(params))).toEqual(
      queries.map(({ params }) => Object.keys(params).sort()),
    )
  })

  test("a query's own value stands in for the list of the matrix", async () => {
    const { queries } = await readJob({
      'job.yaml': 'matrix: { gl: [us, gb], hl: [en, de] }\nqueries: [{ query: a, params: { gl: fr } }]',
    })
    expect(queries.map(({ params }) => params)).toEqual([
      { gl: 'fr', hl: 'en' },
      { gl: 'fr', hl: 'de' },
    ])
  })

  test('a matrix may say one value without a list, and a repeated one counts once', async () => {
    const { queries } = await readJob({ 'job.yaml': 'matrix: { gl: us, hl: [en, en] }\nqueries: [a]' })
    expect(queries.map(({ params }) => params)).toEqual([{ gl: 'us', hl: 'en' }])
  })

  test('the style of the job decides, and operations without it keep theirs', async () => {
    const { queries, problems, settings } = await readJob({
      'job.yaml': `operation: [alpha.news, gamma.search]
style: post
params: { location: Austin }
queries: [a, { query: b, operation: alpha.images, params: { alpha_domains: x } }]
`,
    })
    expect(problems).toEqual([])
    expect(settings?.style).toBe('post')
    expect(queries.map(({ text, operation, params }) => [text, operation, params])).toEqual([
      ['a', 'alpha.news', { location: 'Austin' }],
      ['a', 'gamma.search', {}],
      ['b', 'alpha.images', { alpha_domains: 'x' }],
    ])
  })

  test('a job-wide param may be there for the operation of a query alone', async () => {
    const { queries, problems } = await readJob({
      'job.yaml': 'params: { lat: 1.5 }\nqueries: [a, { query: b, operation: [beta.search, beta.search] }]',
    })
    expect(problems).toEqual([])
    expect(queries.map(({ operation, params }) => [operation, params])).toEqual([
      ['alpha.search', {}],
      ['beta.search', { lat: 1.5 }],
    ])
  })
})

describe('flags', () => {
  const file = `name: a
operation: alpha.news
params: { gl: us, hl: en }
matrix: { gl: [us, gb] }
pages: 2
targets: [acme.com]
competitors: [rival.com]
budget: { max_credits: 5, keep: 6 }
queries: [x, { query: y, depth: 7 }]
`

  test('win over the file, and the file over the defaults', async () => {
    const { settings, queries, problems } = await readJob(
      { 'job.yaml': file },
      {
        name: 'b',
        operation: ['alpha.search', 'alpha.light'],
        param: ['gl=de', 'tbs=a=b'],
        depth: '30',
        style: 'post',
        async: 'never',
        paging: 'smart',
        until: 'all',
        freshness: '1d',
        timezone: 'Europe/Berlin',
        target: ['acme.com/shop'],
        match: 'prefix',
        maxCredits: '9',
        keep: undefined,
      },
    )
    expect(problems).toEqual([
      "-p: alpha.search has 'tbs' in the get style only; write 'style: get', or leave 'tbs' out",
    ])
    expect(settings).toBeNull()
    expect(queries).toEqual([])
    const right = await readJob(
      { 'job.yaml': file },
      {
        operation: ['alpha.search', 'alpha.light'],
        param: ['gl=de', 'tbs=a=b'],
        depth: '30',
        target: ['acme.com/shop'],
        match: 'prefix',
        maxCredits: '9',
      },
    )
    expect(right.settings).toMatchObject({
      name: 'a',
      targets: [
        { site: 'acme.com/shop', match: 'prefix', own: true },
        { site: 'rival.com', match: 'prefix', own: false },
      ],
      budget: { ...noBudget, maxCredits: 9, keep: 6 },
    })
    expect(
      right.queries.map(({ text, operation, params, depth, pages }) => [
        text,
        operation,
        params,
        depth,
        pages,
      ]),
    ).toEqual([
      ['x', 'alpha.search', { gl: 'de', hl: 'en', tbs: 'a=b' }, 30, null],
      ['x', 'alpha.light', { gl: 'de', hl: 'en' }, 30, null],
      ['y', 'alpha.search', { gl: 'de', hl: 'en', tbs: 'a=b' }, 7, null],
      ['y', 'alpha.light', { gl: 'de', hl: 'en' }, 7, null],
    ])
  })

  test('are the settings of a CSV', async () => {
    const { settings, queries } = await readJob(
      { 'My words.csv': 'query\na\n' },
      { pages: '3', target: ['a.com'], competitor: ['b.com'], paging: 'until-found', keep: '1' },
    )
    expect(settings).toMatchObject({
      name: 'My words',
      paging: 'until-found',
      targets: [{ own: true }, { own: false }],
      budget: { keep: 1 },
    })
    expect(queries).toMatchObject([{ pages: 3, depth: null }])
  })

  testTable<[JobOptions, string]>([
    [{ depth: 'x' }, "--depth: depth cannot be 'x'; write a whole number from 1 to 10000"],
    [{ depth: '1', pages: '1' }, '--pages: depth and pages cannot both be set; keep one of them'],
    [{ param: ['gl'] }, "-p: cannot be 'gl'; write key=value such as gl=us"],
    [{ param: ['gl=us', 'gl=de'] }, "-p: 'gl' is given twice; give it once"],
    [{ param: ['gl='] }, '-p: gl is empty; give it a value or leave it out'],
    [{ param: ['glx=a'] }, "-p: alpha.search has no parameter 'glx'; write 'gl'"],
    [{ operation: ['alpha.serch'] }, "--operation: operation cannot be 'alpha.serch'; write 'alpha.search'"],
    [{ match: 'hots' }, "--match: match cannot be 'hots'; write 'host'"],
    [
      { target: ['acme.com/a'] },
      "--target: 'acme.com/a' is more than a host, but match: domain compares only hosts; add --match prefix or --match url, or write only the host",
    ],
    [
      { target: ['acme.com/a?b=c'], match: 'prefix' },
      "--target: 'acme.com/a?b=c' has a query string, but match: prefix compares only paths; add --match url, or remove the query string",
    ],
    [
      { competitor: ['co.uk'] },
      "--competitor: competitor cannot be 'co.uk', a public suffix that many sites share; write one site such as acme.co.uk",
    ],
    [
      { competitor: ['x'] },
      "--competitor: competitor cannot be 'x'; write a site such as acme.com or acme.com/shop",
    ],
    [{ maxCredits: '-1' }, "--max-credits: max_credits cannot be '-1'; write a whole number from 0 up"],
    [{ keep: 'all' }, "--keep: keep cannot be 'all'; write a whole number from 0 up"],
    [
      { paging: 'smart' },
      "--paging: paging smart has no target to find; name your site under 'targets:', or write 'paging: all'",
    ],
  ])('a mistake in %j has no line', async (flags, problem) => {
    expect(await csvProblems('query\na\n', flags)).toEqual([problem])
  })

  test('that are wrong do not hide the mistakes of the file', async () => {
    expect(await csvProblems('query,gl\na,usa\n', { depth: '0' })).toEqual([
      "--depth: depth cannot be '0'; write a whole number from 1 to 10000",
      "k.csv:2: gl cannot be 'usa'; write a two-letter country code such as us",
    ])
  })
})

describe('one query has one spelling', () => {
  const spellings = [
    'standing desk,US,EN,Austin',
    'standing  desk,us,en, Austin',
    'standing\u00a0desk,Us,en,Austin\u200b',
    'standing\u200b desk,us,En,Austin',
  ]

  test('whatever the case of codes, white space, composition and marks, from a cell, a flag, a matrix and the folder', async () => {
    const csv = `query,gl,hl,location\n${spellings.join('\n')}\n`
    const { queries } = await readJob({ 'k.csv': csv })
    const keys = (list: readonly JobQuery[]) => list.map((query) => queryKey(query).toString('hex'))
    const usual = { text: 'standing desk', params: { gl: 'us', hl: 'en', location: 'Austin' } }
    const key = queryKey({ operation: 'alpha.search', ...usual }).toString('hex')
    expect(keys(queries)).toEqual([key, key, key, key])
    expect(queries.map(({ marksLeftOut }) => marksLeftOut)).toEqual([false, false, false, true])

    const param = ['gl=US', 'hl=EN', 'location=Austin ']
    const flagged = await readJob({ 'k.csv': 'query\nstanding desk\n' }, { param })
    expect(keys(flagged.queries)).toEqual([key])
    const varied = await readJob({
      'job.yaml': `matrix: { gl: [US, us, uS] }\nqueries: ["standing\u200b desk", { query: " standing desk", params: { hl: EN } }]\n`,
      'rankline.yaml': 'defaults: { params: { hl: EN, location: Austin } }\n',
    })
    expect(keys(varied.queries)).toEqual([key, key])
    expect(varied.queries.map(({ marksLeftOut }) => marksLeftOut)).toEqual([true, false])
  })

  test('which is that of the service', async () => {
    const { queries } = await readJob({
      'job.yaml': `queries:
  - { query: a, params: { hl: pt-br } }
  - { query: a, operation: beta.search, params: { mkt: EN-us } }
  - { query: a, operation: gamma.images, params: { safe: Strict } }
  - { query: a, operation: alpha.images, params: { alpha_domains: ENGINE.de } }
`,
    })
    expect(queries.map(({ params }) => params)).toEqual([
      { hl: 'pt-BR' },
      { mkt: 'en-US' },
      { safe: 'strict' },
      { alpha_domains: 'engine.de' },
    ])
  })

  test('and a text of nothing but marks is empty', async () => {
    expect(await csvProblems('query,gl\n\u200b\u2060,us\n')).toEqual([
      'k.csv:2: query is empty; write the text to search for',
    ])
  })
})

describe('continues', () => {
  test('says what was asked before, in a file and by flags', async () => {
    const { settings, problems } = await readJob({
      'job.yaml': `continues: { params: { location: null, gl: US, num: 20 }, operation: alpha.light, texts: { "standing  desk": Standing Desk } }\n${q}`,
    })
    expect(problems).toEqual([])
    expect(settings?.continues).toEqual({
      params: { location: null, gl: 'us', num: 20 },
      operation: 'alpha.light',
      texts: { 'standing desk': 'Standing Desk' },
    })
    const flagged = await readJob({ 'k.csv': 'query\na\n' }, { continues: ['location=', 'gl=gb'] })
    expect(flagged.settings?.continues?.params).toEqual({ location: null, gl: 'gb' })
  })

  testTable<[string, string]>([
    [
      '{ params: { lokation: null } }',
      "job.yaml:1:24: no operation has a parameter 'lokation'; write 'location'",
    ],
    [
      '{ params: { gl: usa } }',
      "job.yaml:1:28: gl cannot be 'usa'; write a two-letter country code such as us",
    ],
    ['{ operation: alpha.serch }', "job.yaml:1:25: operation cannot be 'alpha.serch'; write 'alpha.search'"],
  ])('that is wrong is told: %s', async (written, problem) => {
    expect(await yamlProblems(`continues: ${written}\n${q}`)).toEqual([problem])
  })
})
