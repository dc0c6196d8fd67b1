import { resolve } from 'node:path'
import { type KnownJob, knownJobs } from '../../../check/status.ts'
import { UsageError } from '../../../model/errors.ts'
import { noFile, removedJob } from '../../../model/job.ts'
import { closestMatch, count, grouped, shellWord, size } from '../../../model/text.ts'
import { systemClock, utcMinute } from '../../../model/time.ts'
import { jobName, type OptionSpecs, propertyOf, switchOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { searchJob } from '../../../run/job-files.ts'
import { turns } from '../../../run/lock.ts'
import { storedData } from '../../../run/open-stored.ts'
import { needsMigration } from '../../../store/sqlite/connection/database.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { sweep } from '../../../store/sqlite/maintenance/prune.ts'
import { countJob, removeJob } from '../../../store/sqlite/maintenance/remove-job.ts'
import { openStore, type Store } from '../../../store/sqlite/open.ts'
import { metrics } from '../../../unattended/after-run.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'

const works = { list, rename, pause, resume, remove }

const flags = {
  'dry-run': switchOption('remove: show what would go and what would stay'),
  yes: switchOption('remove: ask nothing'),
  'metrics-file': sharedFlags.collect['metrics-file'],
  ...sharedFlags.wait,
} satisfies OptionSpecs

export type JobCommandFlags = TypedOptions<typeof flags> & {
  readonly what: string
  readonly name?: string
  readonly to?: string
}

export const jobCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 6, 7, 130],
  docs: 'docs/forty-clients.md',
  examples: [
    ['job list', 'every job, with its file, its runs and its pause'],
    ['job rename acme globex', 'the history goes on under the new name'],
    ['job pause acme', 'run --due and schedule leave it out'],
    ['job remove acme --dry-run', 'what would go, and what would stay'],
  ],
  run: job,
} satisfies Command

/** `rankline job`: the life of a client in commands. */
export async function job(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork('job', works, flags.what)
  const most = { list: 0, pause: 1, resume: 1, remove: 1, rename: 2 }[what]
  const stray = most === 0 ? flags.name : most === 1 ? flags.to : undefined
  if (stray !== undefined) throw new UsageError(`rankline job ${what} takes no '${stray}'. Leave it out`)
  for (const flag of ['dry-run', 'yes'] as const)
    if (what !== 'remove' && flags[propertyOf(flag)] !== undefined)
      throw new UsageError(`rankline job ${what} takes no --${flag}. It belongs to: rankline job remove`)
  return await works[what](flags, terminal)
}

/** `rankline job list`: every job, by name. */
async function list(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  await using store = await storedData.read(flags)
  const rows = []
  for (const { name, file, settings } of (await knownJobs(store, '.')).jobs) {
    const runs = await store.runs({ job: name })
    const at = (instant: number | null | undefined) =>
      instant == null ? null : new Date(instant).toISOString()
    rows.push({
      job: name,
      file: file.path,
      file_state: file.state,
      schedule: settings?.schedule ?? null,
      every: settings?.every ?? null,
      runs: runs.length,
      first_run_at: at(runs.at(-1)?.startedAt),
      last_run_at: at(runs[0]?.startedAt),
      paused_at: at((await store.pauseOf(name)).pausedAt),
    })
  }
  if (flags.json === true) await terminal.write(`${JSON.stringify(rows, null, 2)}\n`)
  else if (rows.length === 0)
    terminal.log('There is no job yet: no job file in this folder, and none that ran.')
  else await terminal.write(formatTable(columns, rows.map(cells), terminal.columns))
  return 0
}

const columns = [
  { title: 'job', shrinks: true, least: 12 },
  { title: 'state' },
  { title: 'runs', align: 'right' },
  { title: 'first run (UTC)', dropped: true },
  { title: 'last run (UTC)' },
  { title: 'file', shrinks: true },
] as const

const states = {
  sound: 'by hand',
  broken: 'file broken',
  waiting: 'file waits',
  missing: 'file gone',
} as const

function cells(row: {
  readonly job: string
  readonly file: string | null
  readonly file_state: KnownJob['file']['state']
  readonly schedule: string | null
  readonly every: string | null
  readonly runs: number
  readonly first_run_at: string | null
  readonly last_run_at: string | null
  readonly paused_at: string | null
}): readonly string[] {
  const minute = (at: string | null) => (at === null ? '-' : utcMinute(Date.parse(at)))
  const isTimed = row.file_state === 'sound' && (row.schedule ?? row.every) !== null
  return [
    sanitize(row.job),
    row.paused_at !== null ? 'paused' : isTimed ? 'scheduled' : states[row.file_state],
    grouped(row.runs),
    minute(row.first_run_at),
    minute(row.last_run_at),
    sanitize(row.file ?? '-'),
  ]
}

