import fc from 'fast-check'
import type { FaultRule } from '../../src/sandbox/state.ts'
import { type JobFile, job, plausible } from './fault-jobs.ts'
import type { Interruption } from './interruption.ts'

/** One run from its plan to its end, with everything that goes wrong on the way. */
export interface FaultCase {
  readonly jobs: readonly JobFile[]
  readonly rules: readonly FaultRule[]
  /** Exchanges that find nobody: so many after so many. */
  readonly outage: { readonly after: number; readonly times: number } | null
  /** Credits at the start and with each top-up. */
  readonly credits: { readonly first: number; readonly more: number }
  /** Calls a day that the key allows at first; it is raised when it is used up. */
  readonly quota: number | null
  readonly sandbox: {
    readonly chargeFor404: boolean
    readonly failedJobStatus: 200 | 500
    readonly asyncMs: number
    readonly pages: 'even' | 'short' | 'overlap'
    readonly positions: 'restart' | 'continue'
    readonly latencyMs: number
    readonly statsEnabled: boolean
  }
  readonly concurrency: number | null
  readonly goes: readonly Go[]
}

/** One process that works on the run; those after the listed ones are left alone. */
export interface Go {
  readonly interruption: Interruption | null
  /** Begins anew, and leaves what was unfinished as it is. */
  readonly fresh: boolean
}

/** The key is looked for in every byte that is stored, and a service may echo it. */
export const apiKey = 'sk-7f3e9d15c2aa40b8-never-to-be-stored'

const sometimes = <T>(one: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), one)

const rarely = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: one })

const status = fc.oneof(
  fc.constantFrom(400, 402, 403, 404, 404, 413, 500, 503).map((code) => ({ status: code })),
  fc.constantFrom(500, 502, 503).map((code) => ({ status: code, html: true as const })),
  fc.constantFrom(401, 404, 500).map((code) => ({ status: code, empty: true as const })),
  fc.constant({ status: 400, body: JSON.stringify({ error: `no such key: ${apiKey}` }) }),
)

const lost = fc.constantFrom(
  { hangUp: 'before' as const },
  { hangUp: 'after' as const },
  { stall: 'before' as const },
  { stall: 'after' as const },
  { cut: true as const },
)

const damaged = fc.constantFrom(
  { garble: true as const },
  { oversize: 60_000 },
  { oversize: 20_500_000 },
  { body: { error: apiKey } },
)

const fault = fc.oneof(
  { weight: 4, arbitrary: status },
  { weight: 5, arbitrary: lost },
  { weight: 2, arbitrary: damaged },
  { weight: 2, arbitrary: fc.constantFrom({ refuse: 'rate' as const }, { refuse: 'key' as const }) },
  { weight: 1, arbitrary: fc.constant({ redirect: 'http://127.0.0.1:9/' }) },
  { weight: 2, arbitrary: fc.constantFrom(2, 8, 80, 80).map((latency) => ({ latency })) },
)

const times = fc.integer({ min: 1, max: 8 })

const after = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 }))

const billableRule = fc.record(
  {
    do: fault,
    times,
    after,
    operation: fc.constantFrom('alpha.search', 'alpha.images', 'beta.search'),
    query: fc.constantFrom('desk', 'oak', 'lamp'),
    probability: fc.constantFrom(0.3, 0.6, 0.9),
  },
  { requiredKeys: ['do', 'times', 'after'] },
)

/** Fewer errors of polls than are believed: what is believed of a job may be wrong, but never of a call. */
const pollRule = fc.record({
  operation: fc.constant('jobs.poll'),
  do: fc.oneof(
    lost,
    fc.constantFrom({ status: 500 }, { status: 404 }, { status: 503, html: true as const }),
    fc.constantFrom({ refuse: 'rate' as const }, { refuse: 'key' as const }),
  ),
  times: fc.integer({ min: 1, max: 4 }),
  after,
})

const usageRule = fc.record({
  operation: fc.constant('usage'),
  do: fc.oneof(
    lost,
    fc.constantFrom(
      { status: 500 },
      { status: 503, html: true as const },
      { status: 401, empty: true as const },
    ),
    fc.constantFrom({ refuse: 'rate' as const }, { refuse: 'key' as const }),
    fc.constant({ body: { hello: 'world' } }),
  ),
  times: fc.integer({ min: 1, max: 3 }),
  after: fc.integer({ min: 0, max: 6 }),
})

