import { normaliserVersion } from '../src/catalog/answers.ts'
import { parseStored } from '../src/collect/answers.ts'
import type { JobQuery } from '../src/model/query.ts'
import type { Run, Task } from '../src/model/run.ts'
import { advanceQuery, pagingRules } from '../src/rank/paging.ts'
import { planQuery } from '../src/run/job-files.ts'
import { compress } from '../src/store/compression.ts'
import { dropOld } from '../src/store/sqlite/maintenance/prune.ts'
import { openStore, type Store } from '../src/store/sqlite/open.ts'
import { aJob, aJobQuery, aTarget } from '../test/run/build.ts'
import { churningSerps, instantOf, type Serps } from './churning-serps.ts'

/** Rank tracking of so many keywords, each day with so many results. */
export interface Year {
  readonly keywords: number
  readonly days: number
  readonly results: number
  /** Bodies of answers are dropped after so many days. */
  readonly keptDays: number
}

const sites = ['acme.example', 'dealorchard.com', 'slowmaker.net']
const settings = aJob({
  name: 'year',
  file: '/year.yaml',
  targets: sites.map((site, place) => aTarget(site, { own: place === 0 })),
})
/** Answers that are stored together, as many calls as a run has in the air. */
const together = 64

/** Collects into a new database, day by day, what a run would: everything but the calls goes through the store. */
export async function yearStore(path: string, year: Year): Promise<void> {
  const serps = churningSerps(sites.slice(0, 1))
  await using store = await openStore(path)
  for (let day = 0; day < year.days; day++) {
    await collect(store, serps, day, year)
    if (day % year.keptDays === 0 || day === year.days - 1) {
      const now = instantOf(day + 1)
      await dropOld(path, { before: now - year.keptDays * 86_400_000, now })
    }
  }
}

async function collect(store: Store, serps: Serps, day: number, year: Year): Promise<void> {
  const run = await planned(store, day, year)
  for (;;) {
    const tasks = await store.lease({
      operations: ['alpha.search'],
      runs: [{ runId: run.id, budget: year.keywords, keep: 0, fresh: null }],
      credits: year.keywords,
      calls: together,
      limit: together,
      shared: false,
    })
    if (tasks.length === 0) break
    await Promise.all(tasks.map((task) => answer(store, run, task, serps(task.text, day, year.results))))
  }
  await store.finishRun(run.id, 'completed', run.startedAt + 600_000)
}

async function planned(store: Store, day: number, { keywords, results }: Year): Promise<Run> {
  const startedAt = instantOf(day)
  const date = new Date(startedAt).toISOString().slice(0, 10)
  await using draft = await store.draft()
  const queries = Array.from({ length: keywords }, (_, keyword) => planQuery(queryOf(keyword, results)))
  await draft.add(settings.name, queries)
  const [run] = await draft.commit([{ settings, date, continues: null, fresh: null }], startedAt)
  return run as Run
}

const kinds = ['best', 'cheap', 'used', 'small', 'white', 'black', 'oak', 'large', 'modern', 'folding']
const things = ['standing desk', 'desk lamp', 'office chair', 'bookshelf', 'filing cabinet']
const endings = ['', ' for home', ' review', ' near me', ' price', ' ideas', ' with drawers', ' sale']

function queryOf(keyword: number, results: number): JobQuery {
  const of = (list: readonly string[], step: number) => list[Math.floor(keyword / step) % list.length]
  const round = Math.floor(keyword / (kinds.length * things.length * endings.length))
  const words = `${of(kinds, 1)} ${of(things, kinds.length)}${of(endings, kinds.length * things.length)}`
  return aJobQuery({
    text: round === 0 ? words : `${words} ${round}`,
    params: { gl: 'us', hl: 'en', num: results },
    pages: 1,
    volume: 10 * (1 + (keyword % 90)),
  })
}

async function answer(store: Store, run: Run, task: Task, text: string): Promise<void> {
  const { id: taskId, runId, queryId, operation, credits } = task
  const sentAt = run.startedAt + taskId
  const fetchedAt = sentAt + 800
  const body = Buffer.from(text)
  const callId = await store.beginCall({ runId, taskId, operation, credits, sentAt, keyHash: 'bench' })
  const settlement = {
    outcome: 'answered',
    httpStatus: 200,
    billed: 1,
    finishedAt: fetchedAt,
    latencyMs: 800,
    error: null,
  } as const
  const kept = { callId, task, settlement, fetchedAt, ...(await compress(body)) }
  const answerId = await store.saveAnswer(kept)
  const says = parseStored(task, body, fetchedAt)
  if ('reason' in says) throw new Error(says.reason)
  await store.recordAnswer({
    taskId,
    runId,
    queryId,
    outcome: { done: { answerId, normaliser: normaliserVersion, says } },
    follow: (query) => advanceQuery(query, task.page, says, pagingRules(run)),
  })
}
