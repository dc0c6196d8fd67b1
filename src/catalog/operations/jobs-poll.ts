import type { FreeOperation } from '../operation.ts'

export const jobsPoll: FreeOperation = {
  name: 'jobs.poll',
  title: 'state and result of an asynchronous job',
  billable: false,
  path: '/jobs/{job_id}',
  params: { job_id: { type: 'string', required: true, meaning: 'id that the 202 answer gave' } },
  cost: 0,
  response: { required: [], items: null, itemFields: [] },
}
