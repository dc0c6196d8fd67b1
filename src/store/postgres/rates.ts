import type { SharedRates } from '../shared/rates.ts'
import type { Postgres } from './connection.ts'

/**
 * The part of the limit that is used: the service counts calls when they arrive, and they travel for different times. Measured with
 * clocks that were off by minutes: with 0.93, no second had more calls than were allowed.
 */
const usedPart = 0.93
/** What a commit that does not wait for the disk can lose when the server dies: three rounds of its writer, and some more. */
const lostByRestartMs = 1_000
const windowMs = 1_000
const firstHoldMs = 500
const longestHoldMs = 30_000

/** Slots in Postgres: one row a key, and one UPDATE for each lease of slots. */
export function sharedRates(postgres: Postgres): SharedRates {
  return {
    lease: (keyHash, slots, leadMs) =>
      postgres.transaction(async (statements) => {
        // Only a restart of the server can lose it, which is noticed.
        await statements.query('SET LOCAL synchronous_commit = off')
        const rows = await statements.query<LeaseRow>(leaseSlots, [
          ...[keyHash, slots, leadMs, usedPart, windowMs + lostByRestartMs],
        ])
        const [row] = rows.length > 0 ? rows : await statements.query<LeaseRow>(unlimitedNow)
        const { first, spacing, slots: given, now } = row as LeaseRow
        if (spacing === null) return { unlimited: true, now }
        return { firstAt: first, spacingMs: spacing, slots: given, now }
      }),
    refused: async (keyHash, slotAt, namedMs) => {
      await postgres.query(holdKey, [keyHash, slotAt, namedMs, firstHoldMs, longestHoldMs])
    },
    passed: async (keyHash, slotAt) => {
      await postgres.query(
        `UPDATE rankline.keys SET held_until = NULL, held_since = NULL, hold_ms = 0
        WHERE key_hash = $1 AND held_until IS NOT NULL AND held_until <= ${instant('$2')}`,
        [keyHash, slotAt],
      )
    },
    setLimits: async (keyHash, { perSecond, perMinute }) => {
      await postgres.query(
        `INSERT INTO rankline.keys (key_hash, per_second, per_minute) VALUES ($1, $2, $3)
        ON CONFLICT (key_hash) DO UPDATE SET per_second = excluded.per_second, per_minute = excluded.per_minute
        WHERE (keys.per_second, keys.per_minute) IS DISTINCT FROM (excluded.per_second, excluded.per_minute)`,
        // A window of no calls would never open: the run stops for it, and free lookups that find it out must pass.
        [keyHash, perSecond || null, perMinute || null],
      )
    },
    limits: async (keyHash) => {
      const [row] = await postgres.query<{ per_second: number | null; per_minute: number | null }>(
        'SELECT per_second, per_minute FROM rankline.keys WHERE key_hash = $1',
        [keyHash],
      )
      return row === undefined ? null : { perSecond: row.per_second, perMinute: row.per_minute }
    },
  }
}

interface LeaseRow {
  /** Epoch milliseconds with fractions. */
  readonly first: number
  /** Null without a limit. */
  readonly spacing: number | null
  readonly slots: number
  readonly now: number
}

const epochMs = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::double precision`
const instant = (epoch: string): string => `to_timestamp(${epoch}::double precision / 1000)`

/**
 * After a refusal slots begin when the hold is over, one at a time until a call has passed: that one probes. When the server was started
 * anew, what it forgot of the last moments is waited out.
 */
const leaseSlots = `
WITH key AS (
  SELECT k.*, clock_timestamp() AS now, pg_postmaster_start_time() AS started,
    greatest(1000.0 / k.per_second, 60000.0 / k.per_minute) / $4 AS spacing
  FROM rankline.keys k WHERE k.key_hash = $1 FOR UPDATE
), slot AS (
  SELECT key.*, CASE WHEN key.held_until IS NULL THEN $2::integer ELSE 1 END AS given,
    greatest(key.next_slot, key.now + $3 * interval '1 millisecond', coalesce(key.held_until, '-infinity'),
      CASE WHEN key.server_started IS NOT NULL AND key.server_started <> key.started
        THEN key.started + $5 * interval '1 millisecond' ELSE '-infinity' END) AS first
  FROM key
)
UPDATE rankline.keys k SET
  next_slot = CASE WHEN s.spacing IS NULL AND s.held_until IS NULL THEN k.next_slot
    -- The next probe leaves when this one had time to come back.
    WHEN s.held_until IS NOT NULL THEN s.first + greatest(coalesce(s.spacing, 0), 1000) * interval '1 millisecond'
    ELSE s.first + s.given * s.spacing * interval '1 millisecond' END,
  server_started = s.started
FROM slot s WHERE k.key_hash = s.key_hash
RETURNING ${epochMs('s.first')} AS first, s.given AS slots, ${epochMs('s.now')} AS now,
  CASE WHEN s.held_until IS NOT NULL THEN coalesce(s.spacing, 0) ELSE s.spacing END::double precision AS spacing`

const unlimitedNow = `SELECT 0::double precision AS first, NULL AS spacing, 0 AS slots, ${epochMs('clock_timestamp()')} AS now`

/** Calls that were under way when the first one was refused do not lengthen the hold. A delay that the service named replaces ours. */
const holdKey = `
UPDATE rankline.keys SET
  hold_ms = least(greatest(hold_ms * 2, $4), $5),
  held_until = clock_timestamp() + coalesce(nullif($3::double precision, 0), least(greatest(hold_ms * 2, $4), $5)) * interval '1 millisecond',
  held_since = coalesce(held_since, clock_timestamp())
WHERE key_hash = $1 AND (held_until IS NULL OR held_until <= ${instant('$2')})`
