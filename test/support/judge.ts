import type { Sandbox } from '../../src/sandbox/server.ts'
import type { LedgerEntry } from '../../src/sandbox/state.ts'
import type { KilledRun } from './killed-run.ts'
import { differences, type Memory, memoryOf } from './memory.ts'
import type { Workspace } from './rankline.ts'

interface CallCount {
  readonly query: string
  readonly page: number
  readonly calls: number
  readonly ambiguous: number
}

export interface Judged {
  readonly place: Workspace
  readonly sandbox: Sandbox
  readonly run: KilledRun
  readonly concurrency: number
  readonly expected: Memory
}

/** Everything that is wrong with a run that was killed and went on: one sentence for each, none where all is well. */
export function faults(judged: Judged): readonly string[] {
  return [...endFaults(judged), ...killFaults(judged), ...callFaults(judged), ...moneyFaults(judged)]
}

function endFaults({ place, run: { end }, expected }: Judged): readonly string[] {
  const found: string[] = []
  if (end !== null && end.code !== 0) found.push(`the last process ended with ${end.code}: ${end.stderr}`)
  const integrity = JSON.stringify(place.sql('PRAGMA integrity_check'))
  if (integrity !== '[{"integrity_check":"ok"}]') found.push(`the database is damaged: ${integrity}`)
  const unfinished = place.sql("SELECT run_id FROM runs WHERE finish_reason IS NOT 'completed'")
  if (unfinished.length > 0) found.push(`not completed: ${JSON.stringify(unfinished)}`)
  return [...found, ...differences(memoryOf(place), expected)]
}

/** What was in the air when a process was killed, and nothing else, is ambiguous afterwards. */
function killFaults({ place, run: { kills }, concurrency }: Judged): readonly string[] {
  const found: string[] = []
  for (const [index, { before, scene }] of kills.entries()) {
    if (scene.billableInTheAir > concurrency)
      found.push(`kill ${index + 1}: ${scene.billableInTheAir} calls in the air, ${concurrency} allowed`)
    const unexplained = without(without(scene.ambiguous, before.ambiguous), before.inTheAir)
    if (unexplained.length > 0) found.push(`kill ${index + 1}: ambiguous before it died: ${unexplained}`)
  }
  const inTheAir = [...new Set(kills.flatMap(({ scene }) => scene.inTheAir))]
  const ambiguous = idsOf(place, "outcome = 'ambiguous'")
  const open = idsOf(place, 'outcome IS NULL')
  if (open.length > 0) found.push(`calls that never ended: ${open}`)
  const invented = without(ambiguous, inTheAir)
  if (invented.length > 0) found.push(`ambiguous, and not in the air at any kill: ${invented}`)
  const forgotten = without(inTheAir, ambiguous)
  if (forgotten.length > 0) found.push(`in the air at a kill, and not ambiguous: ${forgotten}`)
  return found
}

/** Each call stands in the ledger, and none is made again but for one that is ambiguous. */
function callFaults({ place, sandbox }: Judged): readonly string[] {
  const rows = place.sql<CallCount>(
    `SELECT t.query, t.page, count(*) AS calls, sum(c.outcome = 'ambiguous') AS ambiguous
    FROM calls c JOIN tasks t ON t.task_id = c.task_id WHERE c.credits > 0 GROUP BY t.query, t.page`,
  )
  const ours = new Map(rows.map((row) => [`${row.query}, page ${row.page}`, row]))
  const theirs = new Map<string, LedgerEntry[]>()
  for (const entry of sandbox.ledger.requestsFor(isBillable)) {
    const call = `${entry.params.query}, page ${entry.page ?? 1}`
    theirs.set(call, [...(theirs.get(call) ?? []), entry])
  }
  return [...theirs].flatMap(([call, sent]) => {
    const { calls, ambiguous } = ours.get(call) ?? { calls: 0, ambiguous: 0 }
    const charged = sent.filter((entry) => entry.charged > 0).length
    const found: string[] = []
    if (sent.length > calls) found.push(`${call}: ${sent.length} requests, ${calls} in our ledger`)
    if (sent.length > 1 + ambiguous) found.push(`${call}: sent ${sent.length} times, ${ambiguous} ambiguous`)
    if (charged > 1 + ambiguous) found.push(`${call}: bought ${charged} times, ${ambiguous} ambiguous`)
    return found
  })
}

/** Both ledgers agree, but for what ours calls ambiguous. */
function moneyFaults({ place, sandbox }: Judged): readonly string[] {
  const [books] = place.sql<{ billed: number; unknown: number }>(
    `SELECT coalesce(sum(credits) FILTER (WHERE billed = 1), 0) AS billed,
      coalesce(sum(credits) FILTER (WHERE billed IS NULL), 0) AS unknown FROM calls`,
  )
  const { billed = 0, unknown = 0 } = books ?? {}
  const { charged } = sandbox.ledger
  return billed <= charged && charged <= billed + unknown
    ? []
    : [`charged ${charged}; our ledger says ${billed} billed and ${unknown} not known`]
}

export function isBillable({ operation }: LedgerEntry): boolean {
  return operation?.startsWith('alpha.') === true
}

function idsOf(place: Workspace, condition: string): readonly number[] {
  return place.sql<{ id: number }>(`SELECT call_id AS id FROM calls WHERE ${condition}`).map(({ id }) => id)
}

function without(ids: readonly number[], others: readonly number[]): readonly number[] {
  const known = new Set(others)
  return ids.filter((id) => !known.has(id))
}
