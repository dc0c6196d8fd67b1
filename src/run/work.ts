import { consequences } from '../api/outcome.ts'
import { pageRequest } from '../api/request.ts'
import { decideRetry, retryPolicy } from '../api/retry.ts'
import { billableOperation } from '../catalog/index.ts'
import type { Clock } from '../model/clock.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { TaskAgain } from '../store/calls.ts'
import type { CollectStore } from '../store/store.ts'
import { asyncChoice } from './async-choice.ts'
import { asyncJobs } from './async-jobs.ts'
import type { Books } from './books.ts'
import type { Health } from './health.ts'
import { type Outage, outageWatch } from './outage.ts'
import type { Reader } from './reading.ts'
import type { Refusals } from './refused.ts'
import { retryBudget } from './retry-budget.ts'
import type { SentCall, Service } from './service.ts'
import { type Stop, sleep } from './stop.ts'
import { stopCause, unreachable } from './stop-causes.ts'
import type { TaskEnd } from './task-end.ts'

export interface WorkParts {
  readonly store: CollectStore
  readonly service: Service
  readonly clock: Clock
  readonly books: Books
  readonly stop: Stop
  readonly random: () => number
  readonly runs: ReadonlyMap<number, Run>
  readonly reader: Reader
  readonly health: Health
  readonly refusals: Refusals
  readonly maxOutageMs: number
}

/** Gets tasks their answers by calls, as often as the policy allows. What was reserved for them is the caller's to release. */
export function worker(parts: WorkParts) {
  const { store, service, clock, books, stop, random, runs, reader, health, refusals } = parts
  /** Tasks of which one call already ended in a way that nobody knows. */
  const unsure = new Set<number>()
  const choice = asyncChoice()
  const repeats = retryBudget()
  const silence = outageWatch(clock, random, parts.maxOutageMs)

  /** Sends calls for a task until it has an answer or fails, or has to wait for later. */
  const buy = async (task: Task): Promise<TaskEnd> => {
    const outage = silence.watch()
    if (task.cause === null) repeats.first()
    // A task that finds out whether its engine is back needs no leave.
    else if (task.tries >= retryPolicy.triesInRow && !health.isDown(task) && !repeats.take()) {
      if (health.neverUp(task)) return 'open'
      return await fail(task, 'server-error', `${task.cause}; ${noRepeatsLeft}`)
    }
    for (let tries = task.tries; ; ) {
      const sent = await send(task)
      const { callId, settlement } = sent
      if (settlement.billed === null) books.ambiguous(task)
      health.note(task, settlement)
      refusals.note(settlement, sent.namedMs)
      outage.note(settlement.outcome)
      const cause = settlement.error ?? settlement.outcome
      switch (consequences[settlement.outcome]) {
        case 'keep':
          choice.note(task.operation, settlement.latencyMs)
          return await keep(task, sent)
        case 'poll':
          return await jobs.submitted(task, sent, (unknown, words) => giveUp(task, unknown, words))
        case 'wait':
          await store.settleCall(callId, settlement, null)
          continue
        case 'retry': {
          const unheard = outage.pause(settlement.outcome)
          if (unheard !== null) {
            await waitOut(sent, unheard)
            continue
          }
          if (health.isDown(task)) return await leaveOpen(task, sent, { tries: task.tries, behind: true })
          tries += 1
          const decision = decideRetry(tries, random())
          if ('giveUp' in decision && health.neverUp(task)) return await leaveOpen(task, sent, atTheBack)
          if ('giveUp' in decision) return await giveUp(task, sent, `${cause} (after ${tries} tries)`)
          if ('later' in decision) return await leaveOpen(task, sent, { tries, behind: true })
          if (!repeats.take()) return await spent(task, sent, tries)
          await store.settleCall(callId, settlement, null)
          // A delay that the service named is waited for before the next call of its engine is sent.
          if (sent.namedMs == null) await sleep(clock, decision.wait, stop.signal)
          continue
        }
        case 'retry-once': {
          const again = !unsure.has(task.id)
          unsure.add(task.id)
          // Most calls are lost now, and this one would be, too.
          if (again && health.isDown(task)) return await leaveOpen(task, sent, { tries, behind: true })
          if (!again || !repeats.take())
            return await giveUp(task, sent, `${cause}; whether it was billed is not known`)
          if (!books.coversAgain(task)) return await leaveOpen(task, sent, { tries, behind: false })
          await store.settleCall(callId, settlement, null)
          continue
        }
        case 'stop-run':
          stop.request(stopCause(settlement, service.baseUrl))
          return await leaveOpen(task, sent, { tries, behind: false })
        default:
          return await giveUp(task, sent, cause)
      }
    }
  }

  /** No call may be repeated now: behind all first calls there may be leave again. */
  const spent = async (task: Task, sent: SentCall, tries: number): Promise<TaskEnd> => {
    if (tries < retryPolicy.triesInRow || health.neverUp(task)) return await leaveOpen(task, sent, atTheBack)
    return await giveUp(task, sent, `${sent.settlement.error ?? sent.settlement.outcome}; ${noRepeatsLeft}`)
  }

  /** Nobody is heard of: it is not the task that fails. */
  const waitOut = async ({ callId, settlement }: SentCall, unheard: Outage): Promise<void> => {
    if (unheard.over) stop.request(unreachable(settlement.error ?? settlement.outcome, service.baseUrl))
    await store.settleCall(callId, settlement, null)
    await sleep(clock, unheard.wait, stop.signal)
  }

  const send = (task: Task): Promise<SentCall> => {
    const operation = billableOperation(task.operation)
    const { style, async: policy } = (runs.get(task.runId) as Run).settings
    const request = pageRequest(service.baseUrl, operation, {
      ...task,
      style,
      async: operation.asyncParam !== undefined && choice.wanted(task.operation, policy),
    })
    const { id: taskId, runId, credits } = task
    return service.send(request, { runId, taskId, credits, operation: task.operation }, stop.signal)
  }

  const keep = async (task: Task, { callId, settlement, body }: SentCall): Promise<TaskEnd> => {
    const answered = { ...settlement, outcome: 'answered' as const }
    const fetchedAt = settlement.finishedAt
    const answerId = await reader.keep(task, body, { callId, settlement: answered, fetchedAt })
    books.billed(task)
    return { answerId }
  }

  const fail = async (
    task: Task,
    outcome: SentCall['settlement']['outcome'],
    cause: string,
  ): Promise<TaskEnd> => {
    await reader.fail(task, outcome, cause)
    return { failed: cause }
  }

  const giveUp = async (task: Task, { callId, settlement }: SentCall, cause: string): Promise<TaskEnd> => {
    if (settlement.billed === 1) books.billed(task)
    // Handed over together, so that both stand in one commit, and are heard of together should that fail.
    const settled = store.settleCall(callId, settlement, null)
    const [end] = await Promise.all([fail(task, settlement.outcome, cause), settled])
    return end
  }

  const leaveOpen = async (
    task: Task,
    { callId, settlement }: SentCall,
    again: Pick<TaskAgain, 'tries' | 'behind'>,
  ): Promise<TaskEnd> => {
    books.release(task)
    await store.settleCall(callId, settlement, { taskId: task.id, ...again })
    return 'given-back'
  }

  const jobs = asyncJobs({ ...parts, fail, silence })
  return { buy, goOn: jobs.goOn }
}

const atTheBack = { tries: retryPolicy.triesInRow, behind: true } as const
const noRepeatsLeft = 'not tried again, for half as many calls were repeated already as there are tasks'
