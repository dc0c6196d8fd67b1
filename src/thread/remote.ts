import { RanklineError } from '../errors.ts'
import { inBatches, type Port, type Reply, type Request, type Thrown } from './messages.ts'

/** Objects that are served in another thread. */
export interface Remote {
  /** One of them: its methods are those over there. Everything they take and give has to be plain data. */
  object<T extends object>(name: string): T
  /** Rejects what is under way and whatever is asked for later: nobody answers any more. */
  broken(reason: Error): void
}

interface Waiting {
  readonly done: (value: unknown) => void
  readonly failed: (error: Error) => void
}

/** Calls what is served at the other end of a port. */
export function remote(port: Port): Remote {
  const ask = inBatches<Request>(port, setImmediate)
  const waiting = new Map<number, Waiting>()
  let calls = 0
  let gone: Error | null = null

  port.on('message', (replies) => {
    for (const [call, end, value] of replies as readonly Reply[]) {
      const one = waiting.get(call)
      waiting.delete(call)
      if (end === 'value') one?.done(value)
      else one?.failed(revived(value))
    }
  })

  const call = (object: string, method: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((done, failed) => {
      if (gone !== null) return failed(gone)
      calls += 1
      waiting.set(calls, { done, failed })
      ask([calls, object, method, args])
    })

  return {
    object: <T extends object>(name: string) => {
      const methods = new Map<string | symbol, unknown>()
      return new Proxy({} as T, {
        get: (_, method) => {
          // Whatever can be awaited has this method; these objects cannot.
          if (method === 'then') return undefined
          const known = methods.get(method)
          if (known !== undefined) return known
          const made = (...args: readonly unknown[]) => call(name, String(method), args)
          methods.set(method, made)
          return made
        },
      })
    },
    broken: (reason) => {
      gone = reason
      for (const { failed } of waiting.values()) failed(reason)
      waiting.clear()
    },
  }
}

function revived({ message, stack, exitCode }: Thrown): Error {
  const error = exitCode === null ? new Error(message) : new RanklineError(message, exitCode)
  if (stack !== undefined) error.stack = stack
  return error
}
