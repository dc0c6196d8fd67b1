import type { Client } from 'pg'
import { queryKey } from '../../src/model/query.ts'
import type { OwnLedger, OwnService } from './own-service.ts'
import type { Ended, Workspace } from './rankline.ts'

type Problems = readonly string[]

/** The service of one key: what it allows, how many pages were wanted there, and the key in the journal. */
export interface KeyOfHistory {
  /** For people. */
  readonly name: string
  readonly service: OwnService
  readonly keyHash: string
  readonly perSecond: number
  readonly wanted: number
}

/** Codes with which a process may end before its time, and null where it was killed; the last end of each is judged by itself. */
const passingCodes = {
  coordinator: [null, 0, 6, 7],
  worker: [null, 0],
} as const

/** The end of a process, and whose it was. */
export interface MemberEnd {
  /** For people. */
  readonly who: string
  readonly end: Ended
}

/** Whether the same command may go on: the queue could not be reached, its chunks were lost too often, or another process had the job. */
export function isPassing({ end: { code } }: MemberEnd): boolean {
  return code === 6 || code === 7
}

/** Whether it gave up because no answer came within its time: a machine with much to do may take longer. */
export function isUnanswered({ end: { code, stderr } }: MemberEnd): boolean {
  return code === 6 && stderr.includes('does not answer')
}

/** What is wrong with the ends of processes. */
export function endFaults(kind: keyof typeof passingCodes, ends: readonly MemberEnd[]): Problems {
  const passing: readonly (number | null)[] = passingCodes[kind]
  return ends.flatMap((one) => (passing.includes(one.end.code) ? [] : [said(one)]))
}

/** What is wrong with ends after which nothing more comes. */
export function lastEndFaults(ends: readonly MemberEnd[]): Problems {
  return ends.flatMap((one) => (one.end.code === 0 ? [] : [`at last ${said(one)}`]))
}

/** Who has no code went on and on, for what was killed before was started again. */
function said({ who, end: { code, stderr } }: MemberEnd): string {
  return `${who} ${code === null ? 'did not end and was killed' : `ended with ${code}`}: ${stderr}`
}

/**
 * What stands in the shared ledger for a key, and what its service has charged and refused.
 *
 * @param kills how often the process of a job was killed
 * @param failedOver whether calls may be gone with a server: their pages were bought again
 */
export async function keyFaults(
  queue: Client,
  key: KeyOfHistory,
  kills: (job: string) => number,
  failedOver: boolean,
): Promise<Problems> {
  const ledger = await key.service.ledger()
  const { charged } = ledger
  const { faults, billed, ambiguous } = await moneyFaults(queue, key)
  const tasks = await boughtTasks(queue, key)
  const { faults: early, runsOf } = await runFaults(queue, key, kills)
  const { faults: missing, again, pages } = callFaults(tasks, ledger, key.wanted, failedOver ? null : runsOf)
  if (again > (failedOver ? charged - billed : 0))
    faults.push(
      `pages were bought again ${again} times without a call in doubt, ${charged} credits were charged and ${billed} are billed: ${pages.join(' | ')}`,
    )
  if (charged < billed || charged > billed + ambiguous + again)
    faults.push(
      `the service charged ${charged}, the calls have ${billed} billed and ${ambiguous} in doubt, pages were bought again ${again} times`,
    )
  return [...faults, ...early, ...missing, ...rateFaults(ledger, key.perSecond)].map(
    (fault) => `${key.name}: ${fault}`,
  )
}

