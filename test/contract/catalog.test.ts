import { expect, test } from 'vitest'
import { findOperation, operations } from '../../src/catalog/index.ts'
import type { BillableOperation, Operation, Style } from '../../src/catalog/operation.ts'
import { testTable } from '../support/test-table.ts'
import { type DocumentedParam, documented, documentedCalls, documentedLookups } from './interface.ts'
import * as lookups from './lookup-answers.ts'
import { fieldOf, type Shape } from './shape.ts'

test('the catalog has every documented operation and no other', () => {
  const known = [...Object.keys(documented), ...Object.keys(documentedLookups)]
  expect(operations.map(({ name }) => name).sort()).toEqual(known.sort())
})

testTable(Object.entries(documented))(
  '%s is as documented',
  (name, { get, post, exclusive, cost, pageSize, answer, list }) => {
    const operation = billable(name)
    expect([operation.path, operation.postPath, operation.cost]).toEqual([get.path, post?.path, cost])
    expect(operation.styles).toEqual(post === undefined ? ['get'] : ['get', 'post'])
    expect(operation.paging === null ? undefined : operation.paging.pageSize).toBe(pageSize)
    const pairs = (operation.exclusive ?? []).map((group) => [...group].sort())
    expect(pairs).toEqual(exclusive === undefined ? [] : [[...exclusive].sort()])
    const { required, optional = [], items, itemFields } = operation.response
    expect(items).toBe(list)
    expect([...required].sort()).toEqual(namesOf(answer))
    expect([...optional].sort()).toEqual(optionalNamesOf(answer))
    const shape = fieldOf(answer, list)
    if (typeof shape !== 'object' || !('list' in shape)) throw new Error(`${list} is no list`)
    expect([...itemFields].sort()).toEqual(namesOf(shape.list))
    if (namesOf(answer).includes('search_parameters'))
      expect(fieldOf(fieldOf(answer, 'search_parameters'), 'engine')).toEqual({
        only: [operation.echoEngine],
      })
  },
)

testTable(documentedCalls.map((call) => [call.name, call.style, call] as const))(
  '%s by %s takes exactly the documented params',
  (name, style, call) => {
    const operation = billable(name)
    expect(paramsOf(operation, style).sort()).toEqual(Object.keys(call.params).sort())
    const firstPageNamed = operation.paging?.firstPageSent?.includes(style) ?? false
    expect(firstPageNamed).toBe(call.params.page?.required ?? false)
    for (const [param, known] of Object.entries(operation.params)) {
      const told = call.params[param]
      if (told !== undefined) expect({ param, ...rulesOf(known) }).toEqual({ param, ...rulesOf(told) })
    }
  },
)

testTable(Object.entries(documentedLookups))(
  '%s is free, at its documented path, with its params',
  (name, { path, params }) => {
    const operation = findOperation(name) as Operation
    expect([operation.billable, operation.cost, operation.path]).toEqual([false, 0, path])
    const rules = (from: Readonly<Record<string, Rules>>) =>
      Object.entries(from).map(([param, told]) => ({ param, ...rulesOf(told) }))
    expect(rules(operation.params)).toEqual(rules(params))
  },
)

test('the lookups answer with the documented fields', () => {
  const { usage, stats, 'finder.countries': countries, 'finder.languages': languages } = responses()
  expect([...(usage?.required ?? [])].sort()).toEqual(namesOf(lookups.olderUsage))
  expect([...(usage?.required ?? []), ...(usage?.optional ?? [])].sort()).toEqual(namesOf(lookups.newerUsage))
  expect([...(stats?.required ?? [])].sort()).toEqual(namesOf(lookups.stats))
  expect({ list: { fields: textFields(countries?.itemFields) } }).toEqual(lookups.countries)
  expect({ list: { fields: textFields(languages?.itemFields) } }).toEqual(lookups.languages)
})

type Rules = Pick<DocumentedParam, 'required' | 'default' | 'values'> & { readonly type: string }

/** Whole numbers are numbers: where the document says number, the catalog may ask for a whole one. */
function rulesOf({ type, required, default: usual, values }: Rules) {
  return { type: type === 'integer' ? 'number' : type, required, usual, values }
}

function billable(name: string): BillableOperation {
  const operation = findOperation(name)
  if (operation?.billable !== true) throw new Error(`${name} is not billable`)
  return operation
}

/** All params of a style, with those that are not the user's to set. */
function paramsOf({ params, paging, asyncParam }: BillableOperation, style: Style): string[] {
  const own = Object.entries(params).filter(([, { styles }]) => styles?.includes(style) ?? true)
  return [
    'query',
    ...own.map(([name]) => name),
    ...(paging === null ? [] : ['page']),
    ...(asyncParam === undefined ? [] : [asyncParam]),
  ]
}

function responses() {
  return Object.fromEntries(operations.map(({ name, response }) => [name, response]))
}

function namesOf(shape: Shape): string[] {
  return typeof shape === 'object' && 'fields' in shape ? Object.keys(shape.fields).sort() : []
}

function optionalNamesOf(shape: Shape): string[] {
  return typeof shape === 'object' && 'fields' in shape ? Object.keys(shape.optional ?? {}).sort() : []
}

function textFields(names: readonly string[] = []): Readonly<Record<string, 'text'>> {
  return Object.fromEntries(names.map((name) => [name, 'text' as const]))
}
