import type { BillableOperation } from '../catalog/operation.ts'
import { release } from './account.ts'
import { type Box, charge } from './box.ts'
import type { OpenEntry } from './ledger.ts'
import type { Fault } from './options.ts'
import type { Reply } from './reply.ts'
import type { Asked } from './validate.ts'

/** The answer of a billable call: charged now, or queued as a job that is charged when it completes. */
export function billableReply(
  box: Box,
  entry: OpenEntry,
  operation: BillableOperation,
  asked: Asked,
  fault: Fault | null,
): Reply {
  const { pages, positions, asyncMs } = box.settings
  const answered = fault !== null && 'answerAs' in fault ? otherQuestion(asked, fault.answerAs) : asked
  const body = box.world(operation, answered, { now: box.worldClock.now(), pages, positions })
  if (!asked.isAsync) {
    charge(box, entry, operation.cost)
    return { status: 200, body }
  }
  const id = box.jobs.accept({
    endsAt: box.clock() + asyncMs,
    end: fault !== null && 'job' in fault ? fault.job : 'complete',
    result: body,
    onEnd: (end) => {
      if (end === 'complete') charge(box, entry, operation.cost)
      else release(box.account, operation.cost)
    },
  })
  return { status: 202, body: { job_id: id, status: 'accepted' } }
}

/** What is answered in place of what was asked. */
function otherQuestion(
  { query, page, params, ...asked }: Asked,
  { q = query, page: otherPage, ...others }: Readonly<Record<string, string | number>>,
): Asked {
  return {
    ...asked,
    query: String(q),
    page: otherPage === undefined ? page : Number(otherPage),
    params: { ...params, ...others },
  }
}
