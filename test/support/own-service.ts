import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { Sandbox } from '../../src/sandbox/server.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** What a service has been asked, charged and refused: see the ledger of the sandbox. */
export type OwnLedger = ReturnType<Sandbox['ledger']['summary']> & Pick<Sandbox['ledger'], 'requests'>

export type OwnService = Awaited<ReturnType<typeof startOwnService>>

/**
 * Starts the service in a process that goes before all others where that is allowed, as it is on a machine of its own: where it stands still while
 * tests do their work, calls that came one after the other are counted in the same moment.
 *
 * @param latencyMs from, to
 */
export async function startOwnService(perSecond: number, latencyMs: readonly [number, number]) {
  const args = ['--port', '0', '--per-second', String(perSecond), '--latency', latencyMs.join('-')]
  const child = spawn(process.execPath, [program, 'sandbox', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  try {
    setPriority(child.pid as number, -10)
  } catch {
    // Only an administrator may: it is as quick as the others then.
  }
  const [greeting] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { base_url: url, api_key: key } = JSON.parse(greeting) as { base_url: string; api_key: string }
  const read = async <T>(what: string): Promise<T> => {
    // A connection of its own: one that was kept may be closed by the service at the moment when it is used again.
    const { body } = await request(`${url}/_sandbox/${what}`, { reset: true })
    return (await body.json()) as T
  }
  return {
    url,
    key,
    ledger: () => read<OwnLedger>('ledger'),
    /** Credits so far. */
    charged: async () => (await read<OwnLedger>('ledger?summary=1')).charged,
    close: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
