import { expect, test } from 'vitest'
import { targetsByLink } from '../../src/report/build-data.ts'
import { aHistory } from '../report/metrics/history.ts'

const links = ['https://acme.com/', 'https://acme.com/shop/desk', 'https://rival.example/']

test('a result belongs to every target that it ranked for, in the order of the targets', () => {
  const history = aHistory(
    [
      {
        cells: [1, 2],
        links: [[0, 0]],
        places: {
          1: [
            [2, 0],
            [5, 1],
          ],
        },
      },
      { of: 'Shop', cells: [-11, 5], links: [[1, 1]] },
      { of: 'Rival', cells: [3, -11], links: [[0, 2]] },
    ],
    { links },
  )
  const on = (day: number) => links.map((link) => targetsByLink(history, history.series, day)(link))
  expect(on(0)).toEqual([[0], [], [2]])
  expect(on(1)).toEqual([[0], [0, 1], []])
})

test('a result without a link belongs to none, nor does one of others', () => {
  const history = aHistory([{ cells: [1], links: [[0, 0]] }], { links })
  const owners = targetsByLink(history, history.series, 0)
  expect([owners(null), owners('https://other.example/')]).toEqual([[], []])
})
