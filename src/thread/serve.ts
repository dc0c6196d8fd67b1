import { RanklineError } from '../errors.ts'
import { inBatches, type Port, type Reply, type Request, type Served, type Thrown } from './messages.ts'

export type { Port }

/** Answers the calls that come in at a port. Those of one message are all begun before anything else happens. */
export function serve(port: Port, objects: Served): void {
  // Whoever asked waits: what one commit has settled is said before anything else is begun.
  const reply = inBatches<Reply>(port, process.nextTick)
  port.on('message', (requests) => {
    for (const [call, object, method, args] of requests as readonly Request[])
      begun(objects, object, method, args).then(
        (value) => reply([call, 'value', value]),
        (error: unknown) => reply([call, 'error', thrown(error)]),
      )
  })
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>

async function begun(
  objects: Served,
  object: string,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  return await (objects[object] as Methods)[method]?.(...args)
}

function thrown(error: unknown): Thrown {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { message, stack, exitCode: error instanceof RanklineError ? error.exitCode : null }
}
