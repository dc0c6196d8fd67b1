import { exitCodes } from '../run/finish.ts'
import { newStop, type Stop } from '../run/stop.ts'
import type { Terminal } from '../terminal.ts'

/** A stop that the signals of the terminal and of the system ask for. */
export interface Interrupts extends Disposable {
  readonly stop: Stop
  /** Exit code of what was interrupted: by the signal that came first. */
  readonly exitCode: () => number
}

const codes = { SIGINT: exitCodes.interrupted, SIGTERM: 143, SIGHUP: 143 } as const

/** The first Ctrl-C (or SIGTERM, SIGHUP) stops cleanly; the second ends the process at once. */
export function listenForInterrupts(terminal: Terminal): Interrupts {
  const stop = newStop()
  let code: number | null = null
  const heard = (signal: NodeJS.Signals): void => {
    if (code !== null) process.exit(code)
    code = codes[signal as keyof typeof codes]
    terminal.say(
      'Stopping: calls in the air are awaited and stored. A second Ctrl-C (or signal) ends at once, and then nobody knows what they were billed.',
    )
    stop.request({ reason: 'interrupted', message: 'Interrupted.' })
  }
  for (const signal of Object.keys(codes)) process.on(signal, heard)
  return {
    stop,
    exitCode: () => code ?? exitCodes.interrupted,
    [Symbol.dispose]: () => {
      for (const signal of Object.keys(codes)) process.off(signal, heard)
    },
  }
}
