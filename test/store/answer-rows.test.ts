import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kindCodes, type ResultKind } from '../../src/model/result.ts'
import { answerRows } from '../../src/store/answer-rows.ts'
import { aResult } from '../catalog/results.ts'
import { understood } from './answers.ts'

const { organic, related, video, image } = kindCodes
const kinds = Object.keys(kindCodes) as ResultKind[]
const nothing = [null, null, null, null, null, null, null]

test('results stand by kind, numbered within it in the order in which they came', () => {
  const results = [aResult('related'), aResult('organic'), aResult('related'), aResult('organic')]
  expect(answerRows(understood(results)).results).toEqual([
    [organic, 0, ...nothing],
    [organic, 1, ...nothing],
    [related, 0, ...nothing],
    [related, 1, ...nothing],
  ])
})

test('columns are filled in their order', () => {
  const shared = { position: 3, link: 'l', title: 't', snippet: 'n', source: 's', displayedLink: 'd' }
  const dated = { date: '2 May', publishedAt: '2026-05-02T00:00:00.000Z', precision: 'day' as const }
  const more = { channel: 'c', duration: '1:01', durationSeconds: 61, videoId: 'v' }
  const picture = { imageUrl: 'i', thumbnail: 'th', width: 640, height: 480 }
  const says = {
    ...understood(
      [
        aResult('organic', { ...shared, snippetMatched: ['a', '"'] }),
        aResult('video', { video: { ...dated, ...more } }),
        aResult('image', { image: picture }),
      ],
      {
        ...{ totalResults: 9, timeTaken: 0.5, notice: 'n', hasNextPage: false, nextPage: 2, currentPage: 1 },
        ...{ searchParameters: { q: 'a' }, knowledgeGraph: [1], aiMarkdown: '# m', aiBlocks: [] },
      },
    ),
    malformed: [7],
  }
  const rows = answerRows(says, { q: { asked: 'a', answered: 'b' } })
  expect(rows).toEqual({
    results: [
      [organic, 0, 3, 'l', 't', 'n', 's', 'd', '["a","\\""]'],
      [video, 0, ...nothing],
      [image, 0, ...nothing],
    ],
    dated: [[video, 0, '2 May', Date.UTC(2026, 4, 2), 'day', 'c', '1:01', 61, 'v']],
    images: [[image, 0, 'i', 'th', 640, 480]],
    facts: [9, 0.5, 'n', 0, 2, '{"q":"a"}', '[1]', '# m', '[]', '[7]', '{"q":{"asked":"a","answered":"b"}}'],
  })
})

test('whatever is sent, no text has half a character, and another thread gets the same', () => {
  const text = fc.option(fc.string({ unit: 'binary' }).map((start) => `${start}\ud83d`))
  const result = fc.record({
    ...{ link: text, title: text, snippet: text, source: text, displayedLink: text },
    snippetMatched: fc.array(text.map((matched) => matched ?? '')),
  })
  const dates = { date: text, publishedAt: fc.constant(null), precision: fc.constant(null) }
  const details = fc.record({
    video: fc.record({
      ...{ ...dates, channel: text, duration: text, videoId: text },
      durationSeconds: fc.constant(null),
    }),
    image: fc.record({ imageUrl: text, thumbnail: text, width: fc.nat(), height: fc.nat() }),
  })
  const facts = fc.record({
    ...{ notice: text, aiMarkdown: text },
    ...{ searchParameters: text, knowledgeGraph: text, aiBlocks: text },
  })
  const item = fc.record({ kind: fc.constantFrom(...kinds), result, details })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), facts, text, (items, facts, malformed) => {
      const results = items.map(({ kind, result, details }) => aResult(kind, { ...result, ...details }))
      const rows = answerRows({ ...understood(results, facts), malformed: [malformed] })
      expect(structuredClone(rows)).toEqual(rows)
      const values: readonly unknown[] = [...rows.results, ...rows.dated, ...rows.images, rows.facts].flat()
      const texts = values.filter((value) => typeof value === 'string')
      expect(texts.filter((value) => !value.isWellFormed())).toEqual([])
    }),
  )
})
