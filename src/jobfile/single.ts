import type { JobQuery, JobSettings } from '../model/job.ts'
import { makeExpand } from './expand.ts'
import { flagPlace } from './flags.ts'
import type { Report } from './problem.ts'
import { readSettings } from './settings.ts'
import { queryText } from './values.ts'

/** One query as it is given on the command line. */
export interface WrittenSingle {
  readonly operation: string
  readonly query: string
  /** `key=value` each. */
  readonly param?: readonly string[] | undefined
  readonly style?: string | undefined
}

/** Checks a single query as if a job asked for it; null after a mistake, each of which is reported. */
export function readSingle(
  { operation, query, param = [], style }: WrittenSingle,
  name: string,
  report: Report,
): { readonly query: JobQuery; readonly settings: JobSettings } | null {
  const flags = { operation: [operation], param, ...(style === undefined ? {} : { style }) }
  let mistakes = 0
  const tell: Report = (problem) => {
    mistakes += 1
    // Operation and query are no flags here.
    report({ ...problem, where: problem.where.replace(/^--/, '') })
  }
  const plan = readSettings({ path: name, where: name, source: null }, flags, [], tell)
  const text = queryText(query)
  if (!('value' in text)) tell({ ...flagPlace('query'), ...text, what: `the query ${text.what}` })
  if (mistakes > 0 || !('value' in text)) return null
  const [single] = makeExpand(plan.wide)(
    {
      text: text.value,
      operations: plan.operations,
      depth: null,
      pages: null,
      tags: [],
      targets: [],
      priority: 0,
      volume: null,
      url: null,
      labels: {},
      own: [],
      at: flagPlace,
      source: { file: name, line: 1 },
    },
    tell,
  )
  return single === undefined ? null : { query: single, settings: plan.settings }
}
