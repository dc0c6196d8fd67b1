import fc from 'fast-check'
import { expect } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperations } from '../../src/catalog/index.ts'
import type { BillableOperation } from '../../src/catalog/operation.ts'
import { testTable } from '../support/test-table.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: null }

/** What stands where an item should be; where items are texts, what is no text is none. */
const badItems = ({ response }: BillableOperation) =>
  response.itemFields.length === 0
    ? fc.jsonValue().filter(isNoText)
    : fc.jsonValue().filter((value) => typeof value !== 'object' || value === null || Array.isArray(value))

function isNoText(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return !isObject && typeof value !== 'string' && typeof value !== 'number'
}

const near = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    '',
    '0',
    '12',
    ' 7 ',
    '1e400',
    '3 hours ago',
    'Feb 30, 2026',
    '9:99',
    '99999999999999:00',
    -0,
    2 ** 60,
  ),
)

const each = testTable(billableOperations.map((operation) => [operation.name, operation] as const))
const runs = { numRuns: 15 }

each('%s: no value of a documented field makes the normaliser throw, or lose the item', (_, operation) => {
  const { required, optional = [], items: list, itemFields } = operation.response
  const fields = (names: readonly string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, near])), { requiredKeys: [] })
  const others = fields([...required, ...optional].filter((name) => name !== list))
  const item: fc.Arbitrary<unknown> = itemFields.length === 0 ? fc.string() : fields(itemFields)
  const sent = fc.array(item, { maxLength: 4 })
  fc.assert(
    fc.property(others, sent, (rest, bodyItems) => {
      const { results, malformed } = bodies.normalise(operation, { ...rest, [list]: bodyItems }, context)
      const ranked = results.filter(({ kind }) => kind === operation.kind)
      expect(ranked).toHaveLength(bodyItems.length)
      for (const bad of malformed) expect(bodyItems).not.toContain(bad)
      for (const { position, title, link, video } of results) {
        expect(position === null || Number.isSafeInteger(position)).toBe(true)
        for (const text of [title, link]) expect(text === null || typeof text === 'string').toBe(true)
        const seconds = video?.durationSeconds ?? null
        expect(seconds === null || Number.isSafeInteger(seconds)).toBe(true)
      }
    }),
    runs,
  )
})

each(
  '%s: good items beside bad ones are all kept, in their order, and the bad ones as they were sent',
  (_, operation) => {
    const { items: list, itemFields } = operation.response
    const goodItem = (index: number) =>
      itemFields.length === 0 ? `text ${index}` : { title: `text ${index}`, link: `https://a.com/${index}` }
    const entries = fc.array(
      fc.oneof(
        fc.constant(null).map(() => ({ bad: false as const })),
        badItems(operation).map((value) => ({ bad: true as const, value })),
      ),
    )
    fc.assert(
      fc.property(entries, (mixed) => {
        const sent = mixed.map((entry, index) => (entry.bad ? entry.value : goodItem(index)))
        const { results, malformed } = bodies.normalise(operation, { [list]: sent }, context)
        const good = mixed.flatMap((entry, index) => (entry.bad ? [] : [`text ${index}`]))
        expect(results.map(({ title }) => title)).toEqual(good)
        expect(malformed).toEqual(mixed.flatMap((entry) => (entry.bad ? [entry.value] : [])))
      }),
      runs,
    )
  },
)

each('%s: a body is understood from its bytes as from its value, or the reason is said', (_, operation) => {
  const list = operation.response.items
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom(list, 'search_parameters', 'error'), fc.jsonValue()),
      ),
      (body) => {
        const text = JSON.stringify(body)
        const understood = bodies.parse(operation, Buffer.from(text), context)
        if ('reason' in understood)
          expect(understood.reason).toMatch(/^('\w+' of )?the answer (is not|has no)|is not a list$/)
        else expect(understood).toEqual(bodies.normalise(operation, JSON.parse(text), context))
      },
    ),
    runs,
  )
})

each('%s: no bytes make it throw', (_, operation) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      expect(bodies.parse(operation, Buffer.from(bytes), context)).toBeTypeOf('object')
    }),
    runs,
  )
})
