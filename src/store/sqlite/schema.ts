import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  sqliteView,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import type { JobSettings, Match, Target, Variant } from '../../model/job.ts'
import type { Exactness, ObservationState } from '../../model/result.ts'
import type { FinishReason, Task } from '../../model/run.ts'
import type { ReadChange, SyncStep } from '../sync.ts'

/**
 * The tables inside; programs read the views instead. Instants are epoch milliseconds in UTC, JSON is text.
 * Text that returns every day (links, titles, snippets) is stored once in a dictionary and named by its number.
 * Tables with a compound key are WITHOUT ROWID: drizzle-kit cannot say that, so it is written into the migration
 * that makes them. A trailing underscore leaves the plain name to the public view.
 */

/** Older runs do not name newer settings. */
type StoredSettings = Omit<
  JobSettings,
  'ctr' | 'deepEveryMs' | 'strictEcho' | 'freshnessOfRuns' | 'alerts' | 'targets' | 'budget' | 'continues'
> & {
  readonly alerts?: JobSettings['alerts']
  readonly ctr?: JobSettings['ctr']
  readonly deepEveryMs?: number
  readonly continues?: JobSettings['continues']
  readonly strictEcho?: boolean
  readonly freshnessOfRuns?: JobSettings['freshnessOfRuns']
  readonly targets: readonly (Omit<Target, 'also'> & Partial<Target>)[]
  readonly budget: Partial<JobSettings['budget']>
}

type TaskState = 'pending' | 'leased' | 'sent' | 'accepted' | 'answered' | 'done' | 'failed' | 'skipped'

export const hosts = sqliteTable('hosts', {
  id: integer().primaryKey(),
  host: text().notNull().unique(),
  /** Registrable domain, or null for an address or a name that has none. */
  site: text(),
})

export const links = sqliteTable('links', {
  id: integer().primaryKey(),
  hash: integer().notNull(),
  link: text().notNull(),
  /** The link that is the address of its page; null where it is its own. */
  sameAs: integer('same_as'),
  hostId: integer('host_id'),
})

export const texts = sqliteTable(
  'texts',
  {
    id: integer().primaryKey(),
    hash: integer().notNull(),
    text: text().notNull(),
  },
  (table) => [index('texts_hash').on(table.hash)],
)

/** What one result says, once however often it returns: answers name it by its number. */
export const items = sqliteTable('items', {
  id: integer().primaryKey(),
  /** Of the link and all texts. */
  hash: integer().notNull(),
  /** How long all texts are together. */
  size: integer().notNull(),
  linkId: integer('link_id'),
  title: text(),
  snippet: text(),
  source: text(),
  displayedLink: text('displayed_link'),
  matched: text(),
})

/*
 * Links and items by their hashes: all but the newest, which a process that writes keeps in its memory until they are
 * many, for they are written in order.
 */
const hashColumns = {
  hash: integer().notNull(),
  id: integer().notNull(),
}
export const linkHashes = sqliteTable('link_hashes', hashColumns, (table) => [
  primaryKey({ columns: [table.hash, table.id] }),
])
export const itemHashes = sqliteTable('item_hashes', hashColumns, (table) => [
  primaryKey({ columns: [table.hash, table.id] }),
])

/** Up to which row each of these tables is in the table of its hashes. */
export const hashed = sqliteTable('hashed', {
  name: text().$type<'links' | 'items'>().primaryKey(),
  upTo: integer('up_to').notNull(),
})

export const queries = sqliteTable(
  'queries',
  {
    id: integer().primaryKey(),
    /** Digest of operation, text and params: the same in every run and every job. */
    key: blob({ mode: 'buffer' }).notNull().unique(),
    operation: text().notNull(),
    text: text().notNull(),
    params: text({ mode: 'json' }).$type<Task['params']>().notNull(),
    /** The query that this is another spelling of, from before queries had one spelling; null where it is its own. */
    sameAs: integer('same_as'),
  },
  (table) => [index('queries_text').on(table.text)],
)

