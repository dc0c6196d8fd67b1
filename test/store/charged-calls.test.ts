import fc from 'fast-check'
import { expect, test } from 'vitest'
import { settlement } from './answers.ts'
import { aStore, noon } from './build.ts'

type Step =
  | { readonly do: 'begin'; readonly credits: number; readonly key: string }
  | { readonly do: 'settle'; readonly which: number; readonly billed: 0 | 1 | null }
  | { readonly do: 'submit'; readonly which: number }
  | { readonly do: 'end job'; readonly which: number; readonly billed: 0 | null }

const which = fc.nat(1_000)
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('begin' as const),
      credits: fc.constantFrom(0, 1, 3),
      key: fc.constantFrom('k', 'k', 'l'),
    }),
    fc.record({
      do: fc.constant('settle' as const),
      which,
      billed: fc.constantFrom<0 | 1 | null>(0, 1, null),
    }),
    fc.record({ do: fc.constant('submit' as const), which }),
    fc.record({ do: fc.constant('end job' as const), which, billed: fc.constantFrom<0 | null>(0, null) }),
  ),
  { minLength: 5, maxLength: 25 },
)

interface Call {
  readonly id: number
  readonly sentAt: number
  readonly key: string
  readonly credits: number
  state: 'in the air' | 'a job' | 'over'
  billed: 0 | 1 | null
}

test('calls that were charged, or may have been, are counted right however often, and in whatever order they end', async () => {
  const { store } = await aStore()
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const calls: Call[] = []
      // Each example counts its own calls: later than all that were before.
      const began = (await store.callsSince(0, Number.MAX_SAFE_INTEGER)).length + noon
      const pick = (index: number, state: Call['state']): Call | undefined => {
        const some = calls.filter((call) => call.state === state)
        return some[index % Math.max(1, some.length)]
      }
      for (const step of all) {
        if (step.do === 'begin') {
          const { credits, key } = step
          const sentAt = began + calls.length
          const planned = { runId: 1, taskId: calls.length + 1, operation: 'alpha.images', credits, sentAt }
          const id = await store.beginCall({ ...planned, keyHash: key })
          calls.push({ id, sentAt, key, credits, state: 'in the air', billed: null })
        } else if (step.do === 'settle') {
          const call = pick(step.which, 'in the air')
          if (call === undefined) continue
          await store.settleCall(call.id, settlement({ billed: step.billed }), null)
          Object.assign(call, { state: 'over', billed: step.billed })
        } else if (step.do === 'submit') {
          const call = pick(step.which, 'in the air')
          if (call === undefined) continue
          const job = { taskId: call.id, callId: call.id, jobId: `j${call.id}` }
          await store.acceptJob(call.id, settlement({ outcome: 'accepted', billed: 0 }), job)
          Object.assign(call, { state: 'a job', billed: 0 })
        } else {
          const call = pick(step.which, 'a job')
          if (call === undefined) continue
          const job = { taskId: call.id, callId: call.id, jobId: `j${call.id}`, acceptedAt: noon }
          await store.endJob(job, step.billed, noon, null)
          Object.assign(call, { state: 'over', billed: step.billed })
        }
        for (const since of [began, began + 4]) {
          const charged = calls.filter(
            ({ key, credits, state, billed, sentAt }) =>
              key === 'k' && credits > 0 && sentAt >= since && state !== 'in the air' && billed !== 0,
          )
          expect(await store.chargedCalls('k', { from: since, until: Number.MAX_SAFE_INTEGER })).toBe(
            charged.length,
          )
        }
      }
      for (const call of calls)
        if (call.state === 'in the air') await store.settleCall(call.id, settlement({ billed: 0 }), null)
        else if (call.state === 'a job')
          await store.endJob(
            { taskId: call.id, callId: call.id, jobId: `j${call.id}`, acceptedAt: noon },
            0,
            noon,
            null,
          )
    }),
    { numRuns: 60 },
  )
})
