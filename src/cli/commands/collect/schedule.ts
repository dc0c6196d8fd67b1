import { realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { accountStop } from '../../../collect/account.ts'
import { UsageUnavailable } from '../../../collect/stop.ts'
import { quotaUsage } from '../../../ledger/budget.ts'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import { exitCodes, isStoppedFromOutside, type StopCause } from '../../../model/run.ts'
import { count } from '../../../model/text.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import {
  choice,
  numberOption,
  type OptionSpec,
  type OptionSpecs,
  propertyOf,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { type LogFields, note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { clocks, connections, outgoing } from '../../../run/app.ts'
import {
  databaseFile,
  dotEnvFile,
  metricsFile,
  notifySettings,
  serviceSettings,
  settingsOfShell,
  version,
} from '../../../run/config.ts'
import { storedData } from '../../../run/open-stored.ts'
import { accountOf } from '../../../run/plan-jobs.ts'
import { localTime } from '../../../schedule/slots.ts'
import { skippedJobs } from '../../../unattended/alerts/judge-runs.ts'
import { sendWithoutRun } from '../../../unattended/messages/digest.ts'
import {
  type LastValidJob,
  type ListedSlot,
  scheduledFiles,
} from '../../../unattended/scheduler/job-files.ts'
import { withRetention } from '../../../unattended/scheduler/retention.ts'
import {
  type CheckResult,
  type CollectDue,
  runScheduler,
  type ScheduledJobState,
} from '../../../unattended/scheduler/scheduler.ts'
import { supervision } from '../../../unattended/scheduler/supervision.ts'
import { dayArguments } from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'
import { collecting, jobArguments } from './collect-runs.ts'
import { jobStarts, type PrintedMistakes } from './run.ts'

const flags = {
  ...sharedFlags.service,
  ...sharedFlags.clock,
  ...sharedFlags.collect,
  ...sharedFlags.confirm,
  health: textOption('Port on 127.0.0.1 that answers GET /health; 0 takes a free one'),
  ...sharedFlags.log,
  ...sharedFlags.queue,
  ...sharedFlags.lease,
  print: textOption('Print what starts it with the system: systemd, crontab, launchd or windows'),
  list: switchOption('Show when each job runs next, and do nothing else'),
  from: textOption('With --list: first day or instant (ISO 8601, UTC); default: now'),
  until: textOption('With --list: day or instant before which they run; default: the next five of each job'),
} satisfies OptionSpecs

type ScheduleFlags = TypedOptions<typeof flags> & {
  readonly job?: readonly string[] | undefined
}

/** Where a folder has no job to schedule. */
const noJob =
  'No YAML file of this folder says when its job runs. Write schedule: "0 6 * * *" into one, or name job files'

export const scheduleCommand = {
  flags,
  exits: [0, 1, 2, 5, 6, 7, 130],
  docs: 'docs/schedule.md',
  examples: [
    ['schedule', 'every job of this folder, until it is stopped'],
    ['schedule --list', 'when each job of this folder runs next'],
    ['schedule --print systemd', 'a unit for this folder; redirect it into /etc/systemd/system/'],
  ],
  run: schedule,
} satisfies Command

/** `rankline schedule`: runs each job at its time, until it is stopped. */
export async function schedule(given: ScheduleFlags, terminal: Terminal): Promise<number> {
  const flags =
    given.job === undefined ? given : { ...given, job: await jobArguments.meant(given.job, terminal) }
  if (flags.list !== true && (flags.from !== undefined || flags.until !== undefined))
    throw new UsageError('--from and --until have no meaning without --list')
  if (flags.print !== undefined && flags.list === true)
    throw new UsageError('--print and --list do not go together. Leave one of them out')
  if (flags.print !== undefined) return await printServiceFile(flags, flags.print, terminal)
  if (flags.list === true) return await listSchedule(flags, terminal)
  return await stayUp(flags, terminal)
}

/** Slots of each job that are shown where no end is named. */
const shownSlots = 5

/** `rankline schedule --list`: when jobs run, from their files alone; exit code 2 where some have mistakes. */
async function listSchedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
  const from = instant('--from', flags.from) ?? systemClock.wall()
  const until = instant('--until', flags.until) ?? Number.POSITIVE_INFINITY
  if (until <= from)
    throw new UsageError('--until must be later than --from, which is now where it is not given')
  const places = { named: flags.job ?? [], folder: '.' }
  const read = await scheduledFiles.jobs(places, terminal.log)
  const jobs = read.filter((job) => job !== null)
  if (read.length === 0) throw new UsageError(noJob)
  const range = { from, until, most: Number.isFinite(until) ? Number.POSITIVE_INFINITY : shownSlots }
  if (jobs.length === 0 && flags.json !== true) return 2
  const slots = scheduledFiles.listSlots(jobs, range)
  if (flags.json === true) await writeJson(slots, terminal)
  else await terminal.write(table([...slots], terminal))
  return jobs.length === read.length ? 0 : 2
}

/** Epoch ms; a day begins in UTC. */
function instant(flag: string, text: string | undefined): number | undefined {
  const valid = dayArguments.dayOrInstant(flag, text)
  return valid === undefined ? undefined : Date.parse(valid)
}

const slotsOfAPiece = 1000

/** A year of every minute is half a million slots. */
async function writeJson(slots: Iterable<ListedSlot>, terminal: Terminal): Promise<void> {
  let piece: string[] = []
  let separator = '['
  for (const slot of slots) {
    piece.push(`${separator}\n  ${JSON.stringify(slot)}`)
    separator = ','
    if (piece.length < slotsOfAPiece) continue
    await terminal.write(piece.join(''))
    piece = []
  }
  await terminal.write(`${piece.join('')}${separator === '[' ? '[' : '\n'}]\n`)
}

function table(slots: readonly ListedSlot[], { columns }: Terminal): string {
  if (slots.length === 0) return 'No job runs in that time.\n'
  return formatTable(
    [{ title: 'job', shrinks: true }, { title: 'local time' }, { title: 'zone' }, { title: 'UTC' }],
    slots.map(({ job, local, zone, at }) => [
      sanitize(job),
      local.slice(0, 16).replace('T', ' '),
      zone,
      at.slice(0, 16).replace('T', ' '),
    ]),
    columns,
  )
}

/** `rankline schedule --print`: what the system's own scheduler reads as it is. */
async function printServiceFile(flags: ScheduleFlags, system: string, terminal: Terminal): Promise<number> {
  const read = choice(Object.keys(supervision.serviceFiles) as (keyof typeof supervision.serviceFiles)[])(
    system,
  )
  if (!('value' in read)) throw new UsageError(`--print ${read.message}; ${read.fix}`)
  const plan = servicePlan(flags)
  for (const path of [plan.folder, ...plan.args])
    if (/[\r\n]/.test(path))
      throw new UsageError(`The name '${path}' holds a line break, which no scheduler can read. Rename it`)
  const missing = settingsOfShell()
  if (missing.length > 0)
    note(
      terminal,
      `Set in this shell only: ${missing.join(', ')}. Write ${missing.length === 1 ? 'it' : 'them'} into .env as well: what the system starts does not have your shell's variables.`,
    )
  await terminal.write(supervision.serviceFiles[read.value](plan))
  return 0
}

/** What the system is to start: this program, in this folder, with these jobs and flags. */
function servicePlan(flags: ScheduleFlags) {
  const folder = process.cwd()
  const files = [databaseFile.setting(flags).path, metricsFile(flags.metricsFile)?.path ?? []].flat()
  const isOutside = (path: string): boolean => relative(folder, path).startsWith('..')
  return {
    node: process.execPath,
    program: realpathSync(process.argv[1] ?? ''),
    folder,
    writes: files.map((file) => dirname(resolve(file))).filter(isOutside),
    args: passedOn(flags),
    upArgs: flags.health === undefined ? [] : [`--health=${flags.health}`],
    user: userName(),
    commentInEnv: supervision.commentedValue(dotEnvFile.text() ?? ''),
  }
}

/** What the system starts needs the flags that were typed, too. */
function passedOn(flags: ScheduleFlags): readonly string[] {
  const passed: Readonly<Record<string, OptionSpec>> = {
    db: sharedFlags.global.db,
    ...sharedFlags.service,
    ...sharedFlags.collect,
    ...sharedFlags.confirm,
    ...sharedFlags.log,
  }
  const typed = Object.keys(passed).flatMap((name) => {
    const value = (flags as Readonly<Record<string, unknown>>)[propertyOf(name)]
    if (value === undefined || value === false) return []
    return [value === true ? `--${name}` : `--${name}=${value}`]
  })
  return [...(flags.job ?? []), ...typed]
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return null
  }
}

