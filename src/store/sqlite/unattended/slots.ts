import type { Database } from 'better-sqlite3'
import { and, between, desc, eq, isNull, lt } from 'drizzle-orm'
import type { SlotStore } from '../../unattended.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle } from '../connection/statements.ts'
import { slots } from './schema.ts'

const killed = 'The process that ran it was killed.'

export function slotStore(db: Database, writer: GroupCommit): SlotStore {
  const orm = drizzle(db)
  const isSlot = (job: string, slotAt: number) => and(eq(slots.job, job), eq(slots.slotAt, slotAt))
  return {
    slots: async (job, limit) =>
      orm.select().from(slots).where(eq(slots.job, job)).orderBy(desc(slots.slotAt)).limit(limit).all(),
    slotIn: async (job, from, until) =>
      orm
        .select()
        .from(slots)
        .where(and(eq(slots.job, job), between(slots.slotAt, from, until)))
        .orderBy(desc(slots.slotAt))
        .get() ?? null,
    takeSlot: (job, slotAt, now) =>
      writer.write(() => {
        const { changes } = orm
          .insert(slots)
          .values({ job, slotAt, takenAt: now })
          .onConflictDoNothing()
          .run()
        return changes === 1
      }),
    noteSlotRun: (job, slotAt, runId) =>
      writer.write(() => {
        orm.update(slots).set({ runId }).where(isSlot(job, slotAt)).run()
      }),
    endSlot: (job, slotAt, { outcome, runId, reason }) =>
      writer.write(() => {
        orm.update(slots).set({ runId, outcome, reason }).where(isSlot(job, slotAt)).run()
      }),
    endKilledSlots: (job, before) =>
      writer.write(() => {
        orm
          .update(slots)
          .set({ outcome: 'skipped', reason: killed })
          .where(and(eq(slots.job, job), lt(slots.slotAt, before), isNull(slots.outcome)))
          .run()
      }),
  }
}
