import PQueue from 'p-queue'
import type { ApiClient, FinishedCall } from '../api/client.ts'
import { nextStepAfter } from '../api/outcomes.ts'
import { decideRetry } from '../api/retry.ts'
import { bodies } from '../catalog/answers.ts'
import { billableOperation, jobsPoll } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { readPart } from '../catalog/operation.ts'
import type { CreditBudget } from '../ledger/budget.ts'
import type { Outcome } from '../model/call.ts'
import type { Task } from '../model/run.ts'
import { type Clock, sleep } from '../model/time.ts'
import type { AcceptedJob } from '../store/journal.ts'
import type { CollectStore } from '../store/sqlite/open.ts'
import type { AnswerIngest, TaskEnd } from './answers.ts'
import type { EngineStatus } from './circuit-breaker.ts'
import {
  type ConnectivityMonitor,
  StopRequested,
  type StopSignal,
  stopCauses,
  type ThrottleWatch,
} from './stop.ts'

export interface ImageJobOptions {
  readonly service: ApiClient
  readonly clock: Clock
  readonly stop: StopSignal
  readonly throttling: ThrottleWatch
  readonly connectivity: ConnectivityMonitor
  readonly store: CollectStore
  readonly budget: CreditBudget
  readonly answers: AnswerIngest
  readonly fail: (task: Task, outcome: Outcome, cause: string) => Promise<TaskEnd>
  readonly engines: Pick<EngineStatus, 'lostJob'>
}

/** Asynchronous jobs of the service, from their acceptance to their end. */
export function imageJobs(options: ImageJobOptions) {
  const { store, clock, budget, answers, fail, engines } = options
  const pollJob = jobPoller(options)

  /** Polls a job to its end. A failed one was not billed, and counts as a failed try of its task. */
  const poll = async (task: Task, job: AcceptedJob, sentAt: number): Promise<TaskEnd> => {
    const result = await pollJob(task, job)
    if ('answer' in result) {
      const { body, settlement } = result.answer
      const call = { callId: job.callId, settlement: null, fetchedAt: settlement.finishedAt }
      const saved = await answers.save(task, body, call)
      budget.billed(task, sentAt)
      answers.record(task, saved)
      return { answerId: saved.answerId }
    }
    if ('lost' in result) {
      budget.ambiguous(task, sentAt)
      engines.lostJob(task, result.lost)
      const cause = `${result.lost}; whether it was billed is not known`
      return await endFailed(task, job, null, 'ambiguous', cause)
    }
    const tries = task.tries + 1
    const decision = decideRetry(tries, 0)
    if ('giveUp' in decision) {
      const cause = `the asynchronous job failed (after ${tries} tries)`
      return await endFailed(task, job, 0, 'server-error', cause)
    }
    budget.release(task)
    await store.endJob(job, 0, clock.wall(), { taskId: task.id, tries, nextRound: 'later' in decision })
    return 'requeued'
  }

  /** Started together, so that both stand in one commit: a task without its job would be submitted again. */
  const endFailed = async (
    task: Task,
    job: AcceptedJob,
    billed: 0 | null,
    ...why: readonly [outcome: Outcome, cause: string]
  ): Promise<TaskEnd> => {
    const ended = store.endJob(job, billed, clock.wall(), null)
    const [end] = await Promise.all([fail(task, ...why), ended])
    return end
  }

  return {
    /** Stores an accepted job before anything else happens; then it is polled without a place in the pool. */
    accepted: async (
      task: Task,
      call: FinishedCall,
      failTask: (call: FinishedCall, cause: string) => Promise<TaskEnd>,
    ): Promise<TaskEnd> => {
      const { callId, settlement, body, headers } = call
      const jobId = jobIdOf(body, headers)
      if (jobId === null) {
        budget.ambiguous(task, call.sentAt)
        const unknown = { ...call, settlement: { ...settlement, billed: null } }
        engines.lostJob(task, namelessJob)
        return await failTask(unknown, namelessJob)
      }
      const job = { taskId: task.id, callId, jobId }
      await store.acceptJob(callId, settlement, job)
      return { polling: poll(task, { ...job, acceptedAt: settlement.finishedAt }, call.sentAt) }
    },
    poll,
  }
}

