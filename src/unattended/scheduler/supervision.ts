import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RanklineError, UsageError } from '../../model/errors.ts'
import { isComplete } from '../../model/run.ts'
import { shellWord } from '../../model/text.ts'
import { isLoopback } from '../../model/url.ts'
import type { notifySettings } from '../../run/config.ts'
import { localTime } from '../../schedule/slots.ts'
import type { ScheduledJobState } from './scheduler.ts'

/**
 * What `/health` answers with: `failing` where the last check of some job failed, its last run could not be finished, or its file has mistakes.
 * Instants are ISO 8601, UTC.
 */
function healthDocument(
  jobs: readonly ScheduledJobState[],
  { version, upSince }: { readonly version: string; readonly upSince: number },
) {
  const isWell = ({ last, problem }: ScheduledJobState): boolean =>
    problem === null && (last === null || last.run === null || isComplete(last.finishReason))
  return {
    status: jobs.every(isWell) ? ('ok' as const) : ('failing' as const),
    version,
    up_since: iso(upSince),
    jobs: jobs.map(({ job, file, next, zone, last, problem }) => ({
      job,
      file,
      next: next === null ? null : { at: iso(next), local: localTime(next, zone), zone },
      last_run:
        last === null || last.run === null
          ? null
          : {
              run: last.run,
              finish_reason: last.finishReason,
              finished_at: last.finishedAt === null ? null : iso(last.finishedAt),
            },
      problem,
    })),
  }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}

/** Answers `GET /health` on this machine alone: 200, or 503 where something is failing. Port 0 takes a free one. */
async function serveHealth(port: number, document: () => { readonly status: 'ok' | 'failing' }) {
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const answer = (status: number, body: object): void => {
      const text = `${JSON.stringify(body, null, 2)}\n`
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(method === 'HEAD' ? undefined : text)
    }
    // The page of another site can have its own name lead here.
    const host = headers.host?.replace(/:\d+$/, '') ?? ''
    if (!isLoopback(host)) return answer(403, { error: 'Ask for 127.0.0.1 or localhost' })
    if (url?.split('?')[0] !== '/health' || (method !== 'GET' && method !== 'HEAD'))
      return answer(404, { error: 'There is only GET /health' })
    const shown = document()
    answer(shown.status === 'ok' ? 200 : 503, shown)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(notListening(port, error)))
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}/health`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function notListening(port: number, error: NodeJS.ErrnoException): RanklineError {
  if (error.code === 'EADDRINUSE')
    return new UsageError(`Port ${port} is taken. Give --health another one, or 0 for a free one`)
  return new UsageError(`Port ${port} cannot be used (${error.code}). Give --health another one`)
}

/**
 * Tells systemd through its own program: Node has no datagram sockets. Does nothing where no service manager listens.
 *
 * @param log called once, with a line, where that program cannot be started
 */
function serviceManager(settings: ReturnType<typeof notifySettings>, log: (line: string) => void) {
  if (settings === null) return { up: (_: string) => {}, stopping: () => {}, [Symbol.dispose]: () => {} }
  const { env, watchdogMs } = settings
  // Versions before 246 do not know the option.
  let options: readonly string[] = ['--no-block']
  let hasFailed = false
  let status = ''

  const tell = (...messages: readonly string[]): void => {
    const child = spawn('systemd-notify', [...options, ...messages], { stdio: 'ignore', env })
    child.on('error', (error) => {
      if (!hasFailed)
        log(`systemd-notify cannot be started (${error.message}), so systemd is not told of anything.`)
      hasFailed = true
    })
    child.on('exit', (code) => {
      if (code === 0 || options.length === 0) return
      options = []
      tell(...messages)
    })
  }
  // A message can get lost where its sender ends before systemd has looked at it: each one says again that the service is up.
  const tellUp = (): void => tell('--ready', `--status=${status}`, 'WATCHDOG=1')
  // Three times in the interval that systemd waits for.
  const alive = watchdogMs === null ? undefined : setInterval(tellUp, watchdogMs / 3).unref()

  return {
    /** The service is up; what it waits for is its status. */
    up: (now: string) => {
      status = now
      tellUp()
    },
    stopping: () => {
      clearInterval(alive)
      tell('STOPPING=1')
    },
    [Symbol.dispose]: () => clearInterval(alive),
  }
}

/** What starts scheduled jobs on a machine: text that its own scheduler reads as it is. */

/** The first line of a `.env` with a comment after a value without quotes; null where there is none. */
function commentedValue(text: string): number | null {
  const line = text.split(/\r\n|\r|\n/).findIndex((one) => /^\s*[\w.-]+\s*=\s*[^\s"'`#][^#]*\s#/.test(one))
  return line === -1 ? null : line + 1
}

/** The systems that jobs can be scheduled with. */
const serviceFiles = {
  systemd: systemdUnit,
  crontab: crontabLine,
  launchd: launchdPlist,
  windows: windowsTask,
} as const satisfies Readonly<Record<string, (plan: ServicePlan) => string>>

/** What the text is about; every path is absolute. */
interface ServicePlan {
  /** Path of node. */
  readonly node: string
  /** Path of the program that node runs. */
  readonly program: string
  /** The working folder: job files and `.env` are in it. */
  readonly folder: string
  /** Folders outside the working folder that are written. */
  readonly writes: readonly string[]
  /** Job files and options, as typed after the command. */
  readonly args: readonly string[]
  /** Options of a command that stays up. */
  readonly upArgs: readonly string[]
  /** Who runs it; null where that is not known. */
  readonly user: string | null
  /** Line of `.env` with a comment after a value, which systemd would take as a part of the value; null where there is none. */
  readonly commentInEnv: number | null
}