export const jobs = sqliteTable('jobs', {
  name: text().primaryKey(),
  file: text().notNull(),
  /** Since when nothing runs it by itself; null where it is not paused. */
  pausedAt: integer('paused_at'),
  /** When its last pause ended: times of its schedule before that are not caught up. */
  resumedAt: integer('resumed_at'),
})

export const runs = sqliteTable(
  'runs_',
  {
    id: integer().primaryKey(),
    job: text().notNull(),
    /** Runs that one command started together. */
    groupId: integer('group_id').notNull(),
    settings: text({ mode: 'json' }).$type<StoredSettings>().notNull(),
    /** Local day, in the job's time zone, on which the run started. */
    date: text().notNull(),
    startedAt: integer('started_at').notNull(),
    finishedAt: integer('finished_at'),
    finishReason: text('finish_reason').$type<FinishReason>(),
    /** Set when a later run took its place: it is never continued. */
    closedAt: integer('closed_at'),
    /** Counts the plans made for this run; queries and tasks of an older plan are no longer asked. */
    planNumber: integer('plan_number').notNull(),
    plannedMin: integer('planned_min').notNull(),
    plannedMax: integer('planned_max').notNull(),
    /** From its start to its end by the monotonic clock; null in rows from before 2026-11-22. */
    durationMs: integer('duration_ms'),
  },
  (table) => [index('runs_job').on(table.job, table.id), index('runs_group').on(table.groupId)],
)

export const runQueries = sqliteTable(
  'run_queries',
  {
    runId: integer('run_id').notNull(),
    queryId: integer('query_id').notNull(),
    /** Results to look at where no page size is documented; null where `pages` says all. */
    depth: integer(),
    /** Pages at most. */
    pages: integer().notNull(),
    pageSize: integer('page_size'),
    /** Searches a month. */
    volume: real(),
    /** The landing page that should rank. */
    url: text(),
    tags: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    labels: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
    /** Numbers of the targets that only this query has, as a JSON list. */
    targets: text({ mode: 'json' }).$type<readonly number[]>().notNull(),
    /** Those of `targets` that the query was planned with; null where it was with all. The others were only looked up later. */
    plannedTargets: text('planned_targets', { mode: 'json' }).$type<readonly number[]>(),
    /** The plan that asked it last; 0 where it is another spelling of a query of the run, whose ranks count. */
    planNumber: integer('plan_number').notNull(),
    /** Why no page follows any more; null while pages may follow. */
    pagingEnd: text('paging_end'),
    /** What kind of end that is. */
    pagingKind: text('paging_kind'),
  },
  (table) => [primaryKey({ columns: [table.runId, table.queryId] })],
)