async function moneyFaults(queue: Client, { keyHash }: KeyOfHistory) {
  const { rows } = await queue.query<{
    billed: number
    ambiguous: number
    open: number
    spent: number
    doubt: number
    quarters: number
  }>(
    `SELECT (SELECT coalesce(sum(credits), 0)::int FROM rankline.calls WHERE key_hash = $1 AND billed = 1) AS billed,
      (SELECT coalesce(sum(credits), 0)::int FROM rankline.calls WHERE key_hash = $1 AND billed IS NULL) AS ambiguous,
      (SELECT count(*)::int FROM rankline.calls WHERE key_hash = $1 AND outcome IS NULL) AS open,
      (SELECT coalesce(sum(spent), 0)::int FROM rankline.chunks WHERE key_hash = $1) AS spent,
      (SELECT coalesce(sum(in_doubt), 0)::int FROM rankline.chunks WHERE key_hash = $1) AS doubt,
      (SELECT coalesce(sum(spent + in_doubt), 0)::int FROM rankline.spending WHERE key_hash = $1) AS quarters`,
    [keyHash],
  )
  const [sums] = rows
  if (sums === undefined) throw new Error('there are no sums')
  const { billed, ambiguous, open, spent, doubt, quarters } = sums
  const faults: string[] = []
  if (open > 0) faults.push(`${open} calls never ended`)
  if (spent !== billed || doubt !== ambiguous || quarters !== billed + ambiguous)
    faults.push(
      `the calls have ${billed} billed and ${ambiguous} in doubt, their chunks ${spent} and ${doubt}, their quarters of an hour ${quarters} together`,
    )
  return { faults, billed, ambiguous }
}

/**
 * How often each job ran. A process that is killed after the end of its run, before it says so, is started again, and buys everything again, as
 * a command does whose run has ended. None may begin before the one before it has ended, or where nothing was killed.
 */
async function runFaults(queue: Client, { keyHash }: KeyOfHistory, kills: (job: string) => number) {
  const { rows } = await queue.query<{ job: string; times: number; early: number }>(
    `SELECT job, count(*)::int AS times, (count(*) FILTER (WHERE number > 1 AND (finish IS NULL OR began < finish)))::int AS early
    FROM (
      SELECT job, started_at AS began, row_number() OVER later AS number,
        lag(CASE finish_reason WHEN 'completed' THEN finished_at END) OVER later AS finish
      FROM rankline.runs WHERE key_hash = $1 WINDOW later AS (PARTITION BY job ORDER BY started_at)
    ) runs GROUP BY job`,
    [keyHash],
  )
  return {
    faults: rows.flatMap(({ job, times, early }) => [
      ...(early === 0 ? [] : [`${early} runs of ${job} began before the one before was completed`]),
      ...(times - 1 > kills(job) ? [`${job} ran ${times} times and was killed ${kills(job)} times`] : []),
    ]),
    runsOf: new Map(rows.map(({ job, times }) => [job, times])),
  }
}

interface BoughtTask {
  /** Its key in hexadecimal digits. */
  readonly query: string
  readonly page: number
  /** Calls that are listed as possibly billed, or whose worker was lost before they were settled. */
  readonly inDoubt: number
  /** Calls that were billed or may have been: after a failover a page may be bought again, and its first call written again later. */
  readonly listed: number
  /** All its calls, for people. */
  readonly calls: string
}

async function boughtTasks(
  queue: Client,
  { keyHash }: KeyOfHistory,
): Promise<ReadonlyMap<string, BoughtTask>> {
  const tasks = await queue.query<BoughtTask>(
    `SELECT encode(query, 'hex') AS query, page, (count(*) FILTER (WHERE lost_at IS NOT NULL OR billed IS NULL))::int AS "inDoubt",
      (count(*) FILTER (WHERE billed IS DISTINCT FROM 0))::int AS listed,
      string_agg(concat_ws(' ', sent_at, outcome, billed, 'lost', lost_at, 'settled', settled_at, error), '; ' ORDER BY sent_at) AS calls
    FROM rankline.calls WHERE key_hash = $1 AND credits > 0 GROUP BY query, page`,
    [keyHash],
  )
  return new Map(tasks.rows.map((task) => [`${task.query} ${task.page}`, task]))
}

/**
 * Each page is bought; how often one was bought again although no call of it was in doubt, and the calls of such pages.
 *
 * @param runsOf how often each job ran; null where calls may be gone with a server
 */