const namelessJob = 'the service took an asynchronous job and named no id for it'

/** How an asynchronous job ended. */
export type JobResult =
  | { readonly answer: FinishedCall }
  /** Not billed. */
  | { readonly failed: string }
  /** Its end is not known, nor whether it was billed. */
  | { readonly lost: string }

/** Jobs that are polled at a time; the others wait, at no risk. */
const polledAtOnce = 256
const shortestFirstPauseMs = 250
const longestFirstPauseMs = 10_000
const longestPauseMs = 30_000
/** A job that did not end after this much polling is lost. */
const deadlineMs = 900_000
/** 500s, or 404s, in a row before they are believed; many more where nothing shows that the service itself works. */
const failuresUntilBelieved = { 'server-error': 5, 'not-found': 3 } as const
const believedAnyway = 15
/** The weight of the last job in the typical time that jobs take. */
const weightOfLast = 0.2

/** The same failure in a row: which, how often, and since when. */
const noFailures = { outcome: null as keyof typeof failuresUntilBelieved | null, times: 0, since: 0 }

/**
 * Polls a job, which is free, with growing pauses until it ends. Rejected with `StopRequested` when the run stops; the
 * next process then polls the job.
 */
export function jobPoller({
  service,
  clock,
  stop,
  throttling,
  connectivity,
}: Pick<ImageJobOptions, 'service' | 'clock' | 'stop' | 'throttling' | 'connectivity'>) {
  const queue = new PQueue({ concurrency: polledAtOnce })
  /** Milliseconds that a job takes, learned from those that ended. */
  let typicalMs: number | null = null
  let lastAnsweredAt = Number.NEGATIVE_INFINITY
  /** The service documents one path and its other operations suggest a second: the one that works is used. */
  let paths: readonly string[] = [jobsPoll.path, `/v1${jobsPoll.path}`]

  const lookup = async (task: Task, jobId: string): Promise<FinishedCall> => {
    const options = { runId: task.runId, taskId: task.id, signal: stop.signal }
    const ask = async (path: string): Promise<FinishedCall> => {
      const call = await service.lookup({ ...jobsPoll, path }, { job_id: jobId }, options)
      if (call.settlement.outcome === 'answered') paths = [path]
      return call
    }
    const [path, other] = paths as readonly [string, string?]
    const first = await ask(path)
    return first.settlement.outcome === 'not-found' && other !== undefined ? await ask(other) : first
  }

  const poll = async (task: Task, { jobId }: AcceptedJob): Promise<JobResult> => {
    const { response } = billableOperation(task.operation)
    const connection = connectivity.watch()
    const began = clock.monotonic()
    // Counted from here, not from the submission: a stopped run polls nothing.
    let until = began + deadlineMs
    // The first poll comes when most jobs are done, so that few need a second one.
    let pause = Math.min(longestFirstPauseMs, Math.max(shortestFirstPauseMs, (typicalMs ?? 0) * 0.9))
    let failures = noFailures
    while (clock.monotonic() < until) {
      const pausedAt = clock.monotonic()
      await sleep(clock, pause, stop.signal)
      pause = Math.min(pause * 1.5, longestPauseMs)
      const call = await lookup(task, jobId)
      const { outcome, error } = call.settlement
      const now = clock.monotonic()
      if (nextStepAfter[outcome] === 'stop-run') {
        stop.request(stopCauses.call(call.settlement, service.baseUrl))
        throw new StopRequested()
      }
      if (outcome === 'answered') lastAnsweredAt = now
      throttling.note(call.settlement, call.namedMs)
      connection.note(outcome)
      if (connection.pause(outcome)?.over === true)
        stop.request(stopCauses.unreachable(error ?? outcome, service.baseUrl))
      // A service that does not answer does not say that the job takes long.
      if (outcome === 'throttled' || outcome === 'unreachable') until += now - pausedAt
      // An error of the call is not one of the job, unless it names the job: a job that is taken for failed is bought again.
      const isOfJob =
        outcome === 'answered' || (outcome === 'server-error' && jobIdOf(call.body, {}) === jobId)
      const state = isOfJob ? jobStateOf(call.body, response) : 'running'
      if (outcome === 'answered' && state === 'completed') {
        const took = now - began
        typicalMs = typicalMs === null ? took : typicalMs + (took - typicalMs) * weightOfLast
        return { answer: call }
      }
      if (state === 'failed') return { failed: error ?? 'the asynchronous job failed' }
      failures = countFailure(failures, call, now)
      if (failures.outcome === null || failures.times < failuresUntilBelieved[failures.outcome]) continue
      if (failures.outcome === 'not-found') return { lost: `the service knows no asynchronous job ${jobId}` }
      if (lastAnsweredAt < failures.since && failures.times < believedAnyway) continue
      return { failed: `the asynchronous job failed: ${error ?? outcome}` }
    }
    return { lost: `the asynchronous job ${jobId} did not end within ${deadlineMs / 60_000} minutes` }
  }

  return async (task: Task, job: AcceptedJob): Promise<JobResult> =>
    (await queue.add(() => poll(task, job))) as JobResult
}

