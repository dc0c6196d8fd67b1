import { type ApiClient, CallHeldBack, type FinishedCall, pageRequest } from '../api/client.ts'
import { nextStepAfter } from '../api/outcomes.ts'
import { decideRetry, retryPolicy } from '../api/retry.ts'
import { billableOperation } from '../catalog/index.ts'
import type { CreditBudget } from '../ledger/budget.ts'
import type { Outcome } from '../model/call.ts'
import type { JobSettings } from '../model/job.ts'
import type { Run, Task } from '../model/run.ts'
import { type Clock, sleep } from '../model/time.ts'
import type { OpenJob, Requeue } from '../store/journal.ts'
import type { CollectStore } from '../store/sqlite/open.ts'
import type { AnswerIngest, TaskEnd } from './answers.ts'
import { imageJobs } from './async-job.ts'
import type { CircuitBreaker, EngineStatus } from './circuit-breaker.ts'
import {
  connectivityMonitor,
  StopRequested,
  type StopSignal,
  stopCauses,
  type ThrottleWatch,
} from './stop.ts'

type AsyncPolicy = JobSettings['async']

/**
 * Runs single tasks from their lease to their end.
 *
 * @param closed runs of which only asynchronous jobs are still polled
 */
export function taskRunner(
  options: {
    readonly store: CollectStore
    readonly service: ApiClient
    readonly clock: Clock
    readonly random: () => number
    readonly stop: StopSignal
    readonly maxOutageMs: number
    readonly budget: CreditBudget
    readonly breaker: CircuitBreaker
    readonly engines: EngineStatus
    readonly throttling: ThrottleWatch
    readonly answers: AnswerIngest
    /** Takes work that goes on when its task has left the pool. */
    readonly background: (work: Promise<void>) => void
    /** Called when the rate has let a call of a task through, or it waits for something else than the rate. */
    readonly onLeaving: (task: Task) => void
    /** Called when the answer to a task has come, before it is stored. */
    readonly onAnswered: (task: Task) => void
  },
  runs: readonly Run[],
  closed: readonly Run[],
) {
  const { store, service, clock, random, stop, budget, breaker, engines, throttling, answers } = options
  const settings = new Map([...runs, ...closed].map((run) => [run.id, run.settings]))
  /** Tasks that lost a call which may have been billed. */
  const ambiguousTasks = new Set<number>()
  const asyncMode = asyncDecision()
  const retries = retryBudget()
  const connectivity = connectivityMonitor(clock, random, options.maxOutageMs)

  /** Runs a leased task to its end; its credits stay reserved until then. */
  const run = (task: Task): Promise<void> =>
    settle(task, async () => {
      // Leased before its engine went down: it waits with the others. A stored answer needs no engine.
      const mayRun = task.reusable !== null || mayBeSent(task)
      return mayRun && !stop.signal.aborted ? await flights.run(task) : 'released'
    })

  const mayBeSent = (task: Task): boolean => !engines.isDown(task) || breaker.isProbe(task.id)

  /** Polls a job that an earlier process submitted. */
  const resumeJob = ({ task, sentAt, ...job }: OpenJob): Promise<void> => {
    budget.resume(task, sentAt)
    const poll = () => jobs.poll(task, job, sentAt)
    // A closed run shares no answers.
    return settle(task, () =>
      runs.some(({ id }) => id === task.runId) ? flights.resume(task, poll) : poll(),
    )
  }

  const settle = async (task: Task, work: () => Promise<TaskEnd>): Promise<void> => {
    const end = await work().catch((error: unknown) => {
      if (error instanceof StopRequested || error instanceof CallHeldBack) return 'released' as const
      throw error
    })
    // An accepted job is at work until it has ended.
    if (typeof end === 'object' && 'polling' in end)
      return options.background(settle(task, () => end.polling))
    breaker.taskEnded(task.id)
    if (end === 'requeued') return
    budget.release(task)
    if (end === 'released') await store.release([task.id])
  }

  /** Sends calls for a task until it has an answer, fails, or has to wait for later. */
  const fetchPage = async (task: Task): Promise<TaskEnd> => {
    const connection = connectivity.watch()
    let isNew = task.cause === null
    // A probe of an engine needs no retry budget.
    if (!isNew && task.tries >= retryPolicy.triesPerRound && !engines.isDown(task) && !retries.tryTake()) {
      if (engines.neverWorked(task)) return 'released'
      return await fail(task, 'server-error', `${task.cause}; ${retriesExhausted}`)
    }
    let lookedAgain = false
    for (let tries = task.tries; ; ) {
      const call = await send(task)
      if (isNew) retries.countTask()
      isNew = false
      const { callId, settlement, namedMs } = call
      const { outcome } = settlement
      const cause = settlement.error ?? outcome
      if (settlement.billed === null) budget.ambiguous(task, call.sentAt)
      engines.note(task, settlement)
      throttling.note(settlement, namedMs)
      connection.note(outcome)
      switch (nextStepAfter[outcome]) {
        case 'keep': {
          if (billableOperation(task.operation).asyncParam !== undefined)
            asyncMode.note(task.operation, settlement.latencyMs)
          const saved = await save(task, call)
          const isHole = 'reason' in saved.parsed && saved.parsed.isHole === true
          if (isHole && !lookedAgain && budget.canAffordRetry(task)) {
            lookedAgain = true
            await store.lookAgain(task.id)
            continue
          }
          answers.record(task, saved)
          return { answerId: saved.answerId }
        }
        case 'poll':
          return await jobs.accepted(task, call, (unknown, reason) => failTask(task, unknown, reason))
        case 'wait':
          await store.settleCall(callId, settlement, null)
          continue
        case 'retry': {
          const wait = connection.pause(outcome)
          if (wait !== null) {
            await waitForService(call, wait)
            continue
          }
          if (engines.isDown(task)) return await requeue(task, call, { tries: task.tries, nextRound: true })
          tries += 1
          const decision = decideRetry(tries, random())
          if ('giveUp' in decision && engines.neverWorked(task)) return await requeue(task, call, lastRound)
          if ('giveUp' in decision) return await failTask(task, call, `${cause} (after ${tries} tries)`)
          if ('later' in decision) return await requeue(task, call, { tries, nextRound: true })
          if (!retries.tryTake()) return await outOfRetries(task, call, tries)
          await store.settleCall(callId, settlement, null)
          // A delay that the service named is waited for before the next call of its engine is sent.
          if (namedMs == null) await sleep(clock, decision.wait, stop.signal)
          continue
        }
        case 'retry-once': {
          const isFirst = !ambiguousTasks.has(task.id)
          ambiguousTasks.add(task.id)
          // Most calls of this engine are lost now.
          if (isFirst && engines.isDown(task)) return await requeue(task, call, { tries, nextRound: true })
          if (!isFirst || !retries.tryTake())
            return await failTask(task, call, `${cause}; whether it was billed is not known`)
          if (!budget.canAffordRetry(task)) return await requeue(task, call, { tries, nextRound: false })
          await store.settleCall(callId, settlement, null)
          continue
        }
        case 'stop-run':
          stop.request(stopCauses.call(settlement, service.baseUrl))
          return await requeue(task, call, { tries, nextRound: false })
        default:
          return await failTask(task, call, cause)
      }
    }
  }

  const send = (task: Task): Promise<FinishedCall> => {
    const operation = billableOperation(task.operation)
    const { style, async: policy } = settings.get(task.runId) as Run['settings']
    const asJob = operation.asyncParam !== undefined && asyncMode.wanted(task.operation, policy)
    const { id: taskId, runId, credits, text, params, page } = task
    const request = pageRequest(service.baseUrl, operation, { text, params, page, style, async: asJob })
    const call = { runId, taskId, credits, operation: task.operation }
    return service.send(request, call, stop.signal, () => {
      // Its engine may have gone down while it waited for the rate.
      if (!mayBeSent(task)) return false
      options.onLeaving(task)
      return true
    })
  }

  const save = async (task: Task, { callId, sentAt, settlement, body }: FinishedCall) => {
    options.onAnswered(task)
    const answered = { ...settlement, outcome: 'answered' as const }
    const fetchedAt = settlement.finishedAt
    const saved = await answers.save(task, body, { callId, settlement: answered, fetchedAt })
    budget.billed(task, sentAt)
    return saved
  }

  const fail = async (task: Task, outcome: Outcome, cause: string): Promise<TaskEnd> => {
    await answers.fail(task, outcome, cause)
    return { failed: cause }
  }

  const failTask = async (task: Task, call: FinishedCall, cause: string): Promise<TaskEnd> => {
    const { callId, settlement } = call
    if (settlement.billed === 1) budget.billed(task, call.sentAt)
    // Started together, so that both stand in one commit, and both are awaited should it fail.
    const settled = store.settleCall(callId, settlement, null)
    const [end] = await Promise.all([fail(task, settlement.outcome, cause), settled])
    return end
  }

  const requeue = async (
    task: Task,
    { callId, settlement }: FinishedCall,
    again: Pick<Requeue, 'tries' | 'nextRound'>,
  ): Promise<TaskEnd> => {
    budget.release(task)
    await store.settleCall(callId, settlement, { taskId: task.id, ...again })
    return 'requeued'
  }

  /** After all first calls there may be retries again. */
  const outOfRetries = async (task: Task, call: FinishedCall, tries: number): Promise<TaskEnd> => {
    if (tries < retryPolicy.triesPerRound || engines.neverWorked(task))
      return await requeue(task, call, lastRound)
    const { error, outcome } = call.settlement
    return await failTask(task, call, `${error ?? outcome}; ${retriesExhausted}`)
  }

  /** The service cannot be reached: the task has not failed. */
  const waitForService = async (
    { callId, settlement }: FinishedCall,
    { wait, over }: { readonly wait: number; readonly over: boolean },
  ): Promise<void> => {
    if (over) stop.request(stopCauses.unreachable(settlement.error ?? settlement.outcome, service.baseUrl))
    await store.settleCall(callId, settlement, null)
    await sleep(clock, wait, stop.signal)
  }

  const jobs = imageJobs({ ...options, fail, connectivity })
  const flights = singleFlight(runs.length > 1, {
    fetchPage,
    reuse: answers.reuse,
    stored: store.groupAnswer,
    onWaiting: options.onLeaving,
  })
  return { run, resumeJob }
}

