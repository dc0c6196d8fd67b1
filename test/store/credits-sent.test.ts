import { describe, expect, test } from 'vitest'
import { answer, begin, settlement, submit, webPage } from './answers.ts'
import { aStore, hour, lease, meansOf, noon, plan, type Queries } from './build.ts'

/** Calls of answers leave half a second before noon. */
const today = { from: noon - 500, until: noon + hour }

describe('credits that were sent in a time', () => {
  test('are those of billed, lost and open calls, by job', async () => {
    const { store } = await aStore()
    const acme = await plan(store, { queries: [{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }] })
    const queries = [
      { text: 'x', operation: 'alpha.images' },
      { text: 'y', operation: 'alpha.ai' },
    ]
    const other = await plan(store, { job: { name: 'other' }, queries })
    const [a, b, c, d] = await lease(store, acme.id)
    const [x, y] = await lease(store, other.id)
    if (!a || !b || !c || !d || !x || !y) throw new Error('not leased')
    await answer(store, a, acme, webPage('a'))
    await store.settleCall(await begin(store, b), settlement({ outcome: 'ambiguous', billed: null }), null)
    await store.settleCall(await begin(store, c), settlement({ outcome: 'server-error', billed: 0 }), null)
    // In flight, and a job that was accepted.
    await begin(store, d)
    const job = await submit(store, x)
    await answer(store, y, other, webPage('y'))

    expect(await store.creditsSent(today)).toEqual([
      { job: 'acme', spent: 1, ambiguous: 2 },
      { job: 'other', spent: 3, ambiguous: 1 },
    ])
    await store.endJob({ ...job, acceptedAt: noon }, 0, noon + hour, null)
    expect((await store.creditsSent(today)).at(1)).toEqual({ job: 'other', spent: 3, ambiguous: 0 })
    expect(await store.creditsSent({ from: noon - hour, until: noon - 500 })).toEqual([])
    expect(await store.creditsSent({ from: noon + 1, until: noon + hour })).toEqual([])
  })

  test('count for each tag of their query, and for all tags where the query is no longer asked', async () => {
    const { store } = await aStore()
    const queries: Queries = [
      { text: 'a', tags: ['money', 'brand'] },
      { text: 'b', tags: ['brand'] },
      { text: 'c', tags: [] },
    ]
    const run = await plan(store, { queries })
    for (const task of await lease(store, run.id, { limit: 2 }))
      await answer(store, task, run, webPage(task.text))
    const sums = (jobs = ['acme'], tags = ['money', 'brand', 'none']) =>
      store.creditsSentByTag(today, jobs, tags)
    expect(await sums()).toEqual(
      new Map([
        ['money', 1],
        ['brand', 2],
      ]),
    )
    expect(await sums(['other'])).toEqual(new Map())

    // The call for c is lost, and c is taken out of the file.
    const [c] = await lease(store, run.id)
    if (!c) throw new Error('not leased')
    await begin(store, c)
    await store.recover([run.id], noon)
    await plan(store, { queries: queries.slice(0, 2), continues: run.id })
    expect(await sums()).toEqual(
      new Map([
        ['money', 2],
        ['brand', 3],
        ['none', 1],
      ]),
    )
  })
})

describe('limits that tasks share', () => {
  const names = (tasks: readonly { readonly text: string }[]) => tasks.map(({ text }) => text)
  const tagged: Queries = [
    ...['a', 'b', 'c'].map((text) => ({ text, tags: ['money', 'all'], priority: 9 })),
    { text: 'ai', tags: ['money'], priority: 8, operation: 'alpha.ai' },
    { text: 'd', tags: ['all'] },
    { text: 'e' },
  ]

  test('of a tag let through what they cover, and what comes behind it', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: tagged })
    const limits = [{ runIds: [run.id], tag: 'money', left: 2 }]
    const first = await lease(store, run.id, { limits })
    expect(names(first)).toEqual(['a', 'b', 'd', 'e'])
    expect(first[0]?.tags).toEqual(['money', 'all'])
    const [limit] = limits
    expect(
      await lease(store, run.id, { limits: [{ ...limit, runIds: [run.id], tag: 'money', left: 0 }] }),
    ).toEqual([])
    expect(await store.cheapestPending([run.id], ['alpha.search', 'alpha.ai'], 'money')).toBe(1)
    expect(await store.cheapestPending([run.id], ['alpha.search', 'alpha.ai'], 'all')).toBe(1)
    expect(await store.cheapestPending([run.id], ['alpha.search', 'alpha.ai'], 'none')).toBeNull()
    // What is not covered does not hide what stands behind it.
    await store.release(first.map(({ id }) => id))
    const none = { runIds: [run.id], tag: 'money', left: 0 }
    expect(names(await lease(store, run.id, { limits: [none], limit: 2 }))).toEqual(['d', 'e'])
  })

  test('of several runs hold for all of them together', async () => {
    const { store } = await aStore()
    const one = await plan(store, { queries: tagged.slice(0, 3) })
    const two = await plan(store, {
      job: { name: 'other' },
      queries: [{ text: 'x', priority: 99 }, { text: 'y' }],
    })
    const three = await plan(store, { job: { name: 'third' }, queries: [{ text: 'z' }] })
    const runs = [one, two, three].map(({ id }) => meansOf(id))
    const limits = [
      { runIds: [one.id, two.id], tag: null, left: 3 },
      { runIds: [one.id, two.id], tag: 'all', left: 1 },
    ]
    expect(names(await lease(store, one.id, { runs, limits }))).toEqual(['x', 'a', 'y', 'z'])
  })
})
