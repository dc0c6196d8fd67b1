import { expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/query.ts'
import { selectionOf } from '../../src/run/selection.ts'
import { aJobQuery } from '../plan/build.ts'
import { testTable } from '../support/test-table.ts'

const desk = aJobQuery({
  text: 'standing desk',
  tags: ['money', 'us'],
  volume: 1000,
  priority: -2,
  params: { gl: 'us' },
  labels: { team: 'Red', 'search intent': 'buy', share: '0.5' },
})

function fits(where: string, query: JobQuery = desk): boolean {
  return selectionOf({ where: [where] })?.includes(query) ?? false
}

testTable([
  ['volume>1000', false],
  ['volume >= 1000', true],
  ['volume<1e3', null],
  ['volume!=1000', false],
  ['volume=1000.0', true],
  ['priority<0', true],
  ['priority > -2', false],
  ['tag=money', true],
  ['tags=de', false],
  ['tag!=money', false],
  ['tag!=de', true],
  ['gl=us', true],
  ['gl=US', true],
  ['team=red', true],
  ['search intent = buy', true],
  ['share>0.4', true],
  ['team>3', false],
  ['depth<100', false],
  ['engine=alpha', true],
  ['query=Standing Desk', true],
  ['query=standing\u00a0 desk\u200b', true],
  ['unheard=1', false],
  ['unheard!=1', true],
  ['constructor!=1', true],
  ['volume', null],
  ['volume=', null],
  ['>3', null],
  ['volume>>3', null],
] as const)('--where %s: %s', (where, expected) => {
  if (expected === null) expect(() => fits(where)).toThrow(/--where/)
  else expect(fits(where)).toBe(expected)
})

test('all flags must fit, and of several values of one flag any', () => {
  const selection = selectionOf({ tag: ['b', 'us'], engine: ['alpha'], query: ['STANDING desk'], limit: '3' })
  expect(selection?.includes(desk)).toBe(true)
  expect(selection?.includes({ ...desk, tags: ['c'] })).toBe(false)
  expect(selection?.includes({ ...desk, operation: 'beta.search' })).toBe(false)
  expect(selection).toMatchObject({ limit: 3, text: expect.stringContaining("--tag 'b' --tag 'us'") })
  expect(selectionOf({})).toBeNull()
})