const lastRound = { tries: retryPolicy.triesPerRound, nextRound: true } as const
const retriesExhausted = 'not tried again, for half as many calls were repeated already as there are tasks'

/**
 * The same call of several runs is bought once: the second task waits for the first and uses its answer. Within one run
 * no two tasks are the same call.
 */
export function singleFlight(
  several: boolean,
  {
    fetchPage,
    reuse,
    stored,
    onWaiting,
  }: {
    fetchPage(task: Task): Promise<TaskEnd>
    /** False where the answer cannot be used. */
    reuse(task: Task, answerId: number): Promise<boolean>
    /** The answer to the same call that a run of the same group has by now. */
    stored(task: Task): Promise<number | null>
    /** Called when a task begins to wait for the same call of another. */
    onWaiting(task: Task): void
  },
) {
  const inFlight = new Map<string, Promise<void>>()

  /** A task whose stored answer cannot be used is leased again, to be bought. */
  const reuseAnswer = async (task: Task, answerId: number): Promise<TaskEnd> =>
    (await reuse(task, answerId)) ? { answerId } : 'released'

  const reuseOrFetch = async (task: Task): Promise<TaskEnd> => {
    // Another run may have bought it since this task was leased.
    const answerId = await stored(task)
    return answerId === null ? await fetchPage(task) : await reuseAnswer(task, answerId)
  }

  /** Marks a call as in flight; answers what ends that. */
  const begin = ({ queryId, page }: Task): (() => void) => {
    const call = `${queryId}:${page}`
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    inFlight.set(call, ended)
    return () => {
      if (inFlight.get(call) === ended) inFlight.delete(call)
      end()
    }
  }

  return {
    run: async (task: Task): Promise<TaskEnd> => {
      if (task.reusable !== null) return await reuseAnswer(task, task.reusable)
      if (!several) return await fetchPage(task)
      const first = inFlight.get(`${task.queryId}:${task.page}`)
      if (first !== undefined) {
        onWaiting(task)
        await first
        // Leased again, it finds the answer in the store, or is bought with tries of its own.
        return 'released'
      }
      const end = begin(task)
      try {
        const ended = await reuseOrFetch(task)
        if (typeof ended === 'object' && 'polling' in ended) return { polling: ended.polling.finally(end) }
        end()
        return ended
      } catch (error) {
        end()
        throw error
      }
    },
    /** Continues a call that an earlier process began. */
    resume: async (task: Task, poll: () => Promise<TaskEnd>): Promise<TaskEnd> => {
      const end = begin(task)
      return await poll().finally(end)
    },
  }
}

