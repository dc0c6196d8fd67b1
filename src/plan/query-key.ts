import { hash } from 'node:crypto'
import type { JobQuery } from '../model/job.ts'

/** The same 16 bytes for the same operation, text and params, whatever the order in which params were written. */
export function queryKey({
  operation,
  text,
  params,
}: Pick<JobQuery, 'operation' | 'text' | 'params'>): Buffer {
  const canonical = JSON.stringify([operation, text, canonicalParams(params)])
  return Buffer.from(hash('sha256', canonical, 'buffer').subarray(0, 16))
}

/** Params as a list of pairs in the order of their names. */
export function canonicalParams(params: JobQuery['params']): readonly (readonly [string, string | number])[] {
  return Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))
}
