import type { ApiClient, FinishedCall } from '../../src/api/client.ts'
import { usage } from '../../src/catalog/index.ts'
import { type CollectResult, collect } from '../../src/collect/collect.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import type { Run } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { fakeTime } from '../api/fake-time.ts'
import { settlement } from '../store/answers.ts'
import { noon } from '../store/build.ts'

/** How the service answers a call: after so many milliseconds, or never. */
export interface Answer {
  readonly after: number
  readonly settlement?: Partial<FinishedCall['settlement']>
  readonly body?: string
}

export interface ServiceScript {
  readonly search: (nth: number) => Answer
  /** The usage record; well and at once unless the test says otherwise. */
  readonly usage?: (nth: number) => Answer
  readonly stats?: (nth: number) => Answer
  /** How long the service has refused every call for the rate. */
  readonly throttledFor?: () => number | null
}

const account = JSON.stringify({ remaining: 1_000, total_used: 0, rate_limit: {} })
const served: Answer = { after: 1, body: account }
const noStats: Answer = { after: 1, settlement: { outcome: 'not-found' } }

/** Collects a run from a service that answers by a script, in time that stands still until it is moved. */
export function aCollection(store: Store, run: Run, script: ServiceScript) {
  const time = fakeTime()
  const stop = stopSignal()
  const told: string[] = []
  /** When each call left. */
  const sent: number[] = []
  const asked = { usage: 0, stats: 0 }

  const answer = async (
    { after, settlement: change = {}, body = '' }: Answer,
    { callId = 0, signal }: { readonly callId?: number; readonly signal?: AbortSignal | undefined } = {},
  ) => {
    const sentAt = noon + time.now()
    let given = change
    await new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (Number.isFinite(after)) time.clock.after(after, resolve)
      signal?.addEventListener('abort', () => {
        given = { outcome: 'ambiguous', billed: 0, error: 'not waited for' }
        resolve()
      })
    })
    return { callId, sentAt, settlement: settlement(given), body: Buffer.from(body), headers: {} }
  }
  const service: Pick<ApiClient, 'send' | 'lookup' | 'baseUrl' | 'rateLimiter'> = {
    baseUrl: 'http://service.test',
    rateLimiter: { throttledFor: script.throttledFor ?? (() => null), setLimits: () => {} } as never,
    send: async (_, call) => {
      const callId = await store.beginCall({ ...call, keyHash: 'k', sentAt: noon + time.now() })
      sent.push(time.now())
      return await answer(script.search(sent.length), { callId })
    },
    lookup: async ({ name }, _, options) =>
      name === usage.name
        ? await answer(script.usage?.(++asked.usage) ?? served, options)
        : await answer(script.stats?.(++asked.stats) ?? noStats, options),
  }
  let result: CollectResult | null = null
  let endedAt: number | null = null
  const collected = collect(
    {
      store,
      service,
      clock: { ...time.clock, wall: () => noon + time.now() },
      random: () => 0,
      keyHash: 'k',
      stop,
      concurrency: 4,
      maxOutageMs: 60_000,
      maxThrottlingMs: 600_000,
      fitBalance: false,
      onProgress: () => {},
      notice: (words) => told.push(words),
    },
    [run],
    [],
  ).then((end) => {
    result = end
    endedAt = time.now()
  })
  return {
    time,
    stop,
    told,
    sent,
    asked,
    collected,
    /** What it came to, and when; null while it goes on. */
    end: () => (result === null ? null : { ...(result as CollectResult), at: endedAt as number | null }),
    /** Step by step, for the store needs turns of the event loop between them. */
    pass: async (ms: number) => {
      for (const end = time.now() + ms; time.now() < end; ) await time.pass(5)
    },
  }
}