/**
 * A failed job is reported as a 500, and so is a passing error of the service; other 5xx come from what stands before the
 * service. A 404 may be a job that the service knows late.
 */
function countFailure(
  failures: typeof noFailures,
  { settlement }: FinishedCall,
  now: number,
): typeof noFailures {
  const { outcome, httpStatus } = settlement
  if (outcome !== 'not-found' && httpStatus !== 500) return noFailures
  if (failures.outcome === outcome) return { ...failures, times: failures.times + 1 }
  return { outcome: outcome as keyof typeof failuresUntilBelieved, times: 1, since: now }
}

/**
 * Asynchronous jobs. The service documents neither the answer to a submission nor the answer to a poll, so every plausible
 * field is read, in every place where it may be.
 */

/** The state of a job by its poll; unknown words mean that it still runs. */
type AsyncJobState = 'running' | 'completed' | 'failed'

const idNames = ['job_id', 'jobId', 'id', 'request_id', 'requestId', 'task_id', 'taskId', 'uuid']

const idHeaders = ['x-job-id', 'job-id', 'x-request-id', 'location']

const completedWords = /^(completed?|done|finished|success(ful)?|succeeded|ok|ready|201)$/i

const failedWords = /^(fail(ed|ure)?|error(ed)?|cancel(l?ed)?|expired|aborted|500)$/i

/** The id of a job, from the body or the headers of the answer to its submission; null if none can be found. */
export function jobIdOf(
  body: Buffer,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | null {
  const fields = readPart.fields(readPart.json(exactNumbers(body)))
  const places = fields === null ? [] : [fields, ...bodies.wrappedFields(fields)]
  for (const place of places)
    for (const name of idNames) {
      const id = readPart.text(place[name])
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
  const fields = readPart.fields(readPart.json(body))
  if (fields === null) return 'running'
  const results = bodies.holderOf(fields, response.items)?.[response.items]
  // An empty object may mean that the results are not ready yet.
  if (Array.isArray(results) || (bodies.listedItems(results, response)?.length ?? 0) > 0) return 'completed'
  for (const place of [fields, ...bodies.wrappedFields(fields)]) {
    const status = readPart.text(place.status) ?? readPart.text(place.state)
    if (status !== null && completedWords.test(status)) return 'completed'
    if (status !== null && failedWords.test(status)) return 'failed'
  }
  return 'running'
}