/** Queries that took over the history of another one of their job when they were asked in its place for the first time. */
export const continuations = sqliteTable(
  'continuations',
  {
    /** The first run that asked the query. */
    runId: integer('run_id').notNull(),
    queryId: integer('query_id').notNull(),
    formerId: integer('former_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.queryId] })],
)

export const tasks = sqliteTable(
  'tasks_',
  {
    /** Never used again, for the ledger names tasks that an edited job has dropped. */
    id: integer().primaryKey({ autoIncrement: true }),
    runId: integer('run_id').notNull(),
    queryId: integer('query_id').notNull(),
    page: integer().notNull(),
    /** pending, leased (also sent: then it has a call without an end), accepted (an asynchronous job), answered (stored, not yet understood), done, failed, skipped (paging ended before it). */
    state: text().$type<TaskState>().notNull(),
    /** Whether the pages before it are settled, so that it may be sent. */
    ready: integer().notNull(),
    priority: integer().notNull(),
    credits: integer().notNull(),
    tries: integer().notNull().default(0),
    /** Raised when its tries in a row were used up: it waits behind all tasks of an earlier round. */
    round: integer().notNull().default(0),
    answerId: integer('answer_id'),
    /** Answered from the store at no cost. */
    reused: integer().notNull().default(0),
    /** Distinct results on the pages before. */
    rankBase: integer('rank_base').notNull().default(0),
    /** Ranks of the results in order, as JSON, where they do not simply count on from `rank_base`. */
    ranks: text(),
    cause: text(),
  },
  (table) => [
    uniqueIndex('tasks_query_page').on(table.runId, table.queryId, table.page),
    // A task changes its state three times on its way: while it is in flight it is in neither of these two.
    index('tasks_next')
      .on(table.runId, table.ready, table.round, sql`${table.priority} desc`, table.id)
      .where(sql`state = 'pending'`),
    index('tasks_state')
      .on(table.runId, table.state)
      .where(
        sql`state = 'accepted' or state = 'answered' or state = 'done' or state = 'failed' or state = 'skipped'`,
      ),
    index('tasks_answer').on(table.answerId).where(sql`answer_id is not null`),
  ],
)

/** Keys at their addresses, each named by a digest that gives nothing away. */
export const keys = sqliteTable('keys', {
  id: integer().primaryKey(),
  hash: text().notNull().unique(),
})

export const calls = sqliteTable(
  'calls_',
  {
    id: integer().primaryKey(),
    runId: integer('run_id'),
    taskId: integer('task_id'),
    operation: text().notNull(),
    sentAt: integer('sent_at').notNull(),
    finishedAt: integer('finished_at'),
    httpStatus: integer('http_status'),
    /** Null while the call is in flight. */
    outcome: text(),
    /** 1 billed, 0 free, null not known. */
    billed: integer(),
    credits: integer().notNull(),
    latencyMs: integer('latency_ms'),
    error: text(),
    /** The key that paid for it; null in rows from before 2026-11-20. */
    keyId: integer('key_id'),
    /** When the end of the asynchronous job became known that this call had submitted. */
    jobEndedAt: integer('job_ended_at'),
  },
  (table) => [
    index('calls_run').on(table.runId),
    index('calls_sent').on(table.sentAt),
    index('calls_open').on(table.id).where(sql`outcome is null`),
  ],
)

/** Asynchronous jobs that the service has accepted and not finished. */
export const asyncJobs = sqliteTable('async_jobs', {
  taskId: integer('task_id').primaryKey(),
  callId: integer('call_id').notNull(),
  jobId: text('job_id').notNull(),
  acceptedAt: integer('accepted_at').notNull(),
})

/** Stands in place of the normaliser's version where an answer was read and says nothing. Answers from before 2026-11-25 have null. */
export const unusableMark = 0

export const answers = sqliteTable(
  'answers_',
  {
    id: integer().primaryKey(),
    queryId: integer('query_id').notNull(),
    page: integer().notNull(),
    runId: integer('run_id').notNull(),
    callId: integer('call_id').notNull(),
    fetchedAt: integer('fetched_at').notNull(),
    /** Version of the normaliser that derived the results, or `unusableMark`; null before they were derived. */
    normaliser: integer(),
    totalResults: integer('total_results'),
    timeTaken: real('time_taken'),
    notice: integer(),
    hasNextPage: integer('has_next_page'),
    nextPage: integer('next_page'),
    searchParameters: integer('search_parameters'),
    knowledgeGraph: integer('knowledge_graph'),
    aiMarkdown: integer('ai_markdown'),
    aiBlocks: integer('ai_blocks'),
    /** Items that were no items, as JSON. */
    malformed: text(),
    /** Parameters that the answer echoes differently than they were sent, as JSON; null where there are none. */
    echoMismatch: text('echo_mismatch'),
    /** When retention dropped its results, texts and body; null while they are stored. */
    prunedAt: integer('pruned_at'),
    /** Positions of its results by kind, as JSON, where they are not 1, 2, 3 and so on: a list, or null where none has one. */
    positions: text(),
    /** Its results in order: numbers of items by kind, as JSON; null where it has none. */
    items: text(),
  },
  (table) => [
    index('answers_query').on(table.queryId, table.page, table.fetchedAt),
    index('answers_mismatched').on(table.id).where(sql`echo_mismatch is not null`),
  ],
)

/** The bodies of answers. Of one that is in a block, `body` is empty. */
export const rawAnswers = sqliteTable('raw_answers', {
  answerId: integer('answer_id').primaryKey(),
  encoding: text().notNull(),
  body: blob({ mode: 'buffer' }).notNull(),
  /** The block that it is in; null where it was compressed by itself. */
  blockId: integer('block_id'),
})

/** Bodies that came together, compressed as one. A block goes when the last of its bodies has gone. */
export const bodyBlocks = sqliteTable('body_blocks', {
  /** Of the first of its answers: the others follow it. */
  id: integer().primaryKey(),
  bodies: integer().notNull(),
  block: blob({ mode: 'buffer' }).notNull(),
})

/** A row per result of an answer: what the lists of answers and the items that they name come to. */
export const results = sqliteView('results', {
  answerId: integer('answer_id').notNull(),
  kind: integer().notNull(),
  /** Place within its kind on the page, from 0. */
  place: integer().notNull(),
  position: integer(),
  linkId: integer('link_id'),
  title: text(),
  snippet: text(),
  source: text(),
  displayedLink: text('displayed_link'),
  matched: text(),
}).existing()

const mediaKey = {
  answerId: integer('answer_id').notNull(),
  kind: integer().notNull(),
  place: integer().notNull(),
}

/** What news and video results have beside the shared columns. */
export const datedDetails = sqliteTable(
  'dated_details',
  {
    ...mediaKey,
    dateId: integer('date_id'),
    publishedAt: integer('published_at'),
    /** How exactly the date says that: second, minute, hour, day, week, month or year. */
    precision: text(),
    channelId: integer('channel_id'),
    durationId: integer('duration_id'),
    durationSeconds: integer('duration_seconds'),
    videoId: text('video_id'),
  },
  (table) => [primaryKey({ columns: [table.answerId, table.kind, table.place] })],
)

export const imageDetails = sqliteTable(
  'image_details',
  {
    ...mediaKey,
    imageLinkId: integer('image_link_id'),
    thumbnailId: integer('thumbnail_id'),
    width: integer(),
    height: integer(),
  },
  (table) => [primaryKey({ columns: [table.answerId, table.kind, table.place] })],
)

export const targets = sqliteTable(
  'targets',
  {
    id: integer().primaryKey(),
    site: text().notNull(),
    match: text().$type<Match>().notNull(),
    /** Other forms of its pages that count, as a JSON list. */
    also: text({ mode: 'json' }).$type<readonly Variant[]>().notNull().default([]),
  },
  (table) => [uniqueIndex('targets_site').on(table.site, table.match, table.also)],
)

export const runTargets = sqliteTable(
  'run_targets',
  {
    runId: integer('run_id').notNull(),
    targetId: integer('target_id').notNull(),
    label: text().notNull(),
    own: integer({ mode: 'boolean' }).notNull(),
    /** 1 for a target of the whole job, 0 for one of single queries. */
    everywhere: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.targetId] })],
)