/** Nothing ran: no job, or one that was named has mistakes. */
const nothingRan = 2

const allMistaken = 'No job of this folder can be scheduled before these mistakes are mended'

/** `rankline schedule`: stays up and runs each job at its time; SIGTERM is its usual end. */
async function stayUp(flags: ScheduleFlags, given: Terminal): Promise<number> {
  const terminal = lineByLine(given)
  const { log } = terminal
  // What cannot work is refused now, not at three in the morning.
  collecting.readFlags(flags)
  serviceSettings(flags)
  const { path: database, isNamed } = databaseFile.setting(flags)
  const { refuseFolder } = await import('../../../store/sqlite/connection/database.ts')
  if (isNamed) refuseFolder(database)
  const port = numberOption('--health', flags.health, { max: 65_535 })
  const named = flags.job ?? []
  let hasMistakes = false
  const printed = jobStarts.printedMistakes(null)
  const jobFiles = scheduledFiles.watch({ named, folder: '.' }, (line, about) => {
    if (about?.level === 'error') hasMistakes = true
    printed.isNew(line)
    log(line, about)
  })
  const forms = await jobFiles.refresh()
  if (forms.length === 0 && named.length > 0) return nothingRan
  if (forms.length === 0) throw new UsageError(hasMistakes ? allMistaken : noJob)
  let jobs: readonly ScheduledJobState[] = []
  const upSince = systemClock.wall()
  using interrupts = listenForInterrupts(terminal)
  using manager = supervision.serviceManager(notifySettings(), log)
  await using health =
    port === undefined
      ? null
      : await supervision.serveHealth(port, () => supervision.healthDocument(jobs, { version, upSince }))
  const names = forms.map(({ settings }) => sanitize(settings.name))
  const where = health === null ? '' : ` Health: ${health.url}`
  log(`Up with ${count(names.length, 'job')}: ${names.join(', ')}.${where}`, { level: 'info' })
  manager.up('Looking at what is due')
  const { signal } = interrupts.stop
  signal.addEventListener('abort', manager.stopping, { once: true })
  const gate = clocks.gate({
    ask: async () => await clocks.serviceAhead(flags, signal),
    clock: systemClock,
    options: flags,
    log: (line) => log(line, { level: 'error' }),
  })
  const around = {
    database: databaseFile.path(flags),
    clock: systemClock,
    log,
    isConfirmed: gate.isConfirmed,
  }
  const byNow = () => {
    dotEnvFile.forget()
    return outgoing(flags.allowHttp === true)
  }
  const sendMessages = sendWithoutRun({ ...around, outgoing: byNow })
  const tellLeftOut = skippedJobs.teller(jobFiles.leftOut, { ...around, outgoing: byNow })
  let shown = ''
  await runScheduler({
    clock: systemClock,
    jobFiles,
    mayWork: gate.mayWork,
    collect: withRetention(dueCollector(flags, terminal, systemClock, printed), around),
    askService: serviceAsker(flags, systemClock),
    onWake: async (known) => {
      await tellLeftOut()
      await sendMessages(known.map(({ settings }) => settings))
    },
    log,
    stop: signal,
    onChecked: (states) => {
      jobs = states
      const next = nextText(states)
      if (next !== shown && next !== '') log(next, { level: 'info' })
      shown = next
      if (!signal.aborted) manager.up(next)
    },
  })
  log('Stopped.', { level: 'info' })
  const code = interrupts.exitCode()
  return code === exitCodes.interrupted ? code : 0
}

