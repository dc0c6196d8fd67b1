import { UsageError } from '../../../model/errors.ts'
import { exitCodes } from '../../../model/run.ts'
import { count } from '../../../model/text.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import { numberFlag } from '../../../model/values.ts'
import { type LogFields, sanitize, type Terminal } from '../../../output/terminal.ts'
import { serviceAhead } from '../../../run/app.ts'
import { clockGate } from '../../../run/clock-check.ts'
import {
  databasePath,
  databaseSetting,
  forgetEnvFile,
  notifySettings,
  serviceSettings,
  version,
} from '../../../run/config.ts'
import { outgoing } from '../../../run/outgoing.ts'
import { localTime } from '../../../schedule/zone.ts'
import { leftOutTeller } from '../../../unattended/alerts/skipped.ts'
import { sendWithoutRun } from '../../../unattended/messages/without-run.ts'
import { healthDocument, serveHealth } from '../../../unattended/scheduler/health.ts'
import { watchJobFiles } from '../../../unattended/scheduler/job-files.ts'
import { withRetention } from '../../../unattended/scheduler/retention.ts'
import { runScheduler, type ScheduledJobState } from '../../../unattended/scheduler/scheduler.ts'
import { serviceManager } from '../../../unattended/scheduler/service-manager.ts'
import { listenForInterrupts } from '../../interrupts.ts'
import { readCollectFlags } from './collect-runs.ts'
import { saidInThisProcess } from './repeated-stop.ts'
import { dueCollector, usageProbe } from './schedule-collect.ts'
import { noJob, type ScheduleFlags } from './schedule-flags.ts'

/** Nothing ran: no job, or one that was named has mistakes. */
const nothingRan = 2

const allMistaken = 'No job of this folder can be scheduled before these mistakes are mended'

/** `rankline schedule`: stays up and runs each job at its time; SIGTERM is its usual end. */
export async function stayUp(flags: ScheduleFlags, given: Terminal): Promise<number> {
  const terminal = lineByLine(given)
  const { log } = terminal
  // What cannot work is refused now, not at three in the morning.
  readCollectFlags(flags)
  serviceSettings(flags)
  const { path: database, isNamed } = databaseSetting(flags)
  const { refuseFolder } = await import('../../../store/sqlite/connection/database.ts')
  if (isNamed) refuseFolder(database)
  const port = numberFlag('--health', flags.health, { max: 65_535 })
  const named = flags.job ?? []
  let hasMistakes = false
  const said = saidInThisProcess()
  const jobFiles = watchJobFiles({ named, folder: '.' }, (line, about) => {
    if (about?.level === 'error') hasMistakes = true
    said.isNew(line)
    log(line, about)
  })
  const forms = await jobFiles.refresh()
  if (forms.length === 0 && named.length > 0) return nothingRan
  if (forms.length === 0) throw new UsageError(hasMistakes ? allMistaken : noJob)
  let jobs: readonly ScheduledJobState[] = []
  const upSince = systemClock.wall()
  using interrupts = listenForInterrupts(terminal)
  using manager = serviceManager(notifySettings(), log)
  await using health =
    port === undefined ? null : await serveHealth(port, () => healthDocument(jobs, { version, upSince }))
  const names = forms.map(({ settings }) => sanitize(settings.name))
  const where = health === null ? '' : ` Health: ${health.url}`
  log(`Up with ${count(names.length, 'job')}: ${names.join(', ')}.${where}`, { level: 'info' })
  manager.up('Looking at what is due')
  const { signal } = interrupts.stop
  signal.addEventListener('abort', manager.stopping, { once: true })
  const gate = clockGate({
    ask: async () => await serviceAhead(flags, signal),
    clock: systemClock,
    flags,
    log: (line) => log(line, { level: 'error' }),
  })
  const around = { database: databasePath(flags), clock: systemClock, log, isConfirmed: gate.isConfirmed }
  const byNow = () => {
    forgetEnvFile()
    return outgoing(flags['allow-http'] === true)
  }
  const sendMessages = sendWithoutRun({ ...around, outgoing: byNow })
  const tellLeftOut = leftOutTeller(jobFiles.leftOut, { ...around, outgoing: byNow })
  let shown = ''
  await runScheduler({
    clock: systemClock,
    jobFiles,
    mayWork: gate.mayWork,
    collect: withRetention(dueCollector(flags, terminal, systemClock, said), around),
    probe: usageProbe(flags, systemClock),
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
