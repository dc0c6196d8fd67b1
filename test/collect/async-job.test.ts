import { expect, test } from 'vitest'
import { billableOperation } from '../../src/catalog/index.ts'
import { jobIdOf, jobStateOf } from '../../src/collect/async-job.ts'
import { testTable } from '../support/test-table.ts'

const body = (value: unknown) => Buffer.from(JSON.stringify(value))

testTable<[string, unknown, Record<string, string>, string | null]>([
  ['job_id', { job_id: 'a1' }, {}, 'a1'],
  ['a number', { id: 17 }, {}, '17'],
  ['camel case', { jobId: 'b2', status: 'accepted' }, {}, 'b2'],
  ['wrapped', { data: { id: 'c3' } }, {}, 'c3'],
  ['wrapped twice', { data: { job: { id: 'd4' } } }, {}, 'd4'],
  ['in a header', {}, { 'x-job-id': 'e5' }, 'e5'],
  ['at the end of a location', {}, { location: '/jobs/f6?key=x' }, 'f6'],
  ['the body before the header', { job_id: 'a1' }, { 'x-request-id': 'r' }, 'a1'],
  ['nowhere', { status: 'accepted' }, {}, null],
])('the id of an accepted job is found: %s', (_, answer, headers, id) => {
  expect(jobIdOf(body(answer), headers)).toBe(id)
})

testTable<[unknown, string]>([
  [{ images: [] }, 'completed'],
  [{ images: { 0: {}, 1: {} } }, 'completed'],
  [{ data: { images: { link: 'https://acme.com/' } } }, 'completed'],
  [{ images: {} }, 'running'],
  [{ images: 'soon' }, 'running'],
  [{ images: null, status: 'processing' }, 'running'],
  [{ status: 'completed', result: { images: [{}] } }, 'completed'],
  [{ data: { result: { images: [] } } }, 'completed'],
  [{ status: 'Done' }, 'completed'],
  [{ status: 'failed', error: 'Internal Error' }, 'failed'],
  [{ job: { state: 'cancelled' } }, 'failed'],
  [{ status: 'processing' }, 'running'],
  [{ status: 'quantum flux' }, 'running'],
  [{ status: null }, 'running'],
  [[], 'running'],
  ['no object', 'running'],
])('a poll that answers %j says %s', (answer, state) => {
  expect(jobStateOf(body(answer), billableOperation('alpha.images').response)).toBe(state)
})

test('a byte order mark hides neither the id nor the state of a job', () => {
  const marked = (text: string) => Buffer.from(`\ufeff${text}`)
  expect(jobIdOf(marked('{"job_id":"a1"}'), {})).toBe('a1')
  expect(jobStateOf(marked('{"status":"done"}'), billableOperation('alpha.images').response)).toBe(
    'completed',
  )
})
