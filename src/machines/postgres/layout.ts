import { UsageError } from '../../model/errors.ts'
import { beginCalls, recordCalls } from './calls.ts'
import { mayTake } from './chunks.ts'
import { type Postgres, placeName, type Statements, sqlState } from './connection.ts'
import { leaseTimes } from './rates.ts'
import { sql } from './rows.ts'

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
INSERT INTO rankline.timelines (timeline) VALUES (${sql.timeline});
-- The timeline when the last send time was leased.
ALTER TABLE rankline.keys ADD COLUMN timeline integer;
-- The number of the last change that a reader had read when it noted its position: what it read later may be lost here.
ALTER TABLE rankline.readers ADD COLUMN changes_read bigint NOT NULL DEFAULT 0;
-- What a failover lost comes back bit by bit: the credits of a run may be here before the run is.
ALTER TABLE rankline.chunks DROP CONSTRAINT chunks_run_id_fkey;
`

const third = `
-- What people have paused: nothing of it is released or taken until they resume it. A row names a key, a job of it (its name and key), a worker
-- (its name, or its host), or nothing: the whole queue.
CREATE TABLE rankline.pauses (
  key_hash text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  worker text NOT NULL DEFAULT '',
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key_hash, job, worker)
);
`

const fourth = `
-- When a worker took a chunk of it last: jobs of a key take turns.
ALTER TABLE rankline.runs ADD COLUMN served_at timestamptz;
`

const fifth = `
-- What is asked for every call is planned once.
${[mayTake, beginCalls, recordCalls, leaseTimes].join('\n')}
-- Their rows change all the time in columns without an index: with room beside them, no index is touched.
ALTER TABLE rankline.chunks SET (fillfactor = 60);
ALTER TABLE rankline.spending SET (fillfactor = 60);
ALTER TABLE rankline.keys SET (fillfactor = 20);
ALTER TABLE rankline.workers SET (fillfactor = 20);
ALTER TABLE rankline.jobs SET (fillfactor = 50);
`

const sixth = `
-- When what was bought for it was dropped, because all readers have it.
ALTER TABLE rankline.runs ADD COLUMN dropped_at timestamptz;
-- By key: up to which transaction that was, and how many of the calls may have been billed.
CREATE TABLE rankline.dropped (key_hash text PRIMARY KEY, until xid8 NOT NULL, charged bigint NOT NULL DEFAULT 0);
`

const seventh = `
-- A call is in few indexes before it is settled: each entry is written once.
CREATE INDEX calls_unsettled ON rankline.calls (chunk_id) WHERE outcome IS NULL OR job_over = false;
CREATE INDEX calls_ended ON rankline.calls (changed) WHERE outcome IS NOT NULL;
CREATE INDEX calls_charged ON rankline.calls (key_hash, settled_at) WHERE credits > 0 AND settled_at IS NOT NULL;
DROP INDEX rankline.calls_of_chunk, rankline.calls_open, rankline.calls_changed, rankline.calls_settled;
`

/** Each brings the journal from one version to the next; the first one makes it. What has been released is never changed. */
export const migrations: readonly string[] = [tables, second, third, fourth, fifth, sixth, seventh]

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
const schemaVersion = migrations.length

/** Any number; processes that lay out the journal at once take turns by it. */
const layoutLock = 7_265_113

/** The version of a journal; null where there is none. */
async function versionOf(postgres: Statements): Promise<number | null> {
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
 * Lays out an empty journal, or brings an older one up to date; answers the version before. Several may do so at once.
 *
 * @param steps the statements of each version, the first one first
 */
async function migrate(postgres: Postgres, steps = migrations): Promise<number | null> {
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
function printedLayout(): string {
  const versions = statementsAfter(0, migrations).map((text, index) => `-- Version ${index + 1}\n${text}`)
  return `BEGIN;\n\n${versions.join('\n')}\n${roles}\nCOMMIT;\n`
}

/** The layout of the journal, and its versions. */
export const layout = {
  migrate,
  version: schemaVersion,
  versionOf,
  whyTooNew,
  printed: printedLayout,
}
