import type { Sandbox } from '../../src/sandbox/server.ts'
import { isBillable } from './judge.ts'
import type { Started } from './rankline.ts'

/** The jobs that the requests came from, in their order; the word before the number of a query names its job. */
export function jobsAsked(ledger: Sandbox['ledger']): readonly string[] {
  return ledger.requestsFor(isBillable).map(({ params }) => String(params.query).split(' ')[0] ?? '')
}

/** Whoever has to wait says so first. */
export function spokenOrEnded({ child, ended }: Started): Promise<unknown> {
  return Promise.race([ended, new Promise((resolve) => child.stderr?.once('data', resolve))])
}

/** Short enough to miss nothing. */
export const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))
