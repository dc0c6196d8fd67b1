import type { RateLimits } from '../../model/call.ts'
import type { Postgres } from './connection.ts'
import { sql } from './rows.ts'

/** What a commit that does not wait for the disk can lose when the server dies: three rounds of its writer, and some more. */
const lostByRestartMs = 1_000
const windowMs = 1_000
const firstHoldMs = 500
const longestHoldMs = 30_000
/** A clock that was set back shows at least so much: statements that wait for each other's locks may differ by less. */
const setBackMs = 1_000
/** Send times that lie ahead at most: those that two hundred workers have leased. */
const mostTimesAhead = 1_000
/** A probe leaves so long after the hold: instants that have gone through clocks and roundings still lie behind it. */
const afterHoldMs = 20

/** Send times for calls of one key, by the clock of the database. Without a limit, calls leave at once. */
export type LeaseAnswer =
  | {
      /** When the first send time begins, epoch milliseconds of the database with fractions. */
      readonly firstAt: number
      readonly spacingMs: number
      readonly given: number
      /** Whether the service has refused a call: the only send time is for a call that tries whether it takes calls again. */
      readonly isProbe: boolean
      /** What the clock of the database showed when the lease was made. */
      readonly now: number
    }
  | { readonly unlimited: true; readonly now: number }

/** The one rate limit of a key, for all machines: one row a key in Postgres, and one UPDATE for each lease of send times. */
export function sharedRates(postgres: Postgres) {
  const leased = (statement: string, values?: readonly unknown[]) =>
    postgres.query<{
      /** Epoch milliseconds with fractions. */
      readonly first: number
      /** Null without a limit. */
      readonly spacing: number | null
      readonly given: number
      readonly now: number
      readonly probe: boolean
    }>(statement, values)
  return {
    /**
     * Leases `count` send times of a key, the first one not before `leadMs` from now, and so far apart that they use `usedPart` of the
     * limit. Send times of the next second are committed without waiting for the disk: after a restart of the database one full window is
     * left free.
     */
    lease: async (
      keyHash: string,
      count: number,
      { leadMs, usedPart }: { readonly leadMs: number; readonly usedPart: number },
    ): Promise<LeaseAnswer> => {
      const rows = await leased(leaseNow, [
        ...[keyHash, count, leadMs, usedPart, windowMs, lostByRestartMs, afterHoldMs],
        ...[setBackMs, mostTimesAhead],
      ])
      const [row] = rows.length > 0 ? rows : await leased(unlimitedNow)
      const { first, spacing, given, now, probe } = row as NonNullable<typeof row>
      if (spacing === null) return { unlimited: true, now }
      return { firstAt: first, spacingMs: spacing, given, isProbe: probe, now }
    },
    /** The service refused a call for its rate: no process sends for as long as it named. Calls with send times from before the last refusal change nothing. */
    refused: async (keyHash: string, sentAt: number, namedMs: number | null): Promise<void> => {
      await postgres.query(holdKey, [keyHash, sentAt, namedMs, firstHoldMs, longestHoldMs])
    },
    /** The service took a call that was sent after a refusal. */
    passed: async (keyHash: string, sentAt: number): Promise<void> => {
      await postgres.query(
        `UPDATE rankline.keys SET held_until = NULL, hold_ms = 0
        WHERE key_hash = $1 AND held_until IS NOT NULL AND held_until <= ${instant('$2')}`,
        [keyHash, sentAt],
      )
    },
    setLimits: async (keyHash: string, { perSecond, perMinute }: RateLimits): Promise<void> => {
      await postgres.query(
        `INSERT INTO rankline.keys (key_hash, per_second, per_minute, server_started) VALUES ($1, $2, $3, pg_postmaster_start_time())
        ON CONFLICT (key_hash) DO UPDATE SET per_second = excluded.per_second, per_minute = excluded.per_minute
        WHERE (keys.per_second, keys.per_minute) IS DISTINCT FROM (excluded.per_second, excluded.per_minute)`,
        // A window of no calls would never open: the run stops for it, and free lookups that find it out must pass.
        [keyHash, perSecond || null, perMinute || null],
      )
    },
    limits: async (keyHash: string): Promise<RateLimits | null> => {
      const [row] = await postgres.query<{ per_second: number | null; per_minute: number | null }>(
        'SELECT per_second, per_minute FROM rankline.keys WHERE key_hash = $1',
        [keyHash],
      )
      return row === undefined ? null : { perSecond: row.per_second, perMinute: row.per_minute }
    },
  }
}