/** How long a stop may take: calls that are in flight are awaited and stored. */
const stopSeconds = 600

/** How often cron and the Task Scheduler look for what is due. */
const everyMinutes = 5

/** What is typed where a program of the system asks every few minutes. */
const dueArgs = ['run', '--due', '--skip-bad', '--quiet']

function systemdUnit({
  node,
  program,
  folder,
  writes,
  args,
  upArgs,
  user,
  commentInEnv,
}: ServicePlan): string {
  const name = `rankline-${nameOf(folder)}`
  const environment =
    commentInEnv === null
      ? `EnvironmentFile=-${unitGlob(`${folder}/.env`)}`
      : `# rankline reads .env itself; systemd would take the comment in its line ${commentInEnv} as a part of the value.`
  // Variables are replaced in arguments, not in the path of the program.
  const command = [
    unitWord(node),
    ...[program, 'schedule', ...args, ...upArgs].map((arg) => unitWord(arg, true)),
  ]
  return `# Save this as /etc/systemd/system/${name}.service, then type:
#   systemctl daemon-reload && systemctl enable --now ${name}
[Unit]
Description=rankline: scheduled jobs of ${unitText(folder)}
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
NotifyAccess=all
${user === null ? '' : `User=${unitText(user)}\n`}WorkingDirectory=${unitText(folder)}
${environment}
ExecStart=${command.join(' ')}
Restart=on-failure
RestartSec=60
RestartPreventExitStatus=2
WatchdogSec=300
KillMode=mixed
TimeoutStopSec=${stopSeconds}
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${[folder, ...writes].map((path) => unitWord(path)).join(' ')} -/run/lock

[Install]
WantedBy=multi-user.target
`
}

/** A value of a unit that is taken whole; only specifiers are replaced in it. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%')
}

/** The path of a file whose name may hold patterns. */
function unitGlob(path: string): string {
  return unitText(path.replace(/[\\*?[\]]/g, '\\$&'))
}

/** One word of a list. */
function unitWord(text: string, isArgument = false): string {
  const escaped = unitText(isArgument ? text.replaceAll('$', '$$$$') : text)
  return /^[\w./:@%=+,$-]+$/.test(escaped) ? escaped : `"${escaped.replace(/[\\"]/g, '\\$&')}"`
}

function crontabLine({ node, program, folder, args }: ServicePlan): string {
  const command = `cd ${shellWord(folder)} && ${[node, program, ...dueArgs, ...args].map(shellWord).join(' ')}`
  // cron itself takes an unescaped % as the end of the line.
  const line = command.replaceAll('%', '\\%')
  return `# Add this to the crontab that 'crontab -e' opens. It buys what is due at the times and in the time zones of the job files.
*/${everyMinutes} * * * * ${line}
`
}

function launchdPlist({ node, program, folder, args, upArgs }: ServicePlan): string {
  const label = `rankline.${nameOf(folder)}`
  const strings = [node, program, 'schedule', ...args, ...upArgs].map(
    (arg) => `    <string>${xml(arg)}</string>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Save this as ~/Library/LaunchAgents/${label}.plist, then type: launchctl load -w ~/Library/LaunchAgents/${label}.plist -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${strings.join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(folder)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>60</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds}</integer>
  <key>StandardOutPath</key>
  <string>${xml(`${folder}/schedule.log`)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(`${folder}/schedule.log`)}</string>
</dict>
</plist>
`
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function windowsTask({ node, program, folder, args }: ServicePlan): string {
  const argument = [program, ...dueArgs, ...args].map(windowsWord).join(' ')
  return `# Paste this into PowerShell, opened as administrator. It buys what is due at the times and in the time zones of the job files.
$action = New-ScheduledTaskAction -Execute ${powerShellText(windowsWord(node))} -Argument ${powerShellText(argument)} -WorkingDirectory ${powerShellText(folder)}
$trigger = New-ScheduledTaskTrigger -Once -At (Get-Date) -RepetitionInterval (New-TimeSpan -Minutes ${everyMinutes})
$settings = New-ScheduledTaskSettingsSet -MultipleInstances IgnoreNew -StartWhenAvailable -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -ExecutionTimeLimit ([TimeSpan]::Zero)
$principal = New-ScheduledTaskPrincipal -UserId "$env:USERDOMAIN\\$env:USERNAME" -LogonType S4U
Register-ScheduledTask -TaskName 'rankline-${nameOf(folder)}' -Action $action -Trigger $trigger -Settings $settings -Principal $principal
`
}

/** PowerShell takes typographic single quotes for plain ones. */
function powerShellText(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`
}

/** One word of a Windows command line, as the C runtime splits it. */
function windowsWord(text: string): string {
  if (/^[^\s"]+$/.test(text)) return text
  return `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
}

/** The last part of a path as a name that every system takes. */
function nameOf(folder: string): string {
  const last = folder.split(/[\\/]/).filter(Boolean).at(-1) ?? ''
  return (
    last
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'jobs'
  )
}

/** What watches over a scheduler, and what starts one. */
export const supervision = {
  commentedValue,
  healthDocument,
  serveHealth,
  serviceFiles,
  serviceManager,
}
