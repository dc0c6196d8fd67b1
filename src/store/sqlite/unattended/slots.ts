import type { Database } from 'better-sqlite3'
import { and, between, desc, eq, isNull, lt, sql } from 'drizzle-orm'
import type { SlotOutcome, SlotStore } from '../../unattended.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { slots } from './schema.ts'

const take = prepared(($: Values<{ job: string; slotAt: number; now: number }>) =>
  orm.insert(slots).values({ job: $.job, slotAt: $.slotAt, takenAt: $.now }).onConflictDoNothing(),
)

const isSlot = ($: Values<{ job: string; slotAt: number }>) =>
  and(eq(slots.job, $.job), eq(slots.slotAt, $.slotAt))

const noteRun = prepared(($: Values<{ job: string; slotAt: number; runId: number }>) =>
  orm
    .update(slots)
    .set({ runId: sql`${$.runId}` })
    .where(isSlot($)),
)

const end = prepared(
  (
    $: Values<{
      job: string
      slotAt: number
      runId: number | null
      outcome: SlotOutcome
      reason: string | null
    }>,
  ) =>
    orm
      .update(slots)
      .set({ runId: sql`${$.runId}`, outcome: sql`${$.outcome}`, reason: sql`${$.reason}` })
      .where(isSlot($)),
)

const endKilled = prepared(($: Values<{ job: string; before: number; reason: string }>) =>
  orm
    .update(slots)
    .set({ outcome: 'skipped', reason: sql`${$.reason}` })
    .where(and(eq(slots.job, $.job), lt(slots.slotAt, $.before), isNull(slots.outcome))),
)

const newest = prepared(($: Values<{ job: string; limit: number }>) =>
  orm.select().from(slots).where(eq(slots.job, $.job)).orderBy(desc(slots.slotAt)).limit($.limit),
)

const newestIn = prepared(($: Values<{ job: string; from: number; until: number }>) =>
  orm
    .select()
    .from(slots)
    .where(and(eq(slots.job, $.job), between(slots.slotAt, $.from, $.until)))
    .orderBy(desc(slots.slotAt))
    .limit(1),
)

const killed = 'The process that ran it was killed.'

export function slotStore(db: Database, writer: GroupCommit): SlotStore {
  return {
    slots: async (job, limit) => newest.all(db, { job, limit }),
    slotIn: async (job, from, until) => newestIn.get(db, { job, from, until }) ?? null,
    takeSlot: (job, slotAt, now) => writer.write(() => take.run(db, { job, slotAt, now }).changes === 1),
    noteSlotRun: (job, slotAt, runId) => writer.write(() => void noteRun.run(db, { job, slotAt, runId })),
    endSlot: (job, slotAt, { outcome, runId, reason }) =>
      writer.write(() => void end.run(db, { job, slotAt, outcome, runId, reason })),
    endKilledSlots: (job, before) =>
      writer.write(() => void endKilled.run(db, { job, before, reason: killed })),
  }
}
