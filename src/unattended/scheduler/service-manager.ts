import { spawn } from 'node:child_process'
import type { NotifySettings } from '../../run/config.ts'

/** The system's service manager, which wants to know whether a service is up. */
export interface ServiceManager extends Disposable {
  /** The service is up, and what it waits for. */
  readonly up: (status: string) => void
  readonly stopping: () => void
}

/**
 * Tells systemd through its own program: Node has no datagram sockets. Does nothing where no service manager listens.
 *
 * @param log called once, with a line, where that program cannot be started
 */
export function serviceManager(settings: NotifySettings | null, log: (line: string) => void): ServiceManager {
  if (settings === null) return { up: () => {}, stopping: () => {}, [Symbol.dispose]: () => {} }
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
    up: (now) => {
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
