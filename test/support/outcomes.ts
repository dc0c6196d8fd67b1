import { bodies } from '../../src/catalog/answers.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { readPart } from '../../src/catalog/operation.ts'
import { groupedBy } from '../../src/model/text.ts'
import type { Story } from './fault-run.ts'
import { groups } from './groups.ts'
import { isCutShort } from './ledger-check.ts'
import { type CallRow, query, type TaskRow, taskRows, waitingJobs } from './stored-rows.ts'

type Problems = readonly string[]

/** What is wrong with the tasks, their answers and what was made of them. @param complete whether the runs are at their end */
export function wrongOutcomes(story: Story, complete: boolean): Problems {
  const tasks = taskRows(story.path)
  const jobs = groupedBy(
    query<{ task: number }>(story.path, 'SELECT task_id AS task FROM async_jobs'),
    ({ task }) => task,
  )
  const ended = story.goes.at(-1)?.end === 'ended'
  return [
    ...(ended ? tasks.flatMap(leftInWork) : []),
    ...tasks.flatMap(({ id, state }) => wrongJob(jobs.get(id)?.length ?? 0, id, state)),
    ...failures(story, tasks),
    ...tasks.flatMap(answered),
    ...groups(
      tasks,
      ({ groupId, operation, text, page }) => `${groupId} ${operation} ${page} ${text}`,
    ).flatMap(boughtOnce),
    ...(complete ? atTheEnd(story, tasks) : []),
  ]
}

const nameOf = ({ runId, operation, page, text, state }: TaskRow): string =>
  `${state} ${operation} page ${page} of '${text}' in run ${runId}`

/** Whoever stops in order leaves nothing half done. */
function leftInWork(task: TaskRow): Problems {
  return ['leased', 'sent', 'answered'].includes(task.state) ? [`left in work: ${nameOf(task)}`] : []
}

function wrongJob(jobs: number, task: number, state: string): Problems {
  return (jobs === 1) === (state === 'accepted') ? [] : [`task ${task} is ${state}, with ${jobs} jobs`]
}

function failures({ calls: all, goes }: Story, tasks: readonly TaskRow[]): Problems {
  const callsOf = groupedBy(all, ({ taskId }) => taskId)
  // Where the disk was full, the end of a task may be stored without that of its call.
  const isTorn = goes.some(({ end }) => end === 'full')
  const isWrong = (task: TaskRow): boolean => {
    const calls = (callsOf.get(task.id) ?? []).filter(({ credits }) => credits > 0)
    return task.state === 'failed' && !isExplained(task, calls) && !(isTorn && isCutShort(calls.at(-1)))
  }
  return tasks.filter(isWrong).map((task) => `nothing explains: ${nameOf(task)} (${task.cause})`)
}

/** Its last call says why a task failed, or the answer that it has. */
function isExplained(task: TaskRow, calls: readonly CallRow[]): boolean {
  const last = calls.at(-1)
  if (task.cause === null || task.cause === '') return false
  if (task.answerId !== null) return itemsOf(task) === null
  switch (last?.outcome) {
    case 'rejected':
      return [400, 403, 413].includes(last.status ?? 0)
    case 'not-found':
    case 'unreadable':
    case 'ambiguous':
    case 'server-error':
    case 'unreachable':
      return true
    case 'accepted':
      // Lost, or the last of several tries.
      return last.billed === null || calls.length > 4
    default:
      return false
  }
}

/** Results as the answer itself lists them; null where it is none. */
function itemsOf({ operation, body }: TaskRow): readonly unknown[] | null {
  const { items } = billableOperation(operation).response
  if (body === null || items === null) return null
  try {
    const fields = readPart.fields(JSON.parse(body.toString('utf8')))
    const list = fields === null ? null : bodies.holderOf(fields, items)?.[items]
    return Array.isArray(list) ? list : null
  } catch {
    return null
  }
}

