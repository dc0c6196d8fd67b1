import { describe, expect, test } from 'vitest'
import { billedAfter, classify, type NextStep, nextStepAfter } from '../../src/api/outcomes.ts'
import type { Outcome } from '../../src/model/call.ts'
import { testTable } from '../support/test-table.ts'

const rules: readonly [Outcome, NextStep, 0 | 1 | null][] = [
  ['answered', 'keep', 1],
  ['accepted', 'poll', 0],
  ['throttled', 'wait', 0],
  ['refused', 'stop-run', 0],
  ['out-of-credit', 'stop-run', 0],
  ['rejected', 'fail-task', 0],
  ['not-found', 'fail-task', null],
  ['server-error', 'retry', 0],
  ['unreachable', 'retry', 0],
  ['ambiguous', 'retry-once', null],
  ['redirected', 'stop-run', 0],
  ['unreadable', 'fail-task', 1],
]

testTable(rules)('%s leads to %s and is billed: %j', (outcome, consequence, billed) => {
  expect(nextStepAfter[outcome]).toBe(consequence)
  expect(billedAfter[outcome]).toBe(billed)
})

test('every outcome has one consequence and one billing, and there are no others', () => {
  const outcomes = rules.map(([outcome]) => outcome).sort()
  expect(Object.keys(nextStepAfter).sort()).toEqual(outcomes)
  expect(Object.keys(billedAfter).sort()).toEqual(outcomes)
})

describe('billing rules of the service', () => {
  const billedAt = (status: number, body = '{"error":"Invalid API Key"}') =>
    billedAfter[classify(status, Buffer.from(body)) as Outcome]

  testTable([200, 201, 204])('a synchronous %i is billed', (status) => {
    expect(billedAt(status, '{}')).toBe(1)
  })

  test('202 is not billed when it is accepted', () => {
    expect(billedAt(202)).toBe(0)
  })

  test('of a 404 nobody knows', () => {
    expect(billedAt(404)).toBeNull()
  })

  test('every other status from 300 to 599 is free', () => {
    const statuses = Array.from({ length: 300 }, (_, index) => 300 + index).filter((one) => one !== 404)
    expect(statuses.filter((status) => billedAt(status) !== 0)).toEqual([])
  })

  test('a rate-limit 401 is free', () => {
    expect(billedAt(401, '{"error":"Rate limit exceeded for the API key: quota monthly"}')).toBe(0)
  })
})