/** `rankline job rename`: the history goes on under another name. */
async function rename(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  if (flags.name === undefined || flags.to === undefined)
    throw new UsageError('Name the job and its new name: rankline job rename acme globex')
  const read = jobName(flags.to)
  if ('message' in read) throw new UsageError(`The new name ${read.message}; ${read.fix}`)
  const to = read.value
  const metricsFile = metrics.file(flags.metricsFile)
  const { name, file, all, isStored } = await seenJob(flags)
  if (!isStored)
    throw new UsageError(
      `${name} has not run, so nothing has its name yet. Write 'name: ${to}' into its file`,
    )
  if (to === searchJob || to === removedJob)
    throw new UsageError(`No job can have the name '${to}'. Choose another`)
  await using changed = await openJobs(flags, terminal)
  const { store } = changed
  if (await isKnown(store, to))
    throw new UsageError(
      to === name
        ? `The job has the name '${to}' already`
        : `There is a job '${to}' already, with a history of its own. Choose another name`,
    )
  const successor = all.find((one) => one.name === to)?.file.path ?? null
  await store.renameJob(name, to, successor === null ? null : resolve(successor))
  await metrics.write({ app: { store, clock: systemClock }, metricsFile })
  const path = file.state === 'missing' ? null : file.path
  const next =
    successor !== null
      ? `${successor} goes on with it.`
      : path !== null
        ? `Write 'name: ${to}' into ${path}, or its next run begins a new history as ${name}.`
        : `A job file with 'name: ${to}' goes on with it.`
  return await say(flags, terminal, {
    document: { job: to, was: name, file: successor ?? path },
    text: `${name} is ${to} now: its runs, ranks, alerts and budgets have that name. ${next}`,
  })
}

/** `rankline job pause`: nothing runs the job by itself until it is resumed. */
async function pause(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  const { name, file } = await seenJob(flags)
  await using changed = await openJobs(flags, terminal, 'a run may go on')
  const { store } = changed
  const { pausedAt } = await store.pauseOf(name)
  const now = systemClock.wall()
  if (pausedAt === null)
    await store.pauseJob({ name, file: file.path === null ? noFile : resolve(file.path) }, now)
  return await say(flags, terminal, {
    document: { job: name, paused_at: new Date(pausedAt ?? now).toISOString() },
    text: `${name} is paused${pausedAt === null ? '' : ` already, since ${utcMinute(pausedAt)} UTC`}: run --due and schedule leave it out, and its file stays as it is. Resume it with: rankline job resume ${shellWord(name)}`,
  })
}

/** `rankline job resume`: what passed meanwhile is not caught up. */
async function resume(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  const { name, pausedAt } = await seenJob(flags)
  if (pausedAt !== null) {
    await using changed = await openJobs(flags, terminal, 'a run may go on')
    await changed.store.resumeJob(name, systemClock.wall())
  }
  return await say(flags, terminal, {
    document: { job: name, paused_at: null },
    text:
      pausedAt === null
        ? `${name} is not paused.`
        : `${name} runs again at its next time; times that passed since ${utcMinute(pausedAt)} UTC are not caught up.`,
  })
}

/** `rankline job remove`: what is stored of a client goes; calls and credits stay in the ledger. */
async function remove(flags: JobCommandFlags, terminal: Terminal): Promise<number> {
  const database = databaseFile.path(flags)
  const metricsFile = metrics.file(flags.metricsFile)
  const { name, file, isStored } = await seenJob(flags)
  if (!isStored)
    throw new UsageError(`Nothing is stored of ${name}: it has not run. Delete its file, and it is gone`)
  if (needsMigration(database))
    throw new UsageError(
      `${database} belongs to an older rankline. Bring it up to date first: rankline db migrate`,
    )
  const isDry = flags.dryRun === true
  const going = await countJob(database, name)
  const what = goesText(`What goes of ${name}`, going)
  if (isDry)
    return await say(flags, terminal, {
      document: documentOf(name, going, isDry),
      text: `${what}\nNothing was removed.`,
    })
  if (flags.yes !== true && !(await isAgreed(name, what, terminal))) return 130
  using turn = turns.wait([databaseLock(database)], flags.wait, (line) => note(terminal, line))
  await turn.acquire()
  const removed = await removeJob(database, name, systemClock.wall())
  await sweep(database)
  if (metricsFile !== null) {
    await using store = await openStore(database)
    await metrics.write({ app: { store, clock: systemClock }, metricsFile })
  }
  const left =
    file.path === null || file.state === 'missing'
      ? ''
      : `\n${file.path} is still there: its next run begins anew. Delete it, too, if the client has left.`
  return await say(flags, terminal, {
    document: documentOf(name, removed, isDry),
    text: `${name} is removed. ${goesText('What went', removed)}${left}\nBackups and exports keep what they have, and the file itself has traces of it until it is written anew: rankline db prune --vacuum`,
  })
}

