import { afterAll, beforeAll, expect, test } from 'vitest'
import { inflated, type PackedPage } from '../../src/page/packed.ts'
import type { Workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { threeDays } from './staged.ts'

const items = ['desk', 'chair', 'lamp', 'shelf', 'stool', 'mat']
const job = `name: acme
targets: [acme.com]
competitors: [rival.com]
views:
  - { name: Heads, tags: [head] }
  - { name: Searched, where: volume>250 }
queries:
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
  place = await threeDays(job)
  told = await toldIn()
})
afterAll(() => place[Symbol.asyncDispose]())

/** What the file of a report says of each choice. */
async function toldIn(...flags: readonly string[]): Promise<PackedPage['told']> {
  const { code } = await place.call(['report', 'acme', '--format', 'html', '-o', 'r.html', ...flags])
  expect(code).toBe(0)
  const [, data = ''] =
    (await place.read('r.html')).match(/<script id="page-data"[^>]*>(.*?)<\/script>/s) ?? []
  return (JSON.parse(await inflated(data)) as PackedPage).told
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
  ['period=all', '--period', 'all'],
  ['compare=1d', '--compare', '1d'],
  ['view=Searched&period=all', '--where', 'volume>250', '--period', 'all'],
])(
  'what is told of %j is what the report of the same keywords and days tells: %j',
  async (choice, ...flags) => {
    const own = (await toldIn(...flags))['']
    expect(told[choice]?.sentences.length).toBeGreaterThan(0)
    expect(withoutPlaces(told[choice])).toEqual(withoutPlaces(own))
  },
)

test('stories of choices are not all the same, and each names fewer keywords than the whole', () => {
  const said = Object.values(told).map(({ sentences }) => sentences.map(({ text }) => text).join(' '))
  expect(new Set(said).size).toBeGreaterThan(5)
})
