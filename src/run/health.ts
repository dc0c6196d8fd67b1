import { billableOperation } from '../catalog/index.ts'
import { asFields } from '../catalog/normalise/fields.ts'
import { stats } from '../catalog/operations/stats.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import type { Clock } from '../model/clock.ts'
import type { Task } from '../model/task.ts'
import type { Breaker } from './breaker.ts'
import type { Service } from './service.ts'

/** What calls and the service's own snapshots say of the engines. */
export interface Health {
  note(task: Task, settlement: Pick<Settlement, 'outcome' | 'error'>): void
  /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
  answered(task: Task, problem: string | null): void
  /** Whether the task's engine is down, or its operation: it is not the task that fails. */
  isDown(task: Task): boolean
  /** Whether the task's engine never worked, as far as is known; it is then taken for down. */
  neverUp(task: Task): boolean
}

export interface HealthParts {
  readonly service: Service
  readonly clock: Clock
  readonly breaker: Breaker
  readonly signal: AbortSignal
  readonly background: (work: Promise<void>) => void
}

/** Outcomes that say that an engine works, whatever it thinks of the query. */
const signsOfLife: ReadonlySet<Outcome> = new Set([
  'answered',
  'accepted',
  'rejected',
  'not-found',
  'unreadable',
])
const askAgainMs = 60_000

export function watchHealth({ service, clock, breaker, signal, background }: HealthParts): Health {
  /** When each engine's snapshot was asked for last. */
  const asked = new Map<string, number>()
  /** The account has no snapshots: 403 says so once for all. */
  let disabled = false

  const askSnapshot = async (engine: string): Promise<void> => {
    asked.set(engine, clock.monotonic())
    const { settlement, body } = await service.lookup(stats, { engine }, { signal })
    if (settlement.httpStatus === 403) disabled = true
    if (settlement.outcome === 'answered' && saysDown(body)) breaker.trip(engine)
  }

  const consult = (engine: string): void => {
    const last = asked.get(engine) ?? Number.NEGATIVE_INFINITY
    if (disabled || breaker.isOpen(engine) || !breaker.isSuspect(engine)) return
    if (clock.monotonic() - last < askAgainMs) return
    background(askSnapshot(engine))
  }

  return {
    note: ({ operation, id }, { outcome, error }) => {
      const { engine } = billableOperation(operation)
      if (signsOfLife.has(outcome)) breaker.note(engine, id, 'up')
      if (outcome === 'unreadable') breaker.answered(operation, id, error ?? outcome)
      if (outcome === 'ambiguous') breaker.note(engine, id, 'lost')
      if (outcome !== 'server-error') return
      breaker.note(engine, id, 'down')
      consult(engine)
    },
    answered: ({ operation, id }, problem) => breaker.answered(operation, id, problem),
    isDown: ({ operation }) =>
      breaker.isOpen(operation) || breaker.isOpen(billableOperation(operation).engine),
    neverUp: ({ operation }) => {
      const { engine } = billableOperation(operation)
      if (breaker.everUp(engine)) return false
      breaker.trip(engine)
      return true
    },
  }
}

function saysDown(body: Buffer): boolean {
  try {
    return asFields(JSON.parse(body.toString('utf8')))?.health === 'down'
  } catch {
    return false
  }
}