async function isAgreed(name: string, what: string, { ask, log }: Terminal): Promise<boolean> {
  if (ask == null)
    throw new UsageError(
      `Nothing was removed of ${name}. Look at what would go with --dry-run, and agree to it with --yes`,
    )
  log(sanitize(what))
  if (await ask(`Remove ${sanitize(name)} for good?`)) return true
  log('Nothing was removed.')
  return false
}

function documentOf(job: string, counts: Awaited<ReturnType<typeof countJob>>, isDry: boolean): object {
  const { sharedAnswers, calls, credits, ...removed } = counts
  return { job, dry_run: isDry, removed, kept: { calls, credits, shared_answers: sharedAnswers } }
}

function goesText(title: string, counts: Awaited<ReturnType<typeof countJob>>): string {
  const { runs, queries, observations, answers, bytes, alerts, messages, slots } = counts
  const goes = [
    `settings, ranks and results of ${count(runs, 'run')}`,
    count(observations, 'observation'),
    `${count(queries, 'query', 'queries')} that no other job asks`,
    `${count(answers, 'answer')} (${size(bytes)})`,
    count(alerts, 'alert'),
    count(messages, 'message'),
    `${count(slots, 'time')} of its schedule`,
  ]
  const shared =
    counts.sharedAnswers === 0 ? '' : `, and ${count(counts.sharedAnswers, 'answer')} that other jobs use`
  return `${title}: ${goes.join(', ')}.\nWhat stays: ${count(counts.calls, 'call')} with ${count(counts.credits, 'credit')}, as ${removedJob} in the ledger${shared}.`
}

async function say(
  flags: JobCommandFlags,
  terminal: Terminal,
  { document, text }: { readonly document: object; readonly text: string },
): Promise<number> {
  const said =
    flags.json === true ? JSON.stringify(document, null, 2) : text.split('\n').map(sanitize).join('\n')
  await terminal.write(`${said}\n`)
  return 0
}

/** The job that was named, as it is before anything is changed, and all jobs. */
async function seenJob(flags: JobCommandFlags) {
  if (flags.name === undefined) throw new UsageError(`Name the job: rankline job ${flags.what} acme`)
  await using store = await storedData.read(flags)
  const { jobs } = await knownJobs(store, '.')
  const found = chosenJob(jobs, flags.name)
  const { pausedAt } = await store.pauseOf(found.name)
  return { ...found, pausedAt, isStored: await isKnown(store, found.name), all: jobs }
}

/** The job of that name, or of that file. */
function chosenJob(jobs: readonly KnownJob[], typed: string): KnownJob {
  const path = resolve(typed)
  const isFile = ({ file }: KnownJob) => file.path !== null && resolve(file.path) === path
  const found = jobs.find(({ name }) => name === typed) ?? jobs.find(isFile)
  if (found !== undefined) return found
  const near = closestMatch(
    typed,
    jobs.map(({ name }) => name),
  )
  throw new UsageError(
    `There is no job '${typed}'. ${near === null ? 'List them with: rankline job list' : `Did you mean ${near}?`}`,
  )
}

async function isKnown(store: Store, name: string): Promise<boolean> {
  return (await store.jobFile(name)) !== null || (await store.runs({ job: name, limit: 1 })).length > 0
}

/** Opens the database to change what it says of jobs; where a run may go on meanwhile, others are waited for only to migrate it. */
async function openJobs(flags: JobCommandFlags, terminal: Terminal, meanwhile?: 'a run may go on') {
  const database = databaseFile.path(flags)
  databaseFile.makeDefaultFolder(database)
  return await storedData.change(database, {
    wait: flags.wait,
    beside: meanwhile !== undefined,
    log: (line) => note(terminal, line),
  })
}