export const observations = sqliteTable(
  'observations',
  {
    runId: integer('run_id').notNull(),
    queryId: integer('query_id').notNull(),
    targetId: integer('target_id').notNull(),
    observedAt: integer('observed_at').notNull(),
    state: text().$type<ObservationState>().notNull(),
    rank: integer(),
    exactness: text().$type<Exactness>(),
    depth: integer().notNull(),
    linkId: integer('link_id'),
    titleId: integer('title_id'),
    /** Page on which it ranks. */
    page: integer(),
    /** Distinct results, and pages, looked at without a gap from the first page on. */
    unbrokenDepth: integer('unbroken_depth'),
    unbrokenPages: integer('unbroken_pages'),
    /** Where several results are the target's: the rank and the link of each, as JSON. */
    places: text(),
    /** 1 where it rests on an answer that repeats another question than asked. */
    suspect: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.queryId, table.targetId] }),
    index('observations_query').on(table.queryId, table.targetId, table.runId),
  ],
)

/** Finished runs whose observations are added up in `rank_counts_`. */
export const countedRuns = sqliteTable('counted_runs', {
  runId: integer('run_id').primaryKey(),
})

/** How many queries of a run said the same of a target. Valid for runs in `counted_runs` only. */
export const rankCounts = sqliteTable(
  'rank_counts_',
  {
    runId: integer('run_id').notNull(),
    targetId: integer('target_id').notNull(),
    state: text().$type<ObservationState>().notNull(),
    /** 1 where the exactness is `estimated`. */
    estimated: integer().notNull(),
    /** The rank; of `absent`, the depth that was looked at; of `unknown`, 0. */
    place: integer().notNull(),
    queries: integer().notNull(),
    /** Sum of the volumes of those queries that have one. */
    volume: real(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.targetId, table.state, table.estimated, table.place] }),
  ],
)

