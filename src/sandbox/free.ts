import type { FreeOperation } from '../catalog/operation.ts'
import type { Box } from './box.ts'
import { findCountries, findLanguages } from './finder.ts'
import { errorReply, type Reply } from './reply.ts'
import { statsReply } from './stats.ts'
import { usageRecord } from './usage-record.ts'
import type { Asked } from './validate.ts'

/** The answer of a free lookup; what the catalog has and this table lacks is 404. */
export function freeReply(box: Box, operation: FreeOperation, asked: Asked): Reply {
  return lookups[operation.name]?.(box, asked) ?? errorReply(404)
}

const lookups: Readonly<Record<string, (box: Box, asked: Asked) => Reply>> = {
  usage: (box) => ({ status: 200, body: usageRecord(box.account, box.worldClock.now()) }),
  stats: (box, { params }) =>
    box.account.settings.statsEnabled ? statsReply(params, box.settings.stats) : errorReply(403),
  'finder.countries': (_box, { query }) => ({ status: 200, body: findCountries(query) }),
  'finder.languages': (_box, { query }) => ({ status: 200, body: findLanguages(query) }),
  'jobs.poll': pollReply,
}

function pollReply(box: Box, { params }: Asked): Reply {
  const job = box.jobs.poll(String(params.job_id))
  if (job === undefined) return errorReply(404)
  return { status: job.status === 'failed' ? box.failedJobStatus : 200, body: job }
}
