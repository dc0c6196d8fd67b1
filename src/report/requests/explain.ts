import { UsageError } from '../../model/errors.ts'
import { closestMatch } from '../../model/text.ts'
import { addDays } from '../../model/time.ts'
import { sanitize } from '../../output/terminal.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { explainText, explanationOf } from '../explain/explain.ts'

/** The query to be explained, and the day of the last run that may do so. */
export interface ExplainedQuery {
  readonly job: string
  readonly text: string
  readonly date: string | undefined
}

/** Why the queries of that text say what they say of each target, as text or JSON. */
export async function explainQuery(
  store: Store,
  { job, text, date }: ExplainedQuery,
  { json, width }: { readonly json: boolean; readonly width: number },
): Promise<string> {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  const explanations = (await store.queryRecords({ job, text, ...until })).map(explanationOf)
  if (explanations.length === 0) throw new UsageError(await noDataMessage(store, { job, text, date }))
  if (json) return `${JSON.stringify(explanations, null, 2)}\n`
  return explanations.map((one) => explainText(one, width)).join('\n')
}

/** Why nothing is known of a query. */
export async function noDataMessage(store: Store, { job, text, date }: ExplainedQuery): Promise<string> {
  const known = await store.queryTexts(job)
  if (known.includes(text))
    return `No run of the job ${job} has looked for '${sanitize(text)}'${date === undefined ? ' yet' : ` by ${date}`}`
  const near = closestMatch(text, known)
  const hint =
    near === null ? `List its queries with: rankline report ${job}` : `Did you mean '${sanitize(near)}'?`
  return `The job ${job} never asked for '${sanitize(text)}'. ${hint}`
}