function nextText(states: readonly ScheduledJobState[]): string {
  const [first] = states
    .flatMap(({ next, ...state }) => (next === null ? [] : [{ ...state, next }]))
    .sort((a, b) => a.next - b.next)
  if (first === undefined) return ''
  const { job, next, zone } = first
  return `Next: ${sanitize(job)} at ${localTime(next, zone).slice(0, 16).replace('T', ' ')} (${zone})`
}

/** A terminal all of whose text is a log: one line for each event, with its time. */
function lineByLine(terminal: Terminal, clock: Pick<Clock, 'wall'> = systemClock): Terminal {
  const { event, quiet = false } = terminal
  const log = (line: string, about: LogFields = {}): void => {
    if (quiet && about.level === 'info') return
    const time = new Date(clock.wall()).toISOString().replace(/\.\d+Z$/, 'Z')
    // A log for programs has the time beside each line.
    terminal.log(event === undefined ? `${time} ${line}` : line, about)
  }
  const write: Terminal['write'] = async (data) => {
    // Programs are told of it as events.
    if (event !== undefined) return
    for (const line of String(data).split('\n')) if (line.trim() !== '') log(line)
  }
  return { ...terminal, log, write, status: null, ask: null, columns: Number.POSITIVE_INFINITY }
}

/**
 * Collects what is due of a scheduler's jobs, as `rankline run --due` does; never waits for another process.
 *
 * @param printed mistakes that were logged as the files were read
 */
