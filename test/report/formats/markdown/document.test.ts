import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { markdown } from '../../../../src/report/formats/markdown/document.ts'
import { aRanking } from '../../build.ts'
import { aRun, smallRankings, wholeReport } from '../../whole.ts'

describe('a report as Markdown', () => {
  test('says everything of a small job', async () => {
    await expect(markdown(wholeReport(smallRankings, { runs: [aRun] }))).toMatchFileSnapshot(
      'small-report.md',
    )
  })

  test('says that there is nothing', () => {
    expect(markdown(wholeReport([]))).toBe('# Ranks of acme, 2026-03-01\n\nThere are no ranks to report.\n')
  })

  test('says what was asked to be compared with', () => {
    const compare = { day: '2026-02-01', tolerance: 3 }
    const period = { from: '2026-02-02', until: '2026-03-02', compare }
    expect(markdown(wholeReport(smallRankings, { period, compare }))).toContain(
      '2 Feb to 2 Mar 2026, nothing to compare with (asked for: 1 February 2026, ±3 days).',
    )
  })

  test('names pages that rank in place of the intended one', () => {
    const intended = { intended_url: 'https://acme.com/desks' }
    const rows = [
      aRanking(intended),
      aRanking({ query: 'lamp', ...intended, url: 'https://acme.com/desks#top' }),
    ]
    const text = markdown(wholeReport(rows))
    const [, section = ''] = text.split(/^## Other pages than the target page\n\n/m)
    expect(section.split('\n\n')[0]?.split('\n').slice(2)).toEqual([
      '| standing desk | acme.com | 3 | [acme.com/](https://acme.com/) | [acme.com/desks](https://acme.com/desks) |  |',
    ])
  })

  test('says how many more compete than it lists', () => {
    const days = ['2026-03-01', '2026-03-02', '2026-03-03']
    const flips = Array.from({ length: 23 }, (_, place) =>
      days.map((date, day) => aRanking({ query: `desk ${place}`, date, url: `https://acme.com/${day % 2}` })),
    )
    expect(markdown(wholeReport(flips.flat()))).toContain('\n\nAnd 3 more keywords.\n')
  })

  test('says how absent is counted', () => {
    const { measure } = wholeReport([])
    const text = markdown(wholeReport(smallRankings, { measure: { ...measure, absent: 'left out' } }))
    expect(text).toContain('average position: divided by ranked keywords.')
    expect(text).toContain(
      '| average position | The mean rank of the ranked keywords. | sum of ranks / ranked keywords |',
    )
  })

  test('is one table per section, however hostile the texts', () => {
    const evil = '|\n| `<img src=x onerror=alert(1)>` [x](javascript:alert(1)) **\u202e\u001b[31m'
    const hostile = smallRankings.map((row) => ({
      ...row,
      query: `${evil}${row.query}`,
      target: evil,
      tags: row.tags === 'head' ? evil.replace(';', ',') : null,
      url: evil,
    }))
    const options = { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true }
    const shape = (rankings: typeof smallRankings) =>
      micromark(markdown(wholeReport(rankings)), options)
        .match(/<\w+/g)
        ?.filter((tag) => tag !== '<a')
    expect(shape(hostile)).toEqual(shape(smallRankings))
    expect(markdown(wholeReport(hostile)).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  test('shows gaps in trends, also at their beginning', () => {
    const rows = [
      aRanking({ date: '2026-03-01', query: 'lamp' }),
      aRanking({ date: '2026-03-02' }),
      aRanking({ date: '2026-03-02', query: 'lamp' }),
    ]
    expect(markdown(wholeReport(rows))).toContain('| \u2007▇ |')
  })
})
