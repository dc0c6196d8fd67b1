import type { ChunkState, SharedJob, SharedPlans, SharedProgress } from '../shared/plans.ts'
import type { Postgres, Statements } from './connection.ts'
import { pack } from './packing.ts'

/** Chunks that are written with one statement. */
const chunksInStatement = 100

/** Plans and who coordinates them, in Postgres. */
export function sharedPlans(postgres: Postgres): SharedPlans {
  return {
    coordinate: (jobs, coordinator) =>
      postgres.transaction((statements) => coordinate(statements, jobs, coordinator)),
    leave: async (jobs, coordinator) => {
      await postgres.query(
        `UPDATE rankline.jobs j SET coordinator = NULL, coordinator_name = NULL, coordinated_until = NULL
        FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
        WHERE j.key_hash = g.key_hash AND j.job = g.job AND j.coordinator = $2`,
        [asJson(jobs), coordinator],
      )
    },
    publish: (run, plan) =>
      postgres.transaction(async (statements) => {
        const { id, keyHash, job, groupId, date, settings, startedAt } = run
        const [row] = await statements.query<{ version: number }>(publishRun, [
          ...[id, keyHash, job, groupId, date, JSON.stringify(settings), startedAt],
        ])
        await cancelChunks(statements, [id])
        let part = 0
        for await (const one of plan) {
          part += 1
          const { encoding, body } = await pack(one)
          await statements.query('INSERT INTO rankline.plan_parts VALUES ($1, $2, $3, $4, $5)', [
            ...[id, row?.version, part, encoding, body],
          ])
        }
        return row?.version as number
      }),
    addChunks: async (run, chunks) => {
      let group: object[] = []
      const bodies: Buffer[] = []
      const add = async (): Promise<void> => {
        if (group.length > 0) await postgres.query(insertChunks, [run, JSON.stringify(group), bodies])
        group = []
        bodies.length = 0
      }
      let added = 0
      for await (const { priority, tags, queries, mostCredits, leastCredits } of chunks) {
        added += 1
        const { encoding, body } = await pack(queries)
        bodies.push(body)
        group.push({
          ...{ priority, tags, encoding, body: bodies.length, most: mostCredits, least: leastCredits },
          queries: queries.map(({ key }) => key.toString('hex')),
        })
        if (group.length >= chunksInStatement) await add()
      }
      await add()
      return added
    },
    cancelChunks: (runs) => cancelChunks(postgres, runs),
    queriesInWork: async (runs) => {
      const rows = await postgres.query<{ query: Buffer }>(
        `SELECT DISTINCT unnest(queries) AS query FROM rankline.chunks
        WHERE run_id = ANY ($1::uuid[]) AND state IN ('planned', 'released', 'leased')`,
        [runs],
      )
      return rows.map(({ query }) => query)
    },
    progress: (run) => progress(postgres, run),
    finish: async (run, { reason, finishedAt, durationMs }) => {
      await postgres.query(
        `UPDATE rankline.runs SET finish_reason = $2, finished_at = $3, duration_ms = $4, changed = pg_current_xact_id() WHERE id = $1`,
        [run, reason, finishedAt, durationMs],
      )
    },
    close: async (run, now) => {
      await postgres.transaction(async (statements) => {
        await statements.query(
          'UPDATE rankline.runs SET closed_at = $2, changed = pg_current_xact_id() WHERE id = $1 AND closed_at IS NULL',
          [run, now],
        )
        await cancelChunks(statements, [run])
      })
    },
  }
}

function asJson(jobs: readonly SharedJob[]): string {
  return JSON.stringify(jobs.map(({ keyHash, job }) => ({ key_hash: keyHash, job })))
}

