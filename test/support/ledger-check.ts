import { groupedBy } from '../../src/model/text.ts'
import type { LedgerEntry } from '../../src/sandbox/state.ts'
import type { GoEnd, Story } from './fault-run.ts'
import { groups } from './groups.ts'
import type { CallRow } from './stored-rows.ts'

/** A call of ours with the request that it became; null where it never left. */
export interface Pair {
  readonly call: CallRow
  readonly request: LedgerEntry | null
  readonly go: GoEnd
  /** What was asked for: the same for every call for the same page of the same query. */
  readonly key: string
}

type Problems = readonly string[]

/** What in the ledger does not agree with what the service saw and charged. */
export function ledgerFaults(story: Story): Problems {
  const { calls } = story
  const { pairs, problems } = pairUp(story, calls)
  return [
    ...problems,
    ...sums(story, calls),
    ...story.goes.flatMap((go) => lookups(story, go, calls)),
    ...pairs.flatMap(charged),
    ...pairs.flatMap(answeredAs),
    ...story.requests.flatMap((request) => unprovoked(request, story)),
    ...groups(pairs, ({ call }) => call.taskId).flatMap(oneTask),
    ...groups(pairs, ({ call, key }) => `${call.groupId} ${key}`).flatMap(oneKey),
    ...overBudget(story, calls),
  ]
}

/** Within one process the calls for one page follow each other, and so do the requests: they go together in order. */
function pairUp(story: Story, calls: readonly CallRow[]): { pairs: readonly Pair[]; problems: Problems } {
  const problems: string[] = []
  const pairs = story.goes.flatMap((go, index) => {
    const ofGo = billable(calls.filter(({ id }) => id >= go.calls.from && id <= go.calls.until))
    const seen = story.requests.slice(go.requests.from, go.requests.until)
    if (seen.length !== go.sent)
      problems.push(`process ${index + 1} sent ${go.sent} requests, but ${seen.length} arrived`)
    const requests = groupedBy(
      seen.filter(({ operation }) => operation !== null && !isFree(operation)),
      keyOfRequest,
    )
    const byKey = groupedBy(ofGo, keyOfCall)
    for (const key of requests.keys())
      if (!byKey.has(key)) problems.push(`no call in the ledger for the request ${key}`)
    return [...byKey].flatMap(([key, ofKey]) => {
      const paired = pairInOrder(key, ofKey, requests.get(key) ?? [], go)
      if (paired === null) problems.push(`calls and requests differ: ${key} (process ${index + 1})`)
      return paired ?? []
    })
  })
  return { pairs, problems }
}

function pairInOrder(
  key: string,
  calls: readonly CallRow[],
  requests: readonly LedgerEntry[],
  go: GoEnd,
): readonly Pair[] | null {
  const left = calls.filter(({ outcome }) => outcome !== 'unreachable')
  // The last call of a process that did not end in order may or may not have left.
  const mayLack = go.end !== 'ended' && isCutShort(left.at(-1)) ? 1 : 0
  if (requests.length !== left.length && requests.length !== left.length - mayLack) return null
  const sent = new Map(left.map(({ id }, index) => [id, requests[index] ?? null]))
  return calls.map((call) => ({ call, request: sent.get(call.id) ?? null, go, key }))
}

/** Whether nobody wrote down how a call ended. */
export function isCutShort(call: CallRow | undefined): boolean {
  return call !== undefined && (call.outcome === null || /died/.test(call.error ?? ''))
}

const billable = (calls: readonly CallRow[]): readonly CallRow[] => calls.filter(({ credits }) => credits > 0)
const freeOperations: readonly string[] = ['usage', 'stats', 'jobs.poll']
const isFree = (operation: string): boolean => freeOperations.includes(operation)

function keyOfCall({ operation, page, text }: CallRow): string {
  return `${operation} page ${page} of '${text}'`
}

/** The older style counts results where the newer one counts pages. */
function keyOfRequest({ operation, style, page, params }: LedgerEntry): string {
  const number = style === 'post' ? Number(page ?? 0) / 10 + 1 : Number(page ?? 1)
  return `${operation} page ${number} of '${params.query}'`
}

/** Every free request is in the ledger, too. */
function lookups({ requests }: Story, go: GoEnd, calls: readonly CallRow[]): Problems {
  const seen = requests.slice(go.requests.from, go.requests.until)
  return freeOperations.flatMap((operation) => {
    const arrived = seen.filter((one) => one.operation === operation).length
    const noted = calls.filter(
      ({ id, ...call }) => call.operation === operation && id >= go.calls.from && id <= go.calls.until,
    ).length
    return arrived <= noted ? [] : [`${arrived} requests of ${operation}, but ${noted} calls in the ledger`]
  })
}