export function dueCollector(
  flags: ScheduleFlags,
  terminal: Terminal,
  clock: Clock,
  printed: PrintedMistakes = jobStarts.printedMistakes(null),
): CollectDue {
  const reported = new Set<string>()
  const reportedPings = new Set<string>()
  return async (jobs, stop, isTrial) => {
    dotEnvFile.forget()
    const request = {
      ...flags,
      json: false,
      job: jobs.map(({ path }) => path),
      texts: textsOf(jobs),
      skipBad: true,
    }
    const scheduler = { stop, reported, reportedPings, isTrial, exitCode: () => exitCodes.interrupted }
    const starts = jobStarts.of(request.job, terminal)
    const work = jobStarts.runDue(request, starts, { printed, clock, scheduler })
    await jobStarts.reportNotStarted(work, starts, request, clock)
    return await checkResults(flags, jobs, stop.cause())
  }
}

/** Asks for the usage record, which is free, whether the service takes calls with the key, and balance and quotas cover one. */
export function serviceAsker(flags: ScheduleFlags, clock: Clock): () => Promise<boolean> {
  return async () => {
    dotEnvFile.forget()
    try {
      await using app = await connections.freely(flags, { stored: 'not-read' }, clock)
      const account = await accountOf(app)
      if (account instanceof UsageUnavailable || accountStop(account, account.at) !== null) return false
      const quotas = await quotaUsage(app.store, app.keyHash, account, clock.wall())
      return (account.remaining ?? 0) > 0 && quotas.left > 0
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      return false
    }
  }
}

/** What broken files said when they last had no mistakes. */
function textsOf(jobs: readonly LastValidJob[]): ReadonlyMap<string, Buffer> {
  return new Map(jobs.flatMap(({ path, text, isBroken }) => (isBroken ? [[path, text] as const] : [])))
}

async function checkResults(
  flags: ScheduleFlags,
  jobs: readonly LastValidJob[],
  cause: StopCause | null,
): Promise<ReadonlyMap<string, CheckResult>> {
  await using store = await storedData.read(flags, 'may be missing')
  const results = new Map<string, CheckResult>()
  for (const { settings } of jobs) {
    const run = await store.latestRun(settings.name)
    const { id = null, finishReason = null, finishedAt = null } = run ?? {}
    const retry = !isStoppedFromOutside(finishReason) ? null : cause?.source === 'answers' ? 'paid' : 'free'
    results.set(settings.name, { run: id, finishReason, finishedAt, retry })
  }
  return results
}
