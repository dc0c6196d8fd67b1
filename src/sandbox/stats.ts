import { billableOperations } from '../catalog/index.ts'
import { healthOf } from './health.ts'
import type { EngineStats } from './options.ts'
import type { Reply } from './reply.ts'
import { badRequest, errorReply } from './reply.ts'

const engines = new Set<string>(billableOperations.map(({ engine }) => engine))
const paths = new Set(billableOperations.map(({ path }) => path))

/** Answers `/v1/stats`: the snapshot, or the documented error. */
export function statsReply(
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
