import fc from 'fast-check'
import { expect } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperations } from '../../src/catalog/index.ts'
import type { BillableOperation, ReadingContext } from '../../src/catalog/operation.ts'
import type { ParsedAnswer } from '../../src/model/result.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

const now = Date.parse('2026-03-31T12:00:00Z')
const context = { fetchedAt: now, language: 'en', country: 'us' }
const world = createWorld('messy', ['acme.com', 'example.org'])

type Body = Record<string, unknown>

/** An answer as the service documents it. */
function goodBody(operation: BillableOperation): Body {
  const asked = { style: 'get', query: 'desk', params: {}, page: 1, isAsync: false } as const
  const body = world(operation, asked, { now, pages: 'even', positions: 'restart' })
  return JSON.parse(JSON.stringify(body)) as Body
}

function read(operation: BillableOperation, body: unknown, from: ReadingContext = context): ParsedAnswer {
  const understood = bodies.parse(operation, Buffer.from(JSON.stringify(body)), from)
  if ('reason' in understood) throw new Error(understood.reason)
  return understood
}

/** What a field may hold instead of what is documented; `undefined` is no field at all. */
const garbage = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  anyText(),
  fc.constantFrom(undefined, null, '', ' ', false, true, 0, -0, 1.5, 2 ** 60, '7', [], [[]], {}, { 0: 'a' }),
  fc.constantFrom(
    '//acme.com',
    '/url?q=x',
    'javascript:void 0',
    '&lt;b&gt;',
    '\u0000',
    '\ud800',
    '\u202e',
    'hl-XX',
  ),
)

interface Change {
  /** Index of an item, of those there are. */
  readonly at: number
  /** Field of the item; null for the whole item. */
  readonly field: number | null
  readonly value: unknown
}

const changes = fc.array(
  fc.record({ at: fc.nat(), field: fc.option(fc.nat(), { freq: 4 }), value: garbage }),
  { maxLength: 8 },
)

/** The items with the changes in them, and which of them are still as they were. */
function changed(operation: BillableOperation, items: readonly unknown[], wanted: readonly Change[]) {
  const { itemFields } = operation.response
  const sent = [...items]
  for (const { at, field, value } of wanted) {
    const index = at % sent.length
    const name = field === null ? undefined : itemFields[field % itemFields.length]
    const before = sent[index]
    // In a list, what is undefined is written as null.
    if (name === undefined || typeof before !== 'object' || before === null) sent[index] = value ?? null
    else sent[index] = { ...before, [name]: value }
  }
  return { sent, untouched: (index: number) => sent[index] === items[index] }
}

/** What every test begins with: the answer as it should be, and what is read from it. */
const cases = billableOperations.map((operation) => {
  const list = operation.response.items
  const body = goodBody(operation)
  const { related_searches: _related, ...rest } = body
  const items = body[list] as readonly unknown[]
  return [operation.name, { operation, list, body, items, rest, good: ranked(operation, body) }] as const
})

function ranked(operation: BillableOperation, body: unknown, from?: ReadingContext): ParsedAnswer['results'] {
  return read(operation, body, from).results.filter(({ kind }) => kind === operation.kind)
}

const each = testTable(cases)
const runs = { numRuns: 30 }

each(
  'a messy answer of %s has all its good items as they were, and each bad one costs itself alone',
  (_, { operation, list, items, good, rest }) => {
    expect(good).toHaveLength(items.length)
    fc.assert(
      fc.property(changes, (wanted) => {
        const { sent, untouched } = changed(operation, items, wanted)
        const understood = read(operation, { ...rest, [list]: sent })
        const each = sent.map((item) => read(operation, { ...rest, [list]: [item] }))
        expect(understood.results).toEqual(each.flatMap(({ results }) => results))
        expect(understood.malformed).toEqual(each.flatMap(({ malformed }) => malformed))
        expect(understood.results.length + understood.malformed.length).toBe(items.length)
        for (const [index, one] of each.entries())
          if (untouched(index)) expect(one.results).toEqual([good[index]])
      }),
      runs,
    )
  },
)

each(
  'a messy answer of %s has all its items, whatever the other fields and the locale hold',
  (_, { operation, list, body, items, good }) => {
    const names = Object.keys(body).filter((name) => name !== list)
    const others = fc.record(Object.fromEntries(names.map((name) => [name, garbage])), { requiredKeys: [] })
    const nobodyAsked = { ...context, language: null, country: null }
    fc.assert(
      fc.property(others, garbage, garbage, garbage, (said, hl, gl, mkt) => {
        expect(ranked(operation, { ...body, ...said })).toEqual(good)
        const echoed = { ...body, search_parameters: { hl, gl, mkt } }
        expect(ranked(operation, echoed, nobodyAsked)).toHaveLength(items.length)
      }),
      runs,
    )
  },
)

each(
  'a messy answer of %s has them also where they come as an object',
  (_, { operation, list, body, items }) => {
    const asObject = { ...body, [list]: { ...items } }
    expect(read(operation, asObject)).toEqual(read(operation, body))
  },
)
