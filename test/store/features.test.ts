import { expect, test } from 'vitest'
import {
  type AnswerFacts,
  featureBits,
  type ResultKind,
  type SerpFeature,
  serpFeatures,
} from '../../src/model/result.ts'
import { dropOldResults } from '../../src/store/sqlite/maintenance/prune.ts'
import { aResult } from '../catalog/results.ts'
import { understood, webPage, work } from './answers.ts'
import { aStore, hour, noon, plan, text } from './build.ts'

const day = 24 * hour

const says = (kinds: readonly ResultKind[], facts: Partial<AnswerFacts> = {}) =>
  understood(
    kinds.map((kind, place) => aResult(kind, { position: place + 1 })),
    facts,
  )

const pages: readonly (readonly [string, ReturnType<typeof says>, readonly SerpFeature[]])[] = [
  ['web results alone', says(['organic']), []],
  ['a knowledge panel', says(['organic'], { knowledgeGraph: { title: 'Desk' } }), ['knowledge']],
  ['an empty object in place of one', says(['organic'], { knowledgeGraph: {} }), []],
  ['related searches', says(['organic', 'related', 'related']), ['related']],
  ['both', says(['organic', 'related'], { knowledgeGraph: { a: 1 } }), ['knowledge', 'related']],
  ['an AI answer', says(['reference'], { aiMarkdown: 'Desks.' }), []],
  ['news', says(['news']), []],
  ['nothing at all', says([]), []],
]

test('a page has what its answer says', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: text(...pages.map(([title]) => title)) })
  await work(temp.store, run, (task) => pages.find(([title]) => title === task.text)?.[1] ?? null)
  const pagesFound = temp.store.featuresIn(run.id)
  const found = new Map(pagesFound.queries.map((query, place) => [query, pagesFound.features[place]]))
  const queries = temp.store.queries([...found.keys()])
  const said = queries.map(({ id, query }) => [
    query,
    serpFeatures.filter((one) => (found.get(id) ?? 0) & featureBits([one])),
  ])
  expect(Object.fromEntries(said)).toEqual(
    Object.fromEntries(pages.map(([title, , features]) => [title, features])),
  )
})

const none = { queries: [], features: [] }

test('only first pages count, failed ones say nothing, and what retention dropped is not known', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: text('a', 'b').map((one) => ({ ...one, pages: 2 })) })
  await work(temp.store, run, (task) =>
    task.text === 'b' ? null : webPage('x', task.page === 2 ? { knowledgeGraph: { late: 1 } } : {}),
  )
  expect(temp.store.featuresIn(run.id)).toEqual({ queries: [1], features: [0] })
  expect(temp.store.featuresIn(run.id + 1)).toEqual(none)
  await temp.store.closeRun(run.id, noon)
  const dropped = await dropOldResults(temp.path, { now: noon + 1000 * day, before: noon + 999 * day })
  expect(dropped).toMatchObject({ answers: 2 })
  expect(temp.store.featuresIn(run.id)).toEqual(none)
})
