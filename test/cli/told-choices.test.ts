import { afterAll, beforeAll, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { inflated, type PackedPage } from '../../src/page/packed.ts'
import type { Workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { ranOn } from './staged.ts'

const items = ['desk', 'chair', 'lamp', 'shelf', 'stool', 'mat']
const job = `name: acme
targets: [acme.com]
competitors: [rival.com]
views:
  - { name: Heads, tags: [head] }
  - { name: Searched, where: volume>250 }
queries:
  - { query: oak plinth, tags: [head], params: { gl: us } }
  - { query: pine plinth, tags: [tail, pine], params: { gl: us } }
${items
  .flatMap((item, place) => [
    `  - { query: oak ${item}, volume: ${100 * place + 70}, tags: [head], params: { gl: us } }`,
    `  - { query: oak ${item}, volume: ${90 * place + 70}, tags: [tail], params: { gl: gb } }`,
    `  - { query: pine ${item}, volume: ${80 * place + 70}, tags: [tail, pine], params: { gl: us } }`,
  ])
  .join('\n')}
`
let place: Workspace
let told: PackedPage['told']
beforeAll(async () => {
  place = await ranOn(['2026-01-25', '2026-02-02', '2026-03-01', '2026-03-02', '2026-03-03'], job)
  const [{ today }] = place.sql('SELECT max(date) AS today FROM runs') as [{ today: string }]
  await place.file(
    'history.csv',
    `date,keyword,country,rank\n${items.map((item) => `2020-01-07,oak ${item},us,43\n`).join('')}`,
  )
  const counted = Array.from({ length: 100 }, (_, ago) =>
    items.flatMap((item) => [
      `${addDays(today, -ago)},oak ${item},usa,${ago + 3},${1000 + ago},4.2\n`,
      `${addDays(today, -ago)},pine ${item},usa,${ago + 1},${500 + ago},6.2\n`,
    ]),
  )
  await place.file('clicks.csv', `date,query,country,clicks,impressions,position\n${counted.flat().join('')}`)
  await place.file('volumes.csv', 'keyword,volume,country\npine plinth,900,us\noak plinth,800,us\n')
  for (const args of [
    ['import', 'history.csv', '--target', 'acme.com'],
    ['clicks', 'add', 'clicks.csv', '--site', 'acme.com'],
    ['volumes', 'add', 'volumes.csv', '--date', '2025-01-01'],
  ])
    expect((await place.call(args)).code).toBe(0)
  told = await toldIn()
})
afterAll(() => place[Symbol.asyncDispose]())

/** What the file of a report says of each choice. */
async function toldIn(...flags: readonly string[]): Promise<PackedPage['told']> {
  return (await pageOf(...flags)).told
}

async function pageOf(...flags: readonly string[]): Promise<PackedPage> {
  const { code } = await place.call(['report', 'acme', '--format', 'html', '-o', 'r.html', ...flags])
  expect(code).toBe(0)
  const [, data = ''] =
    (await place.read('r.html')).match(/<script id="page-data"[^>]*>(.*?)<\/script>/s) ?? []
  return JSON.parse(await inflated(data)) as PackedPage
}

/** Keywords have other places in a report of fewer. */
function withoutPlaces(story: PackedPage['told'][string] | undefined) {
  const { sentences, steps, ...rest } = story ?? { sentences: [], steps: [] }
  return {
    ...rest,
    sentences: sentences.map(({ text, opens }) => [text, opens.to]),
    steps: steps.map(({ what, reason, stake, keywords }) => [what, reason, stake, keywords.length]),
  }
}

testTable<readonly [string, ...string[]]>([
  [''],
  ['tag=head', '--tag', 'head'],
  ['tag=pine', '--tag', 'pine'],
  ['view=Heads', '--tag', 'head'],
  ['view=Searched', '--where', 'volume>250'],
  ['locale=gb', '--where', 'gl=gb'],
  ['period=7d', '--period', '7d'],
  ['compare=1d', '--compare', '1d'],
  ['view=Searched&period=7d', '--where', 'volume>250', '--period', '7d'],
])(
  'what is told of %j is what the report of the same keywords and days tells: %j',
  async (choice, ...flags) => {
    const own = (await toldIn(...flags))['']
    expect(told[choice]?.sentences.length).toBeGreaterThan(0)
    expect(withoutPlaces(told[choice])).toEqual(withoutPlaces(own))
  },
)

test('counted clicks are told in the days that the file was made for, and not in others', async () => {
  const ofAll = (await toldIn('--period', 'all'))['']
  const [counts, ofDays] = [
    /^Search Console counted [^;]+; what follows is estimated\. $/,
    told['period=all'],
  ]
  expect(told['']?.counted).toMatch(counts)
  expect(ofAll?.counted).toMatch(counts)
  expect(ofDays?.counted).toBe('')
  expect(withoutPlaces(ofDays).sentences).toEqual(withoutPlaces(ofAll).sentences)
})

test('what was imported, and volumes of old files, are counted of the keywords that are told of', async () => {
  const limitsOf = (choice: string): string => told[choice]?.limits.join(' ') ?? ''
  expect(limitsOf('')).toMatch(/volumes of 2 keywords are old.*imported \(.table.\) for 6 of 20 keywords/)
  expect(limitsOf('tag=head')).toMatch(
    /volumes of 1 keyword are old.*imported \(.table.\) for 6 of 7 keywords/,
  )
  for (const choice of ['tag=pine', 'locale=gb', 'target=rival.com'])
    expect(limitsOf(choice)).not.toContain('imported')
})

test('a report of other keywords or targets is given no history of those that it leaves out', async () => {
  const imported = async (...flags: readonly string[]) => {
    const { history } = await pageOf(...flags)
    return history.imported?.lines.map(({ keyword, target }) => [
      history.keywords[keyword]?.query,
      history.targets[target]?.label,
    ])
  }
  expect(await imported('--tag', 'pine')).toBeUndefined()
  expect(await imported('--target', 'rival.com')).toBeUndefined()
  expect(await imported('--where', 'volume=170')).toEqual([['oak chair', 'acme.com']])
})

test('stories of choices are not all the same, and each names fewer keywords than the whole', () => {
  const said = Object.values(told).map(({ sentences }) => sentences.map(({ text }) => text).join(' '))
  expect(new Set(said).size).toBeGreaterThan(5)
})
