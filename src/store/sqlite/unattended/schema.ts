import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { AlertKind, AlertMessage, Workspace } from '../../../model/settings.ts'

/** What a message tells. Each channel writes it in its own form. */
export type MessageContent =
  | { readonly kind: 'alerts'; readonly message: AlertMessage }
  | { readonly kind: 'digest'; readonly message: DigestMessage }
  | { readonly kind: 'report'; readonly message: ReportMessage }

/** The figures of a week as messages tell them. */
export interface DigestMessage {
  readonly job: string
  /** Local day that the figures are of, and the one that they are compared with; null where nothing is stored yet. */
  readonly date: string | null
  readonly comparedWith: string | null
  /** One section for each own target, then one of the whole job, unless it is for a client. */
  readonly sections: readonly DigestSection[]
}

export interface DigestSection {
  readonly title: string
  /** What happened, as reports begin; missing for what is no site, and in messages of earlier versions. */
  readonly sentences?: readonly string[]
  /** Figures in words, for instance `Visibility`, `42.0%`, `▲ 1.3`; the change is null where nothing can be compared. */
  readonly lines: readonly {
    readonly label: string
    readonly value: string
    readonly change: string | null
  }[]
}

/** A digest as mail: the report of the job, as it was when the message was put in. */
export interface ReportMessage {
  readonly job: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** PNG pictures of the HTML in base64, by the names that `cid:` addresses give them. */
  readonly pictures: Readonly<Record<string, string>>
}

export type MessageState = 'waiting' | 'sent' | 'dead'

/** A job that something has stopped that stops others, too, and who is told of that. */
export interface StoppedJob {
  readonly job: string
  /** The folder of its channels. */
  readonly folder: string
  readonly channels: readonly string[]
  /** When that was last seen. */
  readonly at: number
  /** False where it went on since. */
  readonly isStopped: boolean
}

/** What became of a slot: a run was collected, nothing was due, or it could not run. */
type SlotOutcome = 'ran' | 'nothing-due' | 'skipped'

/**
 * Slots of schedules that a process has taken: (job, slot) is unique, so that no second process takes the same one. What a slot
 * is, follows from the job's cron pattern; nothing here says when a job is due next.
 */
export const slots = sqliteTable(
  'slots',
  {
    job: text().notNull(),
    /** The instant of the slot, epoch ms. */
    slotAt: integer('slot_at').notNull(),
    takenAt: integer('taken_at').notNull(),
    /** The run that it began or continued; null where there is none. */
    runId: integer('run_id'),
    /** Null while its process is at work, or where that was killed. */
    outcome: text().$type<SlotOutcome>(),
    /** Why it was skipped, in one sentence. */
    reason: text(),
  },
  (table) => [primaryKey({ columns: [table.job, table.slotAt] })],
)

/**
 * Queries that a run of a part of its job left out, and that the job asks all the same: what is known of them stays as it was. A run
 * that asks everything has none.
 */
export const restingQueries = sqliteTable(
  'resting_queries',
  {
    runId: integer('run_id').notNull(),
    queryId: integer('query_id').notNull(),
    /** The newest run that asked it; its tags, volume and targets are there. */
    lastRun: integer('last_run').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.queryId] })],
)

/** What alert rules found: a row per alert, from its beginning to its end. */
export const alerts = sqliteTable(
  'alerts',
  {
    /** Twelve hexadecimal digits, the same in every message about it. */
    id: text().primaryKey(),
    /** What it is about: job, rule, query and target. One alert of an identity is open at a time. */
    identity: text().notNull(),
    job: text().notNull(),
    when: text().$type<AlertKind>().notNull(),
    queryId: integer('query_id'),
    /** Label of its target, or a site. */
    target: text(),
    state: text().$type<'open' | 'over'>().notNull(),
    openedAt: integer('opened_at').notNull(),
    openedRun: integer('opened_run'),
    overAt: integer('over_at'),
    overRun: integer('over_run'),
    /** What was, and what is now, as JSON: a rank, an address, a number. */
    before: text({ mode: 'json' }).$type<number | string | null>(),
    now: text({ mode: 'json' }).$type<number | string | null>(),
    /** One sentence for people. */
    text: text().notNull(),
    /** Nothing is sent before that; null where it is not muted. */
    mutedUntil: integer('muted_until'),
    /** 0 where it began while it was muted: its beginning was not sent. */
    told: integer({ mode: 'boolean' }).notNull().default(true),
    /** The jobs that its cause has stopped; null where it is about one job. */
    stopped: text({ mode: 'json' }).$type<readonly StoppedJob[]>(),
  },
  (table) => [
    uniqueIndex('alerts_open').on(table.identity).where(sql`state = 'open'`),
    index('alerts_job').on(table.job, table.openedAt),
  ],
)

/** Alerts that nothing is sent about: those of a job, a tag or a kind of rule, or of all that are given. */
export const mutes = sqliteTable('mutes', {
  id: integer().primaryKey(),
  job: text(),
  tag: text(),
  when: text().$type<AlertKind>(),
  until: integer().notNull(),
})

/**
 * Runs that alert rules have judged, as they had ended then: one that has ended anew since, or was closed, is judged again. A run
 * that is missing here ended shortly before its process died.
 */
export const judgedRuns = sqliteTable('judged_runs', {
  runId: integer('run_id').primaryKey(),
  finishedAt: integer('finished_at'),
  closedAt: integer('closed_at'),
})

/** Of earlier versions: runs that asked some queries of another run once more, for alert rules. They do not count as runs of their job. */
export const rechecks = sqliteTable('rechecks', {
  runId: integer('run_id').primaryKey(),
  /** The run whose queries are looked at again. */
  ofRun: integer('of_run').notNull().unique(),
})

/** What `rankline.yaml` of a folder last said of its channels when it was without mistakes: while it has some, they are told there. */
export const workspaces = sqliteTable('workspaces', {
  folder: text().primaryKey(),
  channels: text({ mode: 'json' }).$type<Workspace['channels']>().notNull(),
})

/** Messages to channels: kept until they are delivered, at least once each. */
export const outbox = sqliteTable(
  'outbox',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** The same message is put in once per channel, for instance `alerts:run 12:mail`. */
    identity: text().notNull().unique(),
    /** Name of the channel in the workspace file. */
    channel: text().notNull(),
    kind: text().$type<MessageContent['kind']>().notNull(),
    job: text().notNull(),
    runId: integer('run_id'),
    /** What is told; each channel writes it in its own form. */
    message: text({ mode: 'json' }).$type<MessageContent['message']>().notNull(),
    createdAt: integer('created_at').notNull(),
    state: text().$type<MessageState>().notNull(),
    attempts: integer().notNull().default(0),
    /** Not tried again before this instant. */
    nextTryAt: integer('next_try_at').notNull(),
    lastError: text('last_error'),
    sentAt: integer('sent_at'),
  },
  (table) => [index('outbox_waiting').on(table.nextTryAt).where(sql`state = 'waiting'`)],
)
