import { countryCodes } from '../catalog/codes.ts'
import { billableOperations } from '../catalog/index.ts'
import type { FreeOperation } from '../catalog/operation.ts'
import { usageRecord } from './account.ts'
import { badRequest, errorReply, type Reply } from './http.ts'
import type { EngineStats } from './options.ts'
import type { CheckedRequest } from './routes.ts'
import type { SandboxState } from './state.ts'

/** The answer of a free lookup; 404 for an operation that this table lacks. */
export function freeReply(state: SandboxState, operation: FreeOperation, asked: CheckedRequest): Reply {
  return lookups[operation.name]?.(state, asked) ?? errorReply(404)
}

const lookups: Readonly<Record<string, (state: SandboxState, asked: CheckedRequest) => Reply>> = {
  usage: (state) => ({ status: 200, body: usageRecord(state.account, state.worldClock.now()) }),
  stats: (state, { params }) =>
    state.account.settings.statsEnabled ? statsReply(params, state.settings.stats) : errorReply(403),
  'finder.countries': (_, { query }) => ({ status: 200, body: findCountries(query) }),
  'finder.languages': (_, { query }) => ({ status: 200, body: findLanguages(query) }),
  'jobs.poll': pollReply,
}

function pollReply(state: SandboxState, { params }: CheckedRequest): Reply {
  const job = state.jobs.poll(String(params.job_id))
  if (job === undefined) return errorReply(404)
  return { status: job.status === 'failed' ? state.failedJobStatus : 200, body: job }
}

const engines = new Set<string>(billableOperations.map(({ engine }) => engine))
const paths = new Set(billableOperations.map(({ path }) => path))

/** The answer of `/v1/stats`: the snapshot, or the documented error. */
function statsReply(
  asked: Readonly<Record<string, unknown>>,
  stats: Readonly<Record<string, EngineStats>>,
): Reply {
  const path = typeof asked.path === 'string' ? asked.path : null
  const inPath = path?.match(/^\/v1\/([a-z0-9_-]+)\/[a-z0-9_/-]+$/)?.[1] ?? null
  const engine = typeof asked.engine === 'string' ? asked.engine : inPath
  if (path !== null && inPath === null) return badRequest('path must look like /v1/<engine>/<operation>')
  if (engine === null) return badRequest('engine or path is required')
  if (!engines.has(engine)) return errorReply(404)
  if (inPath !== null && inPath !== engine) return badRequest('path does not belong to the engine')
  if (path !== null && !paths.has(path)) return badRequest('unknown path')
  return { status: 200, body: snapshot(engine, path, stats[engine] ?? {}) }
}

function snapshot(engine: string, path: string | null, stats: EngineStats): object {
  const { successRate = 99.2, avgResponseTimeMs = 1150 } = stats
  return {
    engine,
    path,
    health: healthOf(successRate),
    success_rate: successRate,
    avg_response_time_ms: avgResponseTimeMs,
    window: '1h',
  }
}

/** Language codes, by the number of people who use them, largest first. */
const languageCodes = `
  en zh hi es fr ar bn pt ru ur id de ja mr te tr ta vi ko it ha th gu pl fa sw jv kn ml pa my uk uz su am ro
  nl or ps sd ne si az km kk el hu cs sv be bg he ca da fi sk no hr sr lt sl lv et sq hy ka mk bs is mn lo af
  zu xh ms ga cy eu gl eo
`
  .trim()
  .split(/\s+/)

const findCountries = finder('region', countryCodes, (code, name) => ({
  country_code: code.toLowerCase(),
  country_name: name,
}))

const findLanguages = finder('language', languageCodes, (code, name) => ({
  language_code: code,
  language_name: name,
}))

/** Finds the entries whose English name contains a text, in upper or lower case, in the order of the codes. */
function finder(
  type: 'region' | 'language',
  codes: readonly string[],
  entryOf: (code: string, name: string) => object,
) {
  const names = new Intl.DisplayNames('en', { type })
  const all = codes.map((code) => ({ code, name: names.of(code) ?? code }))
  return (text: string): readonly object[] =>
    all
      .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
      .map(({ code, name }) => entryOf(code, name))
}

/** The health of an engine by its success rate (percent) of the last hour. */
function healthOf(successRate: number): 'operational' | 'degraded' | 'down' {
  if (successRate >= 90) return 'operational'
  return successRate >= 50 ? 'degraded' : 'down'
}
