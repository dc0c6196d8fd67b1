import { holderOf, listedItems, wrappedFields } from './answers.ts'
import { asFields, parseJson, text } from './fields.ts'
import type { BillableOperation } from './operation.ts'

/**
 * Asynchronous jobs. The service documents neither the answer to a submission nor the answer to a poll, so every plausible
 * field is read, in every place where it may be.
 */

/** The state of a job by its poll; unknown words mean that it still runs. */
export type AsyncJobState = 'running' | 'completed' | 'failed'

const idNames = ['job_id', 'jobId', 'id', 'request_id', 'requestId', 'task_id', 'taskId', 'uuid']
const idHeaders = ['x-job-id', 'job-id', 'x-request-id', 'location']
const completedWords = /^(completed?|done|finished|success(ful)?|succeeded|ok|ready|201)$/i
const failedWords = /^(fail(ed|ure)?|error(ed)?|cancel(l?ed)?|expired|aborted|500)$/i

/** The id of a job, from the body or the headers of the answer to its submission; null if none can be found. */
export function jobIdOf(
  body: Buffer,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | null {
  const fields = asFields(parseJson(exactNumbers(body)))
  const places = fields === null ? [] : [fields, ...wrappedFields(fields)]
  for (const place of places)
    for (const name of idNames) {
      const id = text(place[name])
      if (id !== null) return id
    }
  for (const name of idHeaders) {
    const value = headers[name]
    // A location ends with the id.
    if (typeof value === 'string' && value !== '') return value.replace(/[?#].*$/, '').replace(/.*\//, '')
  }
  return null
}

/** Long numbers as text, because an id must not lose its last digits. */
function exactNumbers(body: Buffer): Buffer {
  return Buffer.from(body.toString('utf8').replace(/(:\s*)(\d{16,})(?=\s*[,}\]])/g, '$1"$2"'))
}

/** The state of a job by the answer to a poll, for an operation whose answers have that shape. */
export function jobStateOf(body: Buffer, response: BillableOperation['response']): AsyncJobState {
  const fields = asFields(parseJson(body))
  if (fields === null) return 'running'
  const results = holderOf(fields, response.items)?.[response.items]
  // An empty object may mean that the results are not ready yet.
  if (Array.isArray(results) || (listedItems(results, response)?.length ?? 0) > 0) return 'completed'
  for (const place of [fields, ...wrappedFields(fields)]) {
    const status = text(place.status) ?? text(place.state)
    if (status !== null && completedWords.test(status)) return 'completed'
    if (status !== null && failedWords.test(status)) return 'failed'
  }
  return 'running'
}