const total = (calls: readonly { readonly credits: number }[]): number =>
  calls.reduce((sum, { credits }) => sum + credits, 0)

function sums({ charged }: Story, calls: readonly CallRow[]): Problems {
  const certain = total(calls.filter(({ billed, isJob }) => billed === 1 && !isJob))
  const unsure = total(calls.filter(({ billed, isJob }) => billed === null || isJob === 1))
  if (certain <= charged && charged <= certain + unsure) return []
  return [`${charged} credits were charged, but ${certain} are billed and ${unsure} unsure in the ledger`]
}

function charged({ call, request, key }: Pair): Problems {
  const { id, billed, credits, outcome, isJob } = call
  const paid = request?.charged ?? 0
  if (isJob === 1 || billed === null) return paid === 0 || paid === credits ? [] : [`odd charge of ${key}`]
  if (paid === billed * credits) return []
  return [`call ${id} (${key}, ${outcome}) is billed ${billed}, but was charged ${paid} of ${credits}`]
}

function answeredAs({ call, request, key, go }: Pair): Problems {
  const { id, outcome, status, finishedAt } = call
  if (outcome === null)
    return go.end === 'ended' ? [`call ${id} (${key}) was never ended, but its process was`] : []
  if (finishedAt === null) return [`call ${id} (${key}) has no end`]
  if (outcome === 'ambiguous' || request === null || request.status === status) return []
  return [`call ${id} (${key}) has status ${status}, but the service answered ${request.status}`]
}

/** The service refuses nothing for which no rule asks: calls are valid, and covered by the balance. */
function unprovoked({ operation, status, fault, params, path }: LedgerEntry, story: Story): Problems {
  if (fault !== null || status === null || status < 300 || operation === 'stats') return []
  // Polls are tried at a second path, and may tell of a failed job in this way.
  if ((status === 404 || status === 500) && /\/jobs\//.test(path)) return []
  // Jobs that never end keep their credits from everybody.
  const isHeld = story.case.rules.some((rule) => 'job' in rule.do && rule.do.job === 'stuck')
  if (status === 402 && isHeld) return []
  return [`a request of ${operation} was refused with ${status}: ${JSON.stringify(params)}`]
}

/** What became of the calls for one task. */
function oneTask(pairs: readonly Pair[]): Problems {
  const calls = pairs.map(({ call }) => call)
  const key = pairs[0]?.key
  const problems: string[] = []
  if (calls.filter(({ billed }) => billed === 1).length > 1) problems.push(`billed more than once: ${key}`)
  for (const ofGo of groups(pairs, ({ go }) => go)) {
    const lost = ofGo.filter(({ call }) => call.outcome === 'ambiguous').length
    if (lost > 2) problems.push(`asked again after ${lost - 1} calls of unknown outcome: ${key}`)
  }
  for (const [index, call] of calls.entries()) {
    const later = calls.slice(index + 1)
    if (later.length === 0) continue
    if (call.answerId !== null) problems.push(`asked again after its answer was stored: ${key}`)
    if (call.outcome === 'accepted' && !(call.billed === 0 && call.jobEndedAt !== null))
      problems.push(`asked again while its job went on, or after it ended otherwise than in failure: ${key}`)
    if (['rejected', 'not-found', 'unreadable'].includes(call.outcome ?? ''))
      problems.push(`asked again after it failed for good: ${key}`)
  }
  return problems
}

/** What became of the calls for one page within one group of runs, whose runs share what they buy. */
function oneKey(pairs: readonly Pair[]): Problems {
  const problems: string[] = []
  for (const [index, { call, go, key }] of pairs.entries()) {
    const next = pairs[index + 1]
    if (next === undefined) continue
    // A job that was taken without a name is nobody's to wait for.
    const followed = call.outcome === 'accepted' && (call.isJob === 1 || call.jobEndedAt !== null)
    const end = followed ? call.jobEndedAt : call.finishedAt
    const overlaps = end === null || next.call.sentAt < end
    if ((next.go === go || followed) && overlaps) problems.push(`asked twice at the same time: ${key}`)
  }
  return problems
}

/** What may have been billed counts as spent. */
function overBudget({ jobs }: Story, calls: readonly CallRow[]): Problems {
  return groups(calls, ({ runId }) => runId).flatMap((ofRun) => {
    const { max_credits: most } = jobs.find(({ name }) => name === ofRun[0]?.job)?.budget ?? {}
    const spent = total(ofRun.filter(({ billed, isJob }) => billed !== 0 || isJob === 1))
    return most === undefined || spent <= most ? [] : [`a run of ${most} credits at most cost ${spent}`]
  })
}