const instant = (epoch: string): string => `to_timestamp(${epoch}::double precision / 1000)`

/**
 * After a refusal send times begin when the hold is over, one at a time until a call has passed: that one probes. Only send times of the next moments
 * are committed without waiting for the disk: when the server was started anew, which is seen, what it may have forgotten is waited out. A
 * server that took the place of another may have forgotten send times wherever those of all processes end, so it begins that much behind the last
 * one that it knows.
 *
 * A clock of the server that was set back takes the instants that are written down back with it: all would wait for them else.
 */
export const leaseTimes = sql.plannedOnce(
  'lease_times',
  'text, integer, float8, numeric, float8, float8, float8, float8, float8',
  'first float8, given integer, now float8, probe boolean, spacing float8, commits text',
  `
WITH written AS (
  SELECT k.*, clock_timestamp() AS now, pg_postmaster_start_time() AS started,
    greatest(1000.0 / k.per_second, 60000.0 / k.per_minute) / $4 AS spacing, ${sql.timeline} AS timeline_now
  FROM rankline.keys k WHERE k.key_hash = $1 FOR UPDATE
), setting AS (
  SELECT written.*, CASE WHEN leased_at > now + $8::double precision * interval '1 millisecond' THEN leased_at - now
    ELSE interval '0' END AS back FROM written
), key AS (
  SELECT key_hash, now, spacing, server_started, started, held_until - back AS held_until, server_started <> started AS is_new,
    timeline_now, timeline <> timeline_now AS has_failed_over,
    least(next_slot - back, now + $9::double precision * spacing * interval '1 millisecond') AS next_slot
  FROM setting
), times AS (
  SELECT key.*, CASE WHEN key.held_until IS NULL THEN $2::integer ELSE 1 END AS given,
    greatest(key.next_slot, key.now + $3 * interval '1 millisecond', key.held_until + $7 * interval '1 millisecond',
      CASE WHEN key.is_new
        THEN least(key.now, key.started) + ($5 + $6::double precision) * interval '1 millisecond' END,
      CASE WHEN key.has_failed_over
        THEN greatest(key.next_slot, key.now + $3 * interval '1 millisecond')
          + ($5 + $6::double precision + 2 * coalesce(key.spacing, 0)) * interval '1 millisecond' END) AS first
  FROM key
), next AS (
  SELECT times.*, CASE WHEN spacing IS NULL AND held_until IS NULL THEN next_slot
    -- The next probe leaves when this one had time to come back.
    WHEN held_until IS NOT NULL THEN first + greatest(coalesce(spacing, 0), 1000) * interval '1 millisecond'
    ELSE first + given * spacing * interval '1 millisecond' END AS after
  FROM times
)
UPDATE rankline.keys k SET next_slot = s.after, server_started = s.started, held_until = s.held_until, leased_at = s.now,
  timeline = s.timeline_now
FROM next s WHERE k.key_hash = s.key_hash
RETURNING ${sql.epochMs('s.first')}::double precision AS first, s.given, ${sql.epochMs('s.now')}::double precision AS now,
  s.held_until IS NOT NULL AS probe,
  CASE WHEN s.held_until IS NOT NULL THEN coalesce(s.spacing, 0) ELSE s.spacing END::double precision AS spacing,
  set_config('synchronous_commit', CASE WHEN s.after < s.now + $5::double precision * interval '1 millisecond' THEN 'off'
    ELSE current_setting('synchronous_commit') END, true)`,
)

const leaseNow = 'SELECT * FROM rankline.lease_times($1, $2, $3, $4, $5, $6, $7, $8, $9)'

const unlimitedNow = `
SELECT 0::double precision AS first, NULL AS spacing, 0 AS given, false AS probe,
  ${sql.epochMs('clock_timestamp()')}::double precision AS now`

const nextHold = 'least(greatest(k.hold_ms * 2, $4::integer), $5::integer)'
const holdUntil = (ours: string): string =>
  `clock_timestamp() + coalesce(nullif($3::double precision, 0), ${ours}) * interval '1 millisecond'`

/** Calls that were under way when the first one was refused do not lengthen the hold. A delay that the service named replaces ours. */
const holdKey = `
INSERT INTO rankline.keys AS k (key_hash, server_started, hold_ms, held_until)
VALUES ($1, pg_postmaster_start_time(), $4::integer, ${holdUntil('$4::integer')})
ON CONFLICT (key_hash) DO UPDATE SET
  hold_ms = ${nextHold},
  held_until = ${holdUntil(nextHold)}
WHERE k.held_until IS NULL OR k.held_until <= ${instant('$2')}`
