import { UsageError } from '../../model/errors.ts'
import type { SharedJob } from '../../store/sync.ts'
import {
  type ChunkState,
  JournalUnreachable,
  type QueueOperations,
  type QueueStatus,
  type SharedJournal,
  type WorkerRow,
} from '../journal.ts'
import { sharedCalls } from './calls.ts'
import { sharedChanges } from './changes.ts'
import { sharedChunks } from './chunks.ts'
import {
  isOtherServer,
  openPostgres,
  type Postgres,
  placeName,
  type Statements,
  sqlState,
} from './connection.ts'
import { rekey, sharedPlans } from './plans.ts'
import { sharedRates } from './rates.ts'
import { chunksByState, epochMs, noteTimeline, reservedOf, timeline } from './rows.ts'
import { sharedSpending } from './spending.ts'

/**
 * Opens the journal of many machines. To `collect` with it, it is laid out where the database is empty, and brought up to date where it is
 * older; to `operate` it, it must be there. Rejected with `JournalUnreachable` where waiting may help, and else with one sentence.
 *
 * @param signal ends the attempt at once
 */
export async function openJournal(
  url: string,
  use: 'collect' | 'operate' = 'collect',
  signal?: AbortSignal,
): Promise<SharedJournal> {
  const postgres = await connected(url, (opened) => makeReady(opened, use), signal)
  const calls = sharedCalls(postgres)
  return {
    plans: sharedPlans(postgres),
    chunks: sharedChunks(postgres),
    calls,
    rates: sharedRates(postgres),
    spending: sharedSpending(postgres),
    changes: sharedChanges(postgres),
    operations: queueOperations(postgres),
    abandon: () => {
      calls.abandon()
      postgres.breakOff()
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Lays out the journal, or brings it up to date; its version before and now. */
export async function layOut(url: string): Promise<{ readonly before: number | null; readonly now: number }> {
  let before: number | null = null
  await using _ = await connected(url, async (postgres) => {
    before = await migrate(postgres)
  })
  return { before, now: schemaVersion }
}

/** Opens the database and does the first thing with it. */
async function connected(
  url: string,
  first: (postgres: Postgres) => Promise<void>,
  signal?: AbortSignal,
): Promise<Postgres> {
  const postgres = await openPostgres(url)
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', postgres.breakOff, { once: true })
    await first(postgres)
    return postgres
  } catch (error) {
    await postgres[Symbol.asyncDispose]()
    if (signal?.aborted !== true && error instanceof JournalUnreachable && (await isOtherServer(postgres)))
      throw new UsageError(
        `What answers at ${postgres.place.server} is no Postgres server. Check host and port in the address of the queue`,
        { cause: error },
      )
    throw error
  } finally {
    signal?.removeEventListener('abort', postgres.breakOff)
  }
}

/** What keeps the queue going, in Postgres. */
function queueOperations(postgres: Postgres): QueueOperations {
  return {
    seen: async ({ id, name, version, keys, startedAt, clockOffsetMs }) => {
      await postgres.query(
        `INSERT INTO rankline.workers VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, clock_offset_ms = excluded.clock_offset_ms`,
        [id, name, version, keys, startedAt, clockOffsetMs],
      )
      await postgres.query(noteTimeline)
      return whyTooNew(await versionOf(postgres))
    },
    // One that was killed cannot say that it is gone: it is forgotten after a day.
    gone: async (worker) => {
      await postgres.query(
        `DELETE FROM rankline.workers WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
        [worker],
      )
    },
    status: () => status(postgres),
    drain: () =>
      postgres.transaction(async (statements) => {
        await statements.query('UPDATE rankline.jobs SET drained = true WHERE coordinator IS NOT NULL')
        const rows = await statements.query<object>(
          `UPDATE rankline.chunks SET state = 'planned', granted = spent + in_doubt WHERE state = 'released' RETURNING id`,
        )
        return rows.length
      }),
    retry: async () => {
      const rows = await postgres.query<object>(
        `UPDATE rankline.chunks SET state = 'planned', takeovers = 0, granted = spent + in_doubt WHERE state = 'dead' RETURNING id`,
      )
      return rows.length
    },
    jobs: () =>
      postgres.query<SharedJob>(
        'SELECT key_hash AS "keyHash", job FROM rankline.jobs ORDER BY job, key_hash',
      ),
    rekey: (jobs, to) => postgres.transaction((statements) => rekey(statements, jobs, to)),
    now: async () => {
      const [row] = await postgres.query<{ now: number }>(
        `SELECT ${epochMs('clock_timestamp()')}::double precision AS now`,
      )
      return row?.now as number
    },
  }
}

async function status(postgres: Postgres): Promise<QueueStatus> {
  const workers = await postgres.query<WorkerRow>(
    `SELECT w.id, w.name, w.version, w.keys, w.started_at AS "startedAt", ${epochMs('w.seen_at')}::bigint AS "seenAt",
      w.clock_offset_ms AS "clockOffsetMs",
      (SELECT count(*)::int FROM rankline.chunks c WHERE c.worker = w.id AND c.state = 'leased') AS chunks
    FROM rankline.workers w ORDER BY w.name, w.id`,
  )
  const runs = await postgres.query<Omit<QueueStatus['runs'][number], 'chunks'>>(
    `SELECT r.id AS run, r.key_hash AS "keyHash", r.job, r.started_at AS "startedAt",
      CASE WHEN j.coordinated_until > clock_timestamp() THEN j.coordinator_name END AS coordinator,
      coalesce(c.spent, 0)::bigint AS spent, coalesce(c.in_doubt, 0)::bigint AS "inDoubt", coalesce(c.reserved, 0)::bigint AS reserved
    FROM rankline.runs r LEFT JOIN rankline.jobs j ON j.key_hash = r.key_hash AND j.job = r.job
    LEFT JOIN LATERAL (SELECT sum(k.spent) AS spent, sum(k.in_doubt) AS in_doubt, sum(${reservedOf('k')}) AS reserved
      FROM rankline.chunks k WHERE k.run_id = r.id) c ON true
    WHERE r.plan_version > 0 AND r.finish_reason IS NULL AND r.closed_at IS NULL ORDER BY r.number`,
  )
  const states = await postgres.query<{ run: string; state: ChunkState; chunks: number }>(
    `SELECT c.run_id AS run, c.state, count(*)::int AS chunks FROM rankline.chunks c
    JOIN rankline.runs r ON r.id = c.run_id AND r.finish_reason IS NULL AND r.closed_at IS NULL GROUP BY 1, 2`,
  )
  return {
    schemaVersion: (await versionOf(postgres)) ?? 0,
    workers,
    runs: runs.map((run) => ({ ...run, chunks: chunksByState(states.filter((one) => one.run === run.run)) })),
    keys: await postgres.query(
      `SELECT k.key_hash AS "keyHash", k.per_second AS "perSecond", k.per_minute AS "perMinute",
        CASE WHEN k.held_until > clock_timestamp() THEN ${epochMs('k.held_until')}::bigint END AS "heldUntil",
        (SELECT remaining FROM rankline.readings r WHERE r.key_hash = k.key_hash ORDER BY read_at DESC LIMIT 1) AS remaining
      FROM rankline.keys k ORDER BY k.key_hash`,
    ),
    readers: await postgres.query(
      `SELECT name, ${epochMs('seen_at')}::bigint AS "seenAt",
        position <= coalesce((SELECT changed FROM rankline.task_ends ORDER BY changed DESC LIMIT 1), '0'::xid8) AS "isBehind"
      FROM rankline.readers ORDER BY name`,
    ),
  }
}

/**
 * The tables of the shared journal, in the schema `rankline`. Instants are epoch milliseconds, as in SQLite; leases, which are compared with the
 * clock of the database, are timestamps. `changed` is the transaction that wrote a row last: readers take rows of transactions that are
 * all over, and so miss none that is committed late. Calls and answers are made by workers, so their ids are, too.
 */
const tables = `
CREATE SCHEMA rankline;

CREATE TABLE rankline.version (version integer NOT NULL, journal uuid NOT NULL DEFAULT gen_random_uuid());

CREATE TABLE rankline.keys (
  key_hash text PRIMARY KEY,
  per_second integer,
  per_minute integer,
  -- The next send time.
  next_slot timestamptz NOT NULL DEFAULT '-infinity',
  -- After a refusal nothing is sent before that.
  held_until timestamptz,
  hold_ms integer NOT NULL DEFAULT 0,
  -- When the database server was started, as it was when the last send time was leased.
  server_started timestamptz
);

CREATE TABLE rankline.readings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_hash text NOT NULL,
  run_id uuid,
  asked_at bigint NOT NULL,
  read_at bigint NOT NULL,
  remaining bigint,
  total_used bigint,
  record text NOT NULL,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX readings_newest ON rankline.readings (key_hash, read_at DESC);
CREATE INDEX readings_changed ON rankline.readings (changed);

CREATE TABLE rankline.jobs (
  key_hash text NOT NULL,
  job text NOT NULL,
  coordinator uuid,
  coordinator_name text,
  coordinated_until timestamptz,
  -- Its coordinator is asked to stop.
  drained boolean NOT NULL DEFAULT false,
  PRIMARY KEY (key_hash, job)
);

CREATE TABLE rankline.runs (
  id uuid PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY,
  key_hash text NOT NULL,
  job text NOT NULL,
  group_id uuid NOT NULL,
  date text NOT NULL,
  settings text NOT NULL,
  started_at bigint NOT NULL,
  plan_version integer NOT NULL DEFAULT 0,
  finished_at bigint,
  duration_ms bigint,
  finish_reason text,
  closed_at bigint
);
CREATE INDEX runs_of_job ON rankline.runs (key_hash, job);

-- What became of runs, in its order: published with a plan, finished, closed.
CREATE TABLE rankline.run_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES rankline.runs,
  kind text NOT NULL CHECK (kind IN ('published', 'finished', 'closed')),
  -- The plan that was published, or that the run ended by.
  plan_version integer NOT NULL,
  -- When a run was finished or closed.
  at bigint,
  duration_ms bigint,
  finish_reason text,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX run_events_changed ON rankline.run_events (changed);

CREATE TABLE rankline.plan_parts (
  run_id uuid NOT NULL REFERENCES rankline.runs,
  version integer NOT NULL,
  part integer NOT NULL,
  encoding text NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (run_id, version, part)
);

CREATE TABLE rankline.chunks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL REFERENCES rankline.runs,
  key_hash text NOT NULL,
  state text NOT NULL DEFAULT 'planned'
    CHECK (state IN ('planned', 'released', 'leased', 'done', 'cancelled', 'dead')),
  -- With which group it was added, and its place there.
  added_with uuid NOT NULL,
  place integer NOT NULL,
  priority integer NOT NULL,
  tags text[] NOT NULL,
  encoding text NOT NULL,
  body bytea NOT NULL,
  -- Keys of its queries.
  queries bytea[] NOT NULL,
  most_credits bigint NOT NULL,
  least_credits bigint NOT NULL,
  -- Reserved for it in all so far; what is reserved now is that without spent and in_doubt, while it is released or leased.
  granted bigint NOT NULL DEFAULT 0,
  spent bigint NOT NULL DEFAULT 0,
  in_doubt bigint NOT NULL DEFAULT 0,
  fence integer NOT NULL DEFAULT 0,
  worker uuid,
  leased_until timestamptz,
  takeovers integer NOT NULL DEFAULT 0,
  -- Why the worker that had it last could not go on with the service; JSON.
  stop text,
  UNIQUE (added_with, place)
);
CREATE INDEX chunks_open ON rankline.chunks (key_hash, state, priority DESC, id) WHERE state IN ('planned', 'released', 'leased');
CREATE INDEX chunks_of_run ON rankline.chunks (run_id);

CREATE TABLE rankline.calls (
  id uuid PRIMARY KEY,
  run_id uuid,
  query bytea,
  page integer,
  attempt integer,
  chunk_id bigint,
  fence integer,
  worker uuid,
  key_hash text NOT NULL,
  operation text NOT NULL,
  credits bigint NOT NULL,
  sent_at bigint NOT NULL,
  finished_at bigint,
  http_status integer,
  outcome text,
  -- 1 billed, 0 free, null in flight or not known.
  billed smallint,
  latency_ms integer,
  error text,
  -- The asynchronous job that the service made of it, and whether that is known to be over.
  job_id text,
  job_over boolean,
  settled_at timestamptz,
  -- When its worker was lost before it was settled: from then on the same page may be bought again.
  lost_at timestamptz,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE UNIQUE INDEX calls_attempt ON rankline.calls (run_id, query, page, attempt) WHERE attempt IS NOT NULL;
CREATE INDEX calls_of_chunk ON rankline.calls (chunk_id) WHERE chunk_id IS NOT NULL;
CREATE INDEX calls_changed ON rankline.calls (changed);
CREATE INDEX calls_settled ON rankline.calls (key_hash, settled_at) WHERE credits > 0;
CREATE INDEX calls_open ON rankline.calls (key_hash) WHERE credits > 0 AND (outcome IS NULL OR job_over = false);

CREATE TABLE rankline.answers (
  call_id uuid PRIMARY KEY,
  run_id uuid NOT NULL,
  query bytea NOT NULL,
  page integer NOT NULL,
  fetched_at bigint NOT NULL,
  encoding text NOT NULL,
  -- Null when it is old and all readers have it.
  body bytea,
  -- It could not be used, and its page is bought again.
  given_up boolean NOT NULL DEFAULT false,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX answers_of_query ON rankline.answers (query, page, fetched_at);
CREATE INDEX answers_of_run ON rankline.answers (run_id, query);
CREATE INDEX answers_changed ON rankline.answers (changed);

CREATE TABLE rankline.task_ends (
  run_id uuid NOT NULL,
  query bytea NOT NULL,
  page integer NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  -- The answer that counts, or the one that cannot be used.
  call_id uuid,
  reused boolean NOT NULL DEFAULT false,
  -- Why the task failed; null where it did not.
  cause text,
  -- The page that follows, or why none does; JSON.
  paging text,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (run_id, query, page)
);
CREATE INDEX task_ends_changed ON rankline.task_ends (changed, number);

-- Credits by chunk and quarter of an hour (days begin at one in every time zone), for budgets of jobs, days and months.
CREATE TABLE rankline.spending (
  chunk_id bigint NOT NULL,
  quarter bigint NOT NULL,
  key_hash text NOT NULL,
  run_id uuid NOT NULL,
  spent bigint NOT NULL DEFAULT 0,
  in_doubt bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (chunk_id, quarter)
);
CREATE INDEX spending_of_key ON rankline.spending (key_hash, quarter);
CREATE INDEX spending_of_run ON rankline.spending (run_id);

CREATE TABLE rankline.workers (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  keys text[] NOT NULL,
  started_at bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  clock_offset_ms double precision NOT NULL
);

CREATE TABLE rankline.readers (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  position xid8 NOT NULL,
  seen_at timestamptz NOT NULL
);
`

const second = `
-- The few asynchronous jobs that are under way are found among all calls, by their run and its queries.
CREATE INDEX calls_jobs ON rankline.calls (run_id, query) WHERE job_over = false;

-- When the last send time was leased, by the clock of the server: where that goes back, it shows by how much.
ALTER TABLE rankline.keys ADD COLUMN leased_at timestamptz;

-- A standby that takes the place of its server goes on as a new timeline, maybe without the newest transactions of the old one.
CREATE TABLE rankline.timelines (timeline integer PRIMARY KEY, since timestamptz NOT NULL DEFAULT clock_timestamp());
INSERT INTO rankline.timelines (timeline) VALUES (${timeline});
-- The timeline when the last send time was leased.
ALTER TABLE rankline.keys ADD COLUMN timeline integer;
-- The number of the last change that a reader had read when it noted its position: what it read later may be lost here.
ALTER TABLE rankline.readers ADD COLUMN changes_read bigint NOT NULL DEFAULT 0;
-- What a failover lost comes back bit by bit: the credits of a run may be here before the run is.
ALTER TABLE rankline.chunks DROP CONSTRAINT chunks_run_id_fkey;
`

/** Each brings the journal from one version to the next; the first one makes it. What has been released is never changed. */
export const migrations: readonly string[] = [tables, second]

/** The least rights: for processes that plan and buy, and for people and programs that only read. */
const roles = `-- Roles belong to all databases of a server: another queue may have brought them.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rankline_worker') THEN CREATE ROLE rankline_worker; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rankline_reader') THEN CREATE ROLE rankline_reader; END IF;
END
$$;

-- Those who run rankline run and worker: they change rows, and no tables.
GRANT USAGE ON SCHEMA rankline TO rankline_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rankline TO rankline_worker;
REVOKE INSERT, UPDATE, DELETE ON rankline.version FROM rankline_worker;

-- Those who run rankline sync, or look at rankline queue status: they change only the row that says how far their database is.
GRANT USAGE ON SCHEMA rankline TO rankline_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA rankline TO rankline_reader;
GRANT INSERT, UPDATE ON rankline.readers TO rankline_reader;

-- Tables of later versions, where the same user lays them out.
ALTER DEFAULT PRIVILEGES IN SCHEMA rankline GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO rankline_worker;
ALTER DEFAULT PRIVILEGES IN SCHEMA rankline GRANT SELECT ON TABLES TO rankline_reader;

-- Then for each user that logs in: GRANT rankline_worker TO its_name;
`

/** The version of the journal that this rankline writes. */
export const schemaVersion = migrations.length

/** Any number; processes that lay out the journal at once take turns by it. */
const layoutLock = 7_265_113

/** The oldest Postgres that can number transactions as the journal needs it. */
const oldestServer = 13

/** The version of a journal; null where there is none. */
export async function versionOf(postgres: Statements): Promise<number | null> {
  // Names are remembered within a connection, missing ones as well: only the rows show what another process has just laid out.
  const [table] = await postgres.query<{ exists: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'rankline' AND tablename = 'version') AS exists`,
  )
  if (table?.exists !== true) return null
  const [row] = await postgres.query<{ version: number }>('SELECT version FROM rankline.version')
  return row?.version ?? null
}

/** Why a journal of that version can no longer be used here; null where it can. */
function whyTooNew(version: number | null): string | null {
  if (version === null || version <= schemaVersion) return null
  return `The queue was laid out by a newer rankline (version ${version}, this one knows ${schemaVersion}). Update rankline here`
}

/**
 * Sees to it that the journal can be used: to collect with it, one that is missing or older is laid out. Throws one sentence where it
 * cannot be used.
 */
async function makeReady(postgres: Postgres, use: 'collect' | 'operate'): Promise<void> {
  const place = placeName(postgres.place)
  const [server] = await postgres.query<{ version: number; isReplica: boolean }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS "isReplica"`,
  )
  if (server !== undefined && server.version < oldestServer)
    throw new UsageError(
      `The queue at ${place} runs Postgres ${server.version}, and rankline needs ${oldestServer} or later. Use a newer server`,
    )
  const version = await versionOf(postgres)
  const tooNew = whyTooNew(version)
  if (tooNew !== null) throw new UsageError(tooNew)
  if (use === 'operate' && version === null)
    throw new UsageError(
      `There is no queue at ${place} yet. The first run or worker lays it out, or: rankline queue migrate`,
    )
  if (use === 'operate' && version !== schemaVersion)
    throw new UsageError(
      `The queue at ${place} was laid out by an older rankline (version ${version}, this one knows ${schemaVersion}). Bring it up to date: rankline queue migrate`,
    )
  if (use === 'collect' && server?.isReplica === true)
    throw new UsageError(
      `${place} is a copy that takes no changes. Name the server that it copies in the address of the queue`,
    )
  if (version !== schemaVersion) await migrate(postgres)
}

/**
 * Lays out an empty journal, or brings an older one up to date; answers the version before. Several may do so at once.
 *
 * @param steps the statements of each version, the first one first
 */
export async function migrate(postgres: Postgres, steps = migrations): Promise<number | null> {
  try {
    return await postgres.transaction(async (statements) => {
      await statements.query('SELECT pg_advisory_xact_lock($1)', [layoutLock])
      const before = await versionOf(statements)
      const tooNew = steps === migrations ? whyTooNew(before) : null
      if (tooNew !== null) throw new UsageError(tooNew)
      for (const statement of statementsAfter(before ?? 0, steps)) await statements.query(statement)
      return before
    }, 'unhurried')
  } catch (error) {
    if (sqlState(error) !== '42501') throw error
    throw new UsageError(
      `User '${postgres.place.user}' may not lay out the queue at ${placeName(postgres.place)}. Have someone with that right run: rankline queue migrate`,
      { cause: error },
    )
  }
}

/** The statements of each version after that one. */
function statementsAfter(version: number, steps: readonly string[]): readonly string[] {
  return steps.slice(version).map((statements, index) => {
    const now = version + index + 1
    const note =
      now === 1
        ? `INSERT INTO rankline.version (version) VALUES (${now});`
        : `UPDATE rankline.version SET version = ${now};`
    return `${statements.trim()}\n\n${note}\n`
  })
}

/** The statements that lay out an empty journal, and those that give the least rights. */
export function printedLayout(): string {
  const versions = statementsAfter(0, migrations).map((text, index) => `-- Version ${index + 1}\n${text}`)
  return `BEGIN;\n\n${versions.join('\n')}\n${roles}\nCOMMIT;\n`
}