export const usageReadings = sqliteTable(
  'usage_readings',
  {
    id: integer().primaryKey(),
    runId: integer('run_id'),
    /** Names the key without giving it away. */
    keyHash: text('key_hash').notNull(),
    readAt: integer('read_at').notNull(),
    remaining: integer(),
    totalUsed: integer('total_used'),
    /** The usage record as received, JSON. */
    record: text().notNull(),
    /** When it was asked for; the service may have counted at any time between that and `read_at`. */
    askedAt: integer('asked_at'),
  },
  (table) => [index('usage_key').on(table.keyHash, table.readAt)],
)

/**
 * Tasks whose results can be read, in the order in which they were stored or changed last: triggers keep it.
 * A number is never used again, so that an export finds everything that came after the last number that it read.
 */
export const deliveries = sqliteTable('deliveries', {
  id: integer().primaryKey({ autoIncrement: true }),
  taskId: integer('task_id').notNull().unique(),
})

/** The same for calls: each in the order in which it was sent, or changed last. */
export const callDeliveries = sqliteTable('call_deliveries', {
  id: integer().primaryKey({ autoIncrement: true }),
  callId: integer('call_id').notNull().unique(),
})

/** What the public view `runs` says of a run. */
export const runTotals = sqliteView('runs', {
  run: integer('run_id').notNull(),
  date: text().notNull(),
  finishReason: text('finish_reason').$type<FinishReason>(),
  planned: integer('tasks_planned').notNull(),
  done: integer('tasks_done').notNull(),
  failed: integer('tasks_failed').notNull(),
  spent: integer('credits_spent').notNull(),
  ambiguous: integer('credits_ambiguous').notNull(),
}).existing()

/** This database as a reader of a shared journal, and how far it has read: one row. */
export const journalReader = sqliteTable('journal_reader', {
  id: text().primaryKey(),
  /** Which journal it follows. */
  journal: text(),
  position: text(),
})

/** Runs that stand in the shared journal, with their number here. */
export const sharedRuns = sqliteTable('shared_runs', {
  runId: integer('run_id').primaryKey(),
  id: text().notNull().unique(),
  groupId: text('group_id').notNull(),
  /** The version of its plan that stands here. */
  planVersion: integer('plan_version').notNull(),
})

/** Jobs of the shared journal, which are a name and a key there, with the name that each has here. */
export const sharedJobs = sqliteTable(
  'shared_jobs',
  {
    keyHash: text('key_hash').notNull(),
    job: text().notNull(),
    name: text().notNull(),
    /** Whether this database collects it, or did: it keeps its name. */
    own: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyHash, table.job] }), index('shared_jobs_name').on(table.name)],
)

/** Calls of the shared journal, with their number and that of their answer here. */
export const sharedCalls = sqliteTable(
  'shared_calls',
  {
    id: blob({ mode: 'buffer' }).primaryKey(),
    callId: integer('call_id').notNull(),
    answerId: integer('answer_id'),
  },
  (table) => [index('shared_calls_number').on(table.callId)],
)

/** What was read and is not applied yet, in its order. */
export const syncSteps = sqliteTable('sync_steps', {
  id: integer().primaryKey({ autoIncrement: true }),
  step: text({ mode: 'json' }).$type<SyncStep>().notNull(),
})

/** What was read of the queue lately, and ends of runs that were written into it from here, in their order: a server that fails over may have lost it. */
export const readChanges = sqliteTable(
  'read_changes',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    readAt: integer('read_at').notNull(),
    change: text({ mode: 'json' }).$type<ReadChange>().notNull(),
  },
  (table) => [index('read_changes_at').on(table.readAt)],
)

/** When the server of the queue failed over, as far as that was noticed. */
export const queueFailovers = sqliteTable('queue_failovers', { at: integer().primaryKey() })
