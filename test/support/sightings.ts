import { holderOf } from '../../src/catalog/async-job.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { asFields, text } from '../../src/catalog/normalise/fields.ts'
import { groupBy } from './groups.ts'
import { query, type TaskRow } from './stored-rows.ts'

interface Observation {
  readonly runId: number
  readonly queryId: number
  readonly site: string
  readonly state: string | null
  readonly rank: number | null
  readonly exactness: string | null
}

/** What is observed of targets and does not follow from the pages that were answered. */
export function wrongObservations(path: string, tasks: readonly TaskRow[]): readonly string[] {
  const pagesOf = groupBy(tasks, ({ runId, queryId }) => `${runId} ${queryId}`)
  return query<Observation>(
    path,
    `SELECT rq.run_id AS runId, rq.query_id AS queryId, tg.site, o.state, o.rank, o.exactness
    FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id JOIN targets tg ON tg.id = rt.target_id
      LEFT JOIN observations o ON o.run_id = rq.run_id AND o.query_id = rq.query_id AND o.target_id = tg.id`,
  ).flatMap((one) => {
    const why = whyWrong(one, pagesOf.get(`${one.runId} ${one.queryId}`) ?? [])
    return why === null ? [] : [`${one.site} in query ${one.queryId} of run ${one.runId}: ${why}`]
  })
}

function whyWrong({ site, state, rank, exactness }: Observation, pages: readonly TaskRow[]): string | null {
  if (state === null) return 'there is no observation'
  const asked = pages.filter((page) => page.state !== 'skipped')
  const whole = asked.length > 0 && asked.every((page) => page.state === 'done')
  const seen = rankOf(
    site,
    asked.filter((page) => page.state === 'done'),
  )
  if (seen === null)
    return state === 'ranked'
      ? 'it ranks nowhere'
      : whole || state === 'unknown'
        ? null
        : `it is ${state}, but pages lack`
  if (state !== 'ranked') return `it is ${state}, but it ranks`
  return exactness !== 'exact' || rank === seen ? null : `its rank is ${rank}, but should be ${seen}`
}

/** Links of all pages in order, each once: the place of the first that is the site's. */
function rankOf(site: string, pages: readonly TaskRow[]): number | null {
  const links = new Set<string>()
  for (const link of pages.flatMap(linksOf)) {
    links.add(new URL(link).href.replace(/#.*/, ''))
    if (new URL(link).hostname.replace(/^www\./, '') === site) return links.size
  }
  return null
}

function linksOf({ operation, body }: TaskRow): readonly string[] {
  const { items } = billableOperation(operation).response
  if (body === null || items === null) return []
  const fields = asFields(JSON.parse(body.toString('utf8'))) ?? {}
  const list = holderOf(fields, items)?.[items]
  return (Array.isArray(list) ? list : []).flatMap((item) => text(asFields(item)?.link) ?? [])
}
