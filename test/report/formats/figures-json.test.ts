import { expect, test } from 'vitest'
import { summaryDocument } from '../../../src/report/formats/figures-json.ts'
import { summarise } from '../../../src/report/summary.ts'
import { aHistory, aPageOf, aSerp, curve, march } from '../metrics/history.ts'

const links = ['https://acme.com/a', 'https://acme.com/b']
const [a, b] = [0, 1]
const flipping = [
  [0, a],
  [1, b],
  [2, a],
] as const
const history = aHistory(
  [
    { query: 'lamp', volume: 100, url: links[b] as string, cells: [4, 2, 2], links: [[0, a]] },
    { query: 'desk', volume: 300, cells: [2, 5, 6], links: flipping },
    { query: 'desk', of: 'rival.com', volume: 300, cells: [1, 1, 1] },
    { query: 'who sells desks', operation: 'alpha.ai', kind: 'reference', cells: [1, 1, 1] },
    { query: 'who sells lamps', operation: 'alpha.ai', kind: 'reference', cells: [-6, -6, 0] },
    {
      ...{ query: 'who sells desks', operation: 'alpha.ai', kind: 'reference', of: 'rival.com' },
      cells: [-6, 3, 2],
    },
  ],
  { links },
)
const [lamp, desk, answer] = [0, 1, 2]
/** Site 7 is acme.com's, site 8 belongs to both targets. */
const targets = { 7: [0], 8: [0, 1] }
const page = aPageOf(history, {
  serps: [
    aSerp([1, 2, 7], { keyword: lamp, day: 1, targets }),
    aSerp([1, 7, 3], { keyword: lamp, day: 2, targets }),
    aSerp([8, 7, 2], { keyword: desk, day: 1, targets }),
    aSerp([8, 7, 2], { keyword: desk, day: 2, targets }),
    aSerp([7, 7, 7], { keyword: answer, day: 2, targets }),
  ],
  citations: [
    { keyword: answer, day: 1, references: 9, cited: [{ target: 0, indexes: [8] }] },
    {
      ...{ keyword: answer, day: 2, references: 5 },
      cited: [
        { target: 0, indexes: [1, 4] },
        { target: 1, indexes: [2] },
      ],
    },
  ],
  sites: ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 'acme.com', 'both.com'],
  links: ['l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7', 'l8'],
})
const { first_ten: firstTen, targets: told } = summaryDocument(summarise(history, { curve }), page)
const [own, rival] = told
const figure = (name: string) => own?.figures.find(({ metric }) => metric === name)

test('results of the last day are shared by every target that they belong to', () => {
  // 100 * 0.2 + 300 * (0.5 + 0.2) of (100 + 300) * 0.8
  expect(figure('serp_share_of_voice')).toMatchObject({ value: 230 / 320, observed: 2, weighed_by: 'volume' })
  expect(figure('first_ten_share')).toMatchObject({ value: 3 / 6, numerator: 3, denominator: 6 })
  const other = rival?.figures.find(({ metric }) => metric === 'serp_share_of_voice')
  expect(other?.value).toBeCloseTo(150 / 320, 12)
})

test('citations are those of the last day', () => {
  expect(own?.citations).toMatchObject([
    { metric: 'cited_answers', value: 1, numerator: 1, expected: 2 },
    { metric: 'citation_share', value: 2 / 5 },
    { metric: 'citation_index', value: 2.5, first: 1 },
  ])
  expect(rival?.citations[1]).toMatchObject({ numerator: 1, denominator: 5 })
})

test('the best rank is told with its first day and keyword', () => {
  expect(own?.best_rank).toMatchObject({ value: 2, date: march(1), query: 'desk', operation: 'alpha.search' })
  expect(rival?.best_rank).toMatchObject({ value: 1, date: march(1), query: 'desk' })
})

test('a keyword that entered has no rank before, which JSON says', () => {
  const entered = aHistory([{ cells: [-11, 3] }])
  const [target] = JSON.parse(
    JSON.stringify(summaryDocument(summarise(entered, { curve }), aPageOf(entered))),
  ).targets
  expect(target.movers.winners).toMatchObject([
    { movement: 'entered', rank: 3, previous_rank: null, gain: null },
  ])
})

test('pages that compete and landing pages are of the headline kind', () => {
  expect(own?.cannibalisation).toMatchObject({
    value: 1,
    keywords: 1,
    most: [
      { query: 'desk', flips: 1, days_together: 0, pages: [{ url: links[a], days: 2, days_first: 2 }, {}] },
    ],
  })
  expect(own?.landing_page).toMatchObject({
    right: 0,
    wrong_page: 1,
    not_ranked: 0,
    none_intended: 1,
    unknown: 0,
  })
  expect(rival?.cannibalisation).toMatchObject({ value: 0, keywords: 0, most: [] })
})

test('turnover and the shares of sites are of each kind by itself, the greatest share first', () => {
  const [web, answers] = firstTen
  // One of three pages for the lamp, none of three for the desk.
  expect(web?.turnover).toMatchObject({ value: 1 / 6, numerator: 1, denominator: 6, compared: 2 })
  expect(web?.site_share).toMatchObject({ serps: 2, weighed_by: 'volume' })
  expect(web?.site_share.sites.map(({ site, targets: whose }) => [site, whose])).toEqual([
    ['both.com', ['acme.com', 'rival.com']],
    ['acme.com', ['acme.com']],
    ['s1', []],
    ['s2', []],
    ['s3', []],
  ])
  // Now 300 * 0.2 + 100 * 0.2, before 300 * 0.2 + 100 * 0.1, of 400 * 0.8
  const acme = web?.site_share.sites[1]
  expect(acme).toMatchObject({ value: 80 / 320, before: 70 / 320, serps: 2, serps_before: 2 })
  expect(acme?.change).toBeCloseTo(10 / 320, 12)
  expect(answers).toMatchObject({ kind: 'reference', turnover: { value: null }, site_share: { sites: [] } })
})