const jobRule = fc.record({
  operation: fc.constant('alpha.images'),
  do: fc.constantFrom({ job: 'fail' as const }, { job: 'fail' as const }, { job: 'stuck' as const }),
  times,
  after: fc.integer({ min: 0, max: 4 }),
  probability: fc.constantFrom(0.5, 1),
})

const moment = fc.constantFrom('before', 'sent', 'answered')

const commit = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 70 }))

const exchange = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 30 }))

const interruption: fc.Arbitrary<Interruption> = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.record({
      how: fc.constantFrom('crash', 'crash', 'stop'),
      at: fc.oneof(
        fc.record({ commit, trouble: fc.constant(0), keeps: fc.boolean() }),
        fc.record({
          commit: fc.integer({ min: 1, max: 3 }),
          trouble: fc.integer({ min: 1, max: 5 }),
          keeps: fc.boolean(),
        }),
        fc.record({ exchange, moment }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      how: fc.constant('full'),
      at: fc.record({ commit, times: fc.integer({ min: 1, max: 4 }) }),
    }),
  },
)

export const faultCase: fc.Arbitrary<FaultCase> = fc.record({
  jobs: fc
    .array(job, { minLength: 1, maxLength: 3 })
    .map((jobs) => jobs.map((one, index) => ({ name: `job-${index + 1}`, ...plausible(one) }))),
  rules: fc
    .tuple(
      fc.array(billableRule, { maxLength: 7 }),
      sometimes(jobRule),
      sometimes(pollRule),
      rarely(usageRule),
    )
    .map(([rules, ...others]) => [...others.filter((rule) => rule !== null), ...rules] as FaultRule[]),
  outage: rarely(
    fc.record({ after: fc.integer({ min: 0, max: 30 }), times: fc.integer({ min: 1, max: 12 }) }),
  ),
  credits: fc.record({
    first: fc.oneof(
      { weight: 3, arbitrary: fc.constant(10_000) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }) },
    ),
    more: fc.integer({ min: 3, max: 20 }),
  }),
  quota: rarely(fc.integer({ min: 0, max: 15 })),
  sandbox: fc.record({
    chargeFor404: fc.constantFrom(true, true, false),
    failedJobStatus: fc.constantFrom(200, 500),
    asyncMs: fc.integer({ min: 0, max: 25 }),
    pages: fc.constantFrom('even', 'short', 'overlap'),
    positions: fc.constantFrom('restart', 'continue'),
    latencyMs: fc.constantFrom(0, 0, 3, 12),
    statsEnabled: fc.boolean(),
  }),
  concurrency: sometimes(fc.integer({ min: 1, max: 8 })),
  goes: fc.array(
    fc.record({
      interruption: fc.oneof(
        { weight: 1, arbitrary: fc.constant(null) },
        { weight: 5, arbitrary: interruption },
      ),
      fresh: fc.integer({ min: 0, max: 11 }).map((number) => number === 0),
    }),
    { maxLength: 6 },
  ),
})

const everyFault: readonly FaultRule['do'][] = [
  ...[{ status: 500 }, { refuse: 'rate' as const }, { redirect: 'http://127.0.0.1:9/' }],
  ...[{ hangUp: 'before' as const }, { stall: 'after' as const }, { cut: true as const }],
  ...[{ status: 404 }, { status: 400 }],
  ...[{ garble: true as const }, { oversize: 60_000 }, { body: { error: apiKey } }],
]

/** A quiet run in which every kind of fault of a call happens once, which few cases drawn at random may leave out. */
export const caseOfEveryFault: FaultCase = {
  jobs: [
    {
      name: 'job-1',
      async: 'never',
      paging: 'all',
      style: 'get',
      targets: [],
      competitors: [],
      budget: {},
      queries: ['desk', 'oak desk', 'pine desk', 'desk lamp', 'desk mat'].flatMap((query) =>
        ['alpha.search', 'gamma.search'].map((operation) => ({
          query,
          operation,
          pages: 1,
          priority: 0,
          tags: [],
        })),
      ),
    },
  ],
  rules: everyFault.map((fault) => ({ do: fault, times: 1 })),
  outage: { after: 4, times: 1 },
  credits: { first: 10_000, more: 10 },
  quota: null,
  sandbox: {
    chargeFor404: true,
    failedJobStatus: 200,
    asyncMs: 0,
    pages: 'even',
    positions: 'restart',
    latencyMs: 0,
    statsEnabled: true,
  },
  concurrency: 2,
  goes: [],
}