function callFaults(
  tasks: ReadonlyMap<string, BoughtTask>,
  { requests }: OwnLedger,
  wanted: number,
  runsOf: ReadonlyMap<string, number> | null,
) {
  const jobOf = new Map<string, string>()
  const bought = new Map<string, number>()
  for (const { params, page, charged } of requests) {
    const query = queryKey({ operation: 'alpha.search', text: String(params.query), params: {} })
    const task = `${query.toString('hex')} ${String(page ?? 1)}`
    jobOf.set(task, String(params.query).split(' ')[0] as string)
    if (charged > 0) bought.set(task, (bought.get(task) ?? 0) + 1)
  }
  const again = [...bought].flatMap(([task, times]) => {
    const { inDoubt = 0, listed = 1, calls = '' } = tasks.get(task) ?? {}
    const runs = runsOf?.get(jobOf.get(task) ?? '') ?? 1
    const more = times - (runsOf === null ? listed : runs + inDoubt)
    return more > 0 ? [{ more, calls }] : []
  })
  const isWhole = tasks.size === wanted && bought.size === wanted
  return {
    faults: isWhole
      ? []
      : [`${tasks.size} pages in the journal, ${bought.size} at the service, ${wanted} wanted`],
    again: again.reduce((sum, { more }) => sum + more, 0),
    pages: again.map(({ calls }) => calls),
  }
}

/** A call that the service refused for its rate came too early. */
function rateFaults({ refusals, maxPerSecond }: OwnLedger, perSecond: number): Problems {
  if (refusals === 0 && maxPerSecond <= perSecond) return []
  return [
    `${refusals} calls were refused for their rate; ${maxPerSecond} in the worst second, ${perSecond} allowed`,
  ]
}

/** A last `sync`, and the database that it wrote. */
export interface ReaderEnd extends MemberEnd {
  readonly place: Workspace
}

/**
 * What reports read, without the numbers and names of jobs that each database gives for itself. A reader that could not read all has a fault of
 * its own, and perhaps no database.
 */
export function readFaults(ends: readonly ReaderEnd[]): Problems {
  const readers = ends.filter(({ end }) => end.code === 0)
  const [first, ...others] = readers.map(({ who, place }) => ({ who, rows: whatIsRead(place) }))
  const differing = others.flatMap(({ who, rows }) => {
    const lacking = first?.rows.filter((row) => !rows.includes(row)) ?? []
    const more = rows.filter((row) => !first?.rows.includes(row))
    if (lacking.length + more.length === 0) return []
    return [
      `the database of ${who} lacks ${lacking.length} rows of that of ${first?.who} and has ${more.length} others, such as: ${lacking[0]}, ${more[0]}`,
    ]
  })
  const unfinished = readers.slice(0, 1).flatMap(({ who, place }) =>
    place
      .sql<{ finish_reason: string; tasks_planned: number; tasks_done: number }>(
        'SELECT job, finish_reason, tasks_planned, tasks_done FROM runs',
      )
      .filter(
        ({ finish_reason, tasks_planned, tasks_done }) =>
          finish_reason !== 'completed' || tasks_planned !== tasks_done,
      )
      .map((run) => `not completed in the database of ${who}: ${JSON.stringify(run)}`),
  )
  const failed = readers.flatMap(({ who, place }) =>
    place
      .sql<{ cause: string }>('SELECT DISTINCT cause FROM tasks_ WHERE cause IS NOT NULL')
      .map(({ cause }) => `a task failed in the database of ${who}: ${cause}`),
  )
  return [...lastEndFaults(ends), ...differing, ...unfinished, ...failed]
}

function whatIsRead(place: Workspace): readonly string[] {
  const sharedName = '(SELECT s.job || s.key_hash FROM shared_jobs s WHERE s.name = v.job)'
  const views = [
    'query, page, rank, position, link, title FROM organic_results',
    'query, target, date, state, rank, exactness, depth, observed_at FROM rankings',
    'finish_reason, tasks_planned, tasks_done, tasks_failed, credits_spent, credits_ambiguous FROM runs',
  ]
  return views.flatMap((view) =>
    place.sql(`SELECT ${sharedName} AS job, ${view} v`).map((row) => JSON.stringify(row)),
  )
}