/** Latencies that `auto` looks back at. */
const samples = 10
/** A connection that is held longer than this is worth a job and its polls. */
const slowMs = 5_000
/** With this many calls, connections become the bottleneck much earlier. */
const manyCalls = 100
const slowForManyMs = 1_000

/**
 * Decides whether a call is made as an asynchronous job. `auto` begins with plain calls, for a job takes polls that count
 * against the rate, and changes where answers take longer than five seconds, or than one second once there are many.
 */
export function asyncDecision() {
  const recent = new Map<string, readonly number[]>()
  const answered = new Map<string, number>()
  return {
    /** Notes how long a synchronous answer took. */
    note: (operation: string, latencyMs: number): void => {
      recent.set(operation, [...(recent.get(operation) ?? []), latencyMs].slice(-samples))
      answered.set(operation, (answered.get(operation) ?? 0) + 1)
    },
    wanted: (operation: string, policy: AsyncPolicy): boolean => {
      if (policy !== 'auto') return policy === 'always'
      const latencies = recent.get(operation) ?? []
      const mean = latencies.reduce((sum, one) => sum + one, 0) / latencies.length
      const limitMs = (answered.get(operation) ?? 0) >= manyCalls ? slowForManyMs : slowMs
      return latencies.length === samples && mean > limitMs
    },
  }
}

/** Retries of a run with few tasks. */
const fewestRetries = 10
const retriesPerTask = 0.5

/** Limits retries: half as many as tasks that were sent for the first time, but at least ten. */
export function retryBudget() {
  let tasks = 0
  let retries = 0
  return {
    countTask: (): void => {
      tasks += 1
    },
    /** False if no retry is left. */
    tryTake: (): boolean => {
      if (retries >= Math.max(fewestRetries, Math.floor(tasks * retriesPerTask))) return false
      retries += 1
      return true
    },
  }
}