function answered(task: TaskRow): Problems {
  const { state, answerId, normaliser, results } = task
  if (state === 'pending' || state === 'skipped')
    return answerId === null ? [] : [`has an answer: ${nameOf(task)}`]
  if (state !== 'done') return []
  if (answerId === null || normaliser === null) return [`has no answer: ${nameOf(task)}`]
  const items = itemsOf(task)?.length
  return items === results ? [] : [`${results} of ${items} results are stored: ${nameOf(task)}`]
}

/** What one run of a group has bought, the others use. */
function boughtOnce(tasks: readonly TaskRow[]): Problems {
  const bought = tasks.filter(({ state, reused }) => state === 'done' && reused === 0)
  return bought.length <= 1 ? [] : [`bought ${bought.length} times: ${nameOf(bought[0] as TaskRow)}`]
}

/** What was asked for is there, or it is told why not. */
function atTheEnd(story: Story, tasks: readonly TaskRow[]): Problems {
  const newest = new Map(tasks.filter(({ closed }) => closed === 0).map(({ job, runId }) => [job, runId]))
  const ofQuery = groupedBy(tasks, ({ runId, operation, text }) => `${runId} ${operation} ${text}`)
  const missing = story.jobs.flatMap((job) =>
    job.queries.flatMap(({ operation, query: text, pages }) => {
      const found = ofQuery.get(`${newest.get(job.name)} ${operation} ${text}`) ?? []
      return wrongPages(found, pages, job.paging).map(
        (what) => `${job.name}, ${operation} '${text}': ${what}`,
      )
    }),
  )
  const jobs = waitingJobs(story.path)
  return [
    ...missing,
    ...tasks
      .filter(({ state, closed }) => isOpen(state, closed === 1))
      .map((task) => `left open: ${nameOf(task)}`),
    ...(jobs === 0 ? [] : [`${jobs} jobs are waited for`]),
    ...wrongObservations(story.path, tasks),
  ]
}

/** What a closed run did not come to is never bought; what it had bought is read. */
function isOpen(state: string, closed: boolean): boolean {
  if (['done', 'failed', 'skipped'].includes(state)) return false
  return !(closed && state === 'pending')
}

function wrongPages(tasks: readonly TaskRow[], pages: number, paging: string): Problems {
  const inOrder = tasks.every(({ page }, index) => page === index + 1)
  const asked = tasks.filter(({ state }) => state !== 'skipped')
  if (asked[0]?.page !== 1 || (paging !== 'smart' && !inOrder)) return ['pages are missing']
  if ((tasks.at(-1)?.page ?? 0) > pages) return [`a page beyond page ${pages} was asked for`]
  if (asked.length === pages) return []
  const end = asked[0].pagingEnd
  if (end === null) return ['nothing says why no further page was asked for']
  if (paging !== 'all' && /found/.test(end)) return []
  // Where a page failed for a reason that passes, the next one is asked for all the same.
  const isLast = (task: TaskRow): boolean =>
    task.state === 'failed'
      ? ['rejected', 'not-found'].includes(task.outcome ?? '')
      : task.state === 'done' && (task.results === 0 || task.hasNextPage === 0)
  const last = asked.find(isLast)
  const before = asked.filter(({ page }) => page <= (last?.page ?? 0))
  return before.length > 0 && (before.length === last?.page || last?.state === 'failed')
    ? []
    : [`further pages were not asked for (${end})`]
}

interface Observation {
  readonly runId: number
  readonly queryId: number
  readonly site: string
  readonly state: string | null
  readonly rank: number | null
  readonly exactness: string | null
}

/** What is observed of targets and does not follow from the pages that were answered. */
function wrongObservations(path: string, tasks: readonly TaskRow[]): readonly string[] {
  const pagesOf = groupedBy(tasks, ({ runId, queryId }) => `${runId} ${queryId}`)
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

const linksOf = (task: TaskRow): readonly string[] =>
  (itemsOf(task) ?? []).flatMap((item) => readPart.text(readPart.fields(item)?.link) ?? [])