/** Takes the jobs in the order of their names, so that two processes never wait for each other. */
async function coordinate(
  statements: Statements,
  jobs: readonly SharedJob[],
  { id, name, leaseMs }: Parameters<SharedPlans['coordinate']>[1],
): Promise<readonly (SharedJob & { readonly heldBy: string })[]> {
  const wanted = asJson(jobs)
  await statements.query(
    `INSERT INTO rankline.jobs (key_hash, job) SELECT key_hash, job FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
    ORDER BY key_hash, job ON CONFLICT DO NOTHING`,
    [wanted],
  )
  const rows = await statements.query<{ key_hash: string; job: string; name: string | null; held: boolean }>(
    `SELECT j.key_hash, j.job, j.coordinator_name AS name,
      j.coordinator IS NOT NULL AND j.coordinator <> $2 AND j.coordinated_until > clock_timestamp() AS held
    FROM rankline.jobs j JOIN jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
      ON j.key_hash = g.key_hash AND j.job = g.job ORDER BY j.key_hash, j.job FOR UPDATE OF j`,
    [wanted, id],
  )
  const held = rows.filter((row) => row.held)
  if (held.length > 0)
    return held.map(({ key_hash, job, name: heldBy }) => ({ keyHash: key_hash, job, heldBy: heldBy ?? '' }))
  await statements.query(
    `UPDATE rankline.jobs j SET coordinator = $2, coordinator_name = $3,
      coordinated_until = clock_timestamp() + $4 * interval '1 millisecond'
    FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text) WHERE j.key_hash = g.key_hash AND j.job = g.job`,
    [wanted, id, name, leaseMs],
  )
  return []
}

/** A run that is published again has a newer plan and goes on. */
const publishRun = `
INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at, plan_version)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
ON CONFLICT (id) DO UPDATE SET group_id = excluded.group_id, settings = excluded.settings,
  plan_version = runs.plan_version + 1, finished_at = NULL, finish_reason = NULL, duration_ms = NULL, changed = pg_current_xact_id()
RETURNING plan_version AS version`

const insertChunks = `
INSERT INTO rankline.chunks (run_id, key_hash, priority, tags, encoding, body, queries, most_credits, least_credits)
SELECT r.id, r.key_hash, g.priority, ARRAY(SELECT jsonb_array_elements_text(g.tags)), g.encoding, ($3::bytea[])[g.body],
  ARRAY(SELECT decode(key, 'hex') FROM jsonb_array_elements_text(g.queries) AS key), g.most, g.least
FROM jsonb_to_recordset($2::jsonb) AS g(priority integer, tags jsonb, encoding text, body integer, queries jsonb, most bigint, least bigint)
JOIN rankline.runs r ON r.id = $1 ORDER BY g.body`

async function cancelChunks(statements: Pick<Statements, 'query'>, runs: readonly string[]): Promise<void> {
  await statements.query(
    `UPDATE rankline.chunks SET state = 'cancelled' WHERE run_id = ANY ($1::uuid[]) AND state IN ('planned', 'released', 'dead')`,
    [runs],
  )
}

async function progress(statements: Statements, run: string): Promise<SharedProgress> {
  const rows = await statements.query<{
    state: ChunkState
    chunks: number
    spent: number
    in_doubt: number
    reserved: number
  }>(
    `SELECT state, count(*)::int AS chunks, sum(spent)::bigint AS spent, sum(in_doubt)::bigint AS in_doubt,
      sum(CASE WHEN state IN ('released', 'leased') THEN greatest(0, granted - spent - in_doubt) ELSE 0 END)::bigint AS reserved
    FROM rankline.chunks WHERE run_id = $1 GROUP BY state`,
    [run],
  )
  const none = { planned: 0, released: 0, leased: 0, done: 0, cancelled: 0, dead: 0 }
  return {
    chunks: { ...none, ...Object.fromEntries(rows.map(({ state, chunks }) => [state, chunks])) },
    spent: rows.reduce((sum, row) => sum + row.spent, 0),
    inDoubt: rows.reduce((sum, row) => sum + row.in_doubt, 0),
    reserved: rows.reduce((sum, row) => sum + row.reserved, 0),
  }
}
