import { billableOperation } from '../catalog/index.ts'
import type { SettingFlags } from '../config.ts'
import type { JobSettings } from '../model/job.ts'
import type { Target } from '../model/target.ts'
import { formatTable } from '../report/table.ts'
import { type Backtest, backtest, type Day, type PolicyOutcome } from '../run/backtest.ts'
import type { StoredQuery } from '../store/answers.ts'
import type { AskedQuery } from '../store/history.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count, grouped } from '../words.ts'
import { type JobFileFlags, openJobs } from './job-files.ts'
import { openWhatIsStored } from './stored.ts'

export interface BacktestFlags extends JobFileFlags, SettingFlags {
  readonly json?: boolean
}

/** `rankline plan --backtest`: what each paging policy would have cost and missed over what is stored. Calls nothing. */
export async function backtestJobs(flags: BacktestFlags, terminal: Terminal): Promise<number> {
  const jobs = await openJobs(flags, terminal)
  if (jobs === null) return 2
  await using store = await openWhatIsStored(flags)
  const documents = jobs.map((settings) => ({
    job: settings.name,
    used: settings.paging,
    ...backtest(histories(store, settings), settings),
  }))
  if (flags.json === true) {
    const shown = documents.map(documentOf)
    await terminal.out(`${JSON.stringify(shown.length === 1 ? shown[0] : shown, null, 2)}\n`)
  } else for (const one of documents) await terminal.out(described(one, terminal.columns))
  return 0
}

/** Days of one query after the other, watched for the targets that the job names now. */
function* histories(store: Store, settings: JobSettings): Generator<readonly Day[]> {
  const named = settings.targets.map((target, index) => ({ ...target, id: -1 - index }))
  let days: Day[] = []
  let queryId: number | null = null
  for (const asked of store.askedQueries(settings.name)) {
    if (queryId !== null && asked.queryId !== queryId) {
      yield days
      days = []
    }
    queryId = asked.queryId
    days.push(dayOf(store, asked, named))
  }
  if (days.length > 0) yield days
}

/** @param named have the same numbers on all days, also on those that were not watched for them */
function dayOf(
  store: Store,
  { runId, queryId, startedAt, operation }: AskedQuery,
  named: StoredQuery['targets'],
): Day {
  const query = store.storedQuery(runId, queryId)
  const known = new Set(named.map(keyOf))
  const others = query.targets.filter((target) => !known.has(keyOf(target)))
  return {
    startedAt,
    credits: billableOperation(operation).cost,
    query: { ...query, targets: [...named, ...others] },
  }
}

function keyOf({ site, match, also }: Target): string {
  return JSON.stringify([site, match, also])
}

type Backtested = Backtest & { readonly job: string; readonly used: string }

/** What `plan --backtest --json` prints for a job. */
function documentOf({ job, used, looks, leftOut, outcomes }: Backtested) {
  return {
    job,
    paging: used,
    looks,
    left_out: leftOut,
    policies: outcomes.map(({ topChanges, topChangesMissed, ...outcome }) => ({
      ...outcome,
      top_changes: topChanges,
      top_changes_missed: topChangesMissed,
    })),
  }
}

function described({ job, used, looks, leftOut, outcomes }: Backtested, width: number): string {
  if (looks === 0)
    return `${job}: nothing to replay. ${leftOut === 0 ? 'It has not run yet' : 'Of no query is every page stored; collect some days with paging: all'}.\n`
  const all = outcomes.find(({ policy }) => policy === 'all')?.credits ?? 0
  const table = formatTable(
    [
      { title: 'paging' },
      { title: 'pages', align: 'right' },
      { title: 'credits', align: 'right' },
      { title: 'of all', align: 'right' },
      { title: 'ranked', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: 'estimated', align: 'right' },
      { title: 'wrong', align: 'right' },
      { title: 'top 10 changes missed', align: 'right' },
    ],
    outcomes.map((one) => cells(one, used, all)),
    width,
  )
  const rest = leftOut === 0 ? '' : ` ${count(leftOut, 'look')} left out: not every page of them is stored.`
  return `${job}: ${count(looks, 'look')} replayed.${rest} *: as the job file says.\n\n${table}\n`
}

function cells(one: PolicyOutcome, used: string, all: number): readonly string[] {
  return [
    `${one.policy}${one.policy === used ? ' *' : ''}`,
    grouped(one.pages),
    grouped(one.credits),
    all === 0 ? '' : `${((one.credits / all) * 100).toFixed(1)} %`,
    grouped(one.ranked),
    grouped(one.missed),
    grouped(one.estimated),
    grouped(one.wrong),
    `${grouped(one.topChangesMissed)} of ${grouped(one.topChanges)}`,
  ]
}
