import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { defaultCurve, defaultCurveCsv, parseCtr } from '../../src/report/ctr.ts'
import { type CtrCurve, rateOf } from '../../src/report/metrics/figure.ts'
import { testTable } from '../support/test-table.ts'

const facts = '# name: Ours\n# version: 3\n# source: our own clicks, 2026'
const withRates = (...lines: readonly string[]) => [facts, 'rank,ctr', ...lines].join('\n')
const ours = { name: 'Ours', version: '3', source: 'our own clicks, 2026' }

describe('a curve of one’s own', () => {
  test.each<[string, string, readonly number[]]>([
    ['fractions', withRates('1,0.3', '2,.15', '3,0'), [0.3, 0.15, 0]],
    ['percentages', withRates('1,30', '2,15.5', '3,0.7'), [0.3, 0.155, 0.007]],
    ['percentages with their sign', withRates('1,0.9%', '2,0.5 %'), [0.009, 0.005]],
    ['one rank that gets everything', withRates('1,1'), [1]],
    ['lines of another system', withRates('1,0.3', '2,0.1').replaceAll('\n', '\r\n'), [0.3, 0.1]],
    ['a byte order mark', `\ufeff${withRates('1,0.3')}`, [0.3]],
    ['empty lines, and remarks', withRates('', '# deeper ranks have none', '1,0.3', ',', ''), [0.3]],
    ['semicolons', withRates('1;0.3', '2;0.1').replace('rank,ctr', 'Rank;CTR'), [0.3, 0.1]],
    ['tabs', withRates('1\t0.3').replace('rank,ctr', 'rank\tctr'), [0.3]],
    ['what a spreadsheet writes', withRates('"1","0.3"').replaceAll(/(?<=^#.*)$/gm, ','), [0.3]],
  ])('may have %s', (_, text, rates) => {
    expect(parseCtr(text, 'ctr.csv')).toEqual({ ...ours, rates })
  })

  test.each<[string, string, readonly string[]]>([
    [
      'nothing',
      '',
      [
        "ctr.csv:1: the curve has no name; add a line '# name: …' above the header",
        "ctr.csv:1: the curve has no version; add a line '# version: …' above the header",
        "ctr.csv:1: the curve has no source; add a line '# source: …' above the header",
        "ctr.csv:1: no header 'rank,ctr'; write it above the ranks",
      ],
    ],
    ['no header', `${facts}\n1,0.3`, ["ctr.csv:4: no header 'rank,ctr'; write it above the ranks"]],
    ['no ranks', withRates(), ['ctr.csv:4: no rank follows the header; add lines such as 1,28.5%']],
    [
      'a name twice',
      withRates('1,0.3').replace('rank', '# name: Theirs\nrank'),
      ["ctr.csv:4: name is given twice; keep one line '# name: …'"],
    ],
    [
      'a rank left out, and one that is none',
      withRates('1,0.3', '3,0.1', 'x,0.1'),
      [
        "ctr.csv:6: rank 2 is expected, not '3'; list ranks from 1 on, each once",
        "ctr.csv:7: rank 3 is expected, not 'x'; list ranks from 1 on, each once",
      ],
    ],
    [
      'rates that are none',
      withRates('1,0.3', '2,-1', '3,', '4,1e-3'),
      [
        "ctr.csv:6: '-1' is not a rate; write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285",
        "ctr.csv:7: '' is not a rate; write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285",
        "ctr.csv:8: '1e-3' is not a rate; write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285",
      ],
    ],
    [
      'more than all clicks',
      withRates('1,101'),
      [
        'ctr.csv:5: 101 is more than all clicks; write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285',
      ],
    ],
    [
      'percentages with and without a sign',
      withRates('1,30%', '2,0.1'),
      ['ctr.csv:6: this rate has no % but others have; write all of them in one way'],
    ],
    [
      'a decimal comma',
      withRates('1,28,5'),
      ['ctr.csv:5: the row has 3 cells, not 2; write a rank and its rate'],
    ],
    [
      'no clicks at the top',
      withRates('1,0', '2,0'),
      ['ctr.csv:5: rank 1 gets no clicks, so nothing can be measured by it'],
    ],
    [
      'control characters',
      withRates('1,\u001b[2J'),
      [
        "ctr.csv:5: '\ufffd[2J' is not a rate; write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285",
      ],
    ],
    [
      'too many ranks',
      withRates(...Array.from({ length: 1001 }, (_, index) => `${index + 1},0.1`)),
      ['ctr.csv:4: 1001 ranks follow the header; 1000 at most are read'],
    ],
  ])('cannot have %s', (_, text, sentences) => {
    const read = () => parseCtr(text, 'ctr.csv')
    expect(read).toThrow(UsageError)
    expect(read).toThrow(new UsageError(sentences.join('\n')))
  })

  test('is read as it was written', () => {
    const permille = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(permille, (all) => {
        const percent = withRates(...all.map((one, index) => `${index + 1},${one / 10}%`))
        const fractions = withRates(...all.map((one, index) => `${index + 1},${one / 1000}`))
        const rates = all.map((one) => one / 1000)
        expect(parseCtr(percent, '').rates).toEqual(rates)
        expect(parseCtr(fractions, '').rates).toEqual(rates)
      }),
    )
  })
})

describe('the default curve', () => {
  test('is that of ten ranks which Sistrix published, each with fewer clicks than the one before', () => {
    expect(defaultCurve).toMatchObject({
      name: 'Sistrix 2020 (mobile)',
      version: '2020-07',
    } satisfies Partial<CtrCurve>)
    expect(defaultCurve.rates).toEqual([0.285, 0.157, 0.11, 0.08, 0.072, 0.051, 0.04, 0.032, 0.028, 0.025])
  })

  test('lies as a file beside the docs, to be copied', async () => {
    await expect(defaultCurveCsv).toMatchFileSnapshot('../../docs/ctr-curve.csv')
  })

  testTable<[number | null, number]>([
    [1, 0.285],
    [10, 0.025],
    [11, 0],
    [null, 0],
  ])('gives rank %s a rate of %d', (rank, rate) => {
    expect(rateOf(defaultCurve, rank)).toBe(rate)
  })
})
