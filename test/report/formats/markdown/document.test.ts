import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { markdown } from '../../../../src/report/formats/markdown/document.ts'
import { plainPresentation } from '../../../../src/report/presentation/presentation.ts'
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

  test('says how absent is counted', () => {
    const { measure } = wholeReport([])
    const text = markdown(wholeReport(smallRankings, { measure: { ...measure, absent: 'left out' } }))
    expect(text).toContain(
      '| average position | The mean rank of the ranked keywords. | sum of ranks / ranked keywords |',
    )
  })

  test('is in the language of the report', () => {
    const presentation = { ...plainPresentation, language: 'de' as const }
    const text = markdown(wholeReport(smallRankings, { presentation, runs: [aRun] }))
    for (const said of [
      '# Rankings von acme',
      '## Nächste Schritte',
      '| rankend |',
      'Verlauf: die letzten Tage',
    ])
      expect(text).toContain(said)
    expect(text).not.toMatch(/\b(rank|keyword|checked|what to do|the day before)\b/)
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
